"""Well-known packages of pure Python, installed by pip from a folder of wheels."""
import os

import pytest

from conftest import Resident

WHEELS = os.environ.get("WASMSAND_WHEELS")
PATIENCE_S = 600  # django and sympy have 10,000 files

pytestmark = pytest.mark.skipif(not WHEELS, reason="no wheels; `make userland` fetches them")

# A package, a program that uses it, and what that prints.
PROGRAMS = [
    ("attrs", """import attr
@attr.define(order=True)
class P:
    x: int = attr.field(validator=attr.validators.instance_of(int))
    y: int = 2
print(P(1) < P(1, 3), P(4), attr.asdict(attr.evolve(P(1), y=9)))
try: P("no")
except TypeError as e: print("'x' must be" in str(e))
""", "True P(x=4, y=2) {'x': 1, 'y': 9}\nTrue\n"),
    ("click", """import click
from click.testing import CliRunner
@click.command()
@click.option("--count", default=2, help="how often")
@click.argument("name")
def hello(count, name):
    for _ in range(count): click.echo(f"hello {name}")
run = CliRunner().invoke
print(run(hello, ["you"]).output, run(hello, ["--count", "x", "you"]).exit_code,
      "how often" in run(hello, ["--help"]).output)
""", "hello you\nhello you\n 2 True\n"),
    ("jinja2", """import jinja2, markupsafe
env = jinja2.Environment(autoescape=True)
print(env.from_string("{% for k, v in d|dictsort %}{{ k }}={{ v }};{% endfor %}").render(d={"b": "<", "a": 1}))
print(markupsafe.Markup("<b>%s</b>") % "&", markupsafe._escape_inner.__module__)
""", "a=1;b=&lt;;\n<b>&amp;</b> markupsafe._native\n"),
    ("pyyaml", """import yaml
data = {"a": [1, 2.5, None], "b": {"c": "é: x", "d": True}}
text = yaml.safe_dump(data, allow_unicode=True)
print(yaml.safe_load(text) == data, yaml.__with_libyaml__, text.splitlines()[-2])
try: yaml.safe_load("a: [1")
except yaml.YAMLError as e: print(type(e).__name__)
""", "True False   c: 'é: x'\nParserError\n"),
    ("requests", """import requests
p = requests.Request("POST", "http://host.example/p", params={"q": "a b"}, json={"x": 1}).prepare()
print(p.url, p.headers["Content-Type"], p.body)
try: requests.get("http://host.invalid", timeout=5)
except requests.ConnectionError: print("no network")
""", "http://host.example/p?q=a+b application/json b'{\"x\": 1}'\nno network\n"),
    ("rich", """from rich.console import Console
from rich.table import Table
from rich.markdown import Markdown
table = Table(title="t")
table.add_column("name"); table.add_column("n", justify="right")
table.add_row("a", "[bold]1[/bold]")
out = Console(width=20, color_system=None)
out.print(table); out.print(Markdown("# head\\n* item"))
""", None),
    ("networkx", """import networkx as nx
g = nx.Graph([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("c", "e")])
print(nx.shortest_path(g, "a", "e"), nx.is_bipartite(g), sorted(nx.articulation_points(g)))
print(nx.minimum_spanning_tree(g).number_of_edges(), nx.betweenness_centrality(g)["c"] > 0.5)
""", "['a', 'b', 'c', 'e'] True ['c']\n4 True\n"),
    # `manage.py test`: a project of its own, with a model and a view.
    ("django", """import os, pathlib, subprocess, sys
os.chdir("/tmp")
run = lambda *args: subprocess.run(args, check=True, capture_output=True, text=True)
run(sys.executable, "-m", "django", "startproject", "site1", "."); run(sys.executable, "manage.py", "startapp", "shop")
pathlib.Path("shop/models.py").write_text(
    "from django.db import models\\nclass Item(models.Model): name = models.CharField(max_length=9)\\n")
pathlib.Path("shop/tests.py").write_text("from django.test import TestCase\\nfrom .models import Item\\n"
    "class T(TestCase):\\n  def test_db(self): Item.objects.create(name='a'); self.assertEqual(Item.objects.count(), 1)\\n"
    "  def test_page(self): self.assertEqual(self.client.get('/admin/login/').status_code, 200)\\n")
settings = pathlib.Path("site1/settings.py")
settings.write_text(settings.read_text().replace("INSTALLED_APPS = [", "INSTALLED_APPS = ['shop',"))
run(sys.executable, "manage.py", "makemigrations", "shop")
print(run(sys.executable, "manage.py", "test").stderr.splitlines()[-3:])
""", "['', 'OK', \"Destroying test database for alias 'default'...\"]\n"),
    ("sympy", """from sympy import symbols, integrate, solve, sin, exp, oo, diff, latex, Rational
x = symbols("x")
print(integrate(exp(-x**2), (x, -oo, oo)), solve(x**2 - 2, x), diff(sin(x)**2, x))
print(latex(Rational(3, 4) * x**2), (x + 1)**3 == ((x + 1)**3).expand().factor())
""", "sqrt(pi) [-sqrt(2), sqrt(2)] 2*sin(x)*cos(x)\n\\frac{3 x^{2}}{4} True\n"),
]


@pytest.fixture(scope="module", name="installed")
def install():
    session = Resident("--file-count", "50000", "--mount", f"{WHEELS}:/wheels", patience_s=PATIENCE_S)
    names = " ".join(name for name, _, _ in PROGRAMS)
    done = session.run(f"pip install -q --no-compile --find-links /wheels {names}")
    assert done.status == 0, done.err
    yield session
    assert session.close() == 0


@pytest.mark.parametrize("name, program, out", PROGRAMS, ids=[p[0] for p in PROGRAMS])
def test_wheel(installed, name, program, out):
    done = installed.run(f"python3 - <<'END'\n{program}\nEND")
    assert done.status == 0, done.err
    if out is not None:
        assert done.out == out
    assert f"Name: {name}\n" in installed.out(f"pip show {name}").lower().replace("name:", "Name:")


def test_rich_draws(installed):
    _, program, _ = next(p for p in PROGRAMS if p[0] == "rich")
    lines = installed.run(f"python3 - <<'END'\n{program}\nEND").out.splitlines()
    assert any("│ a    │ 1 │" in line for line in lines) and any("• item" in line for line in lines)


def test_uninstall(installed):
    assert installed.run("pip uninstall -qy click").status == 0
    assert "No module named 'click'" in installed.run("python3 -c 'import click'").err
