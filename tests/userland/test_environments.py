"""Virtual environments, copies of the interpreter, and the wheels of the image."""
import json
import zipfile

import pytest

from conftest import Resident

FACTS = "import json, sys, sysconfig; print(json.dumps([sys.prefix, sys.base_prefix, sys.executable," \
    " sysconfig.get_path('purelib'), [p for p in sys.path if 'packages' in p]]))"


@pytest.fixture(scope="module", name="made")
def make():
    """A session with an environment in v, with pip, and one in w, without."""
    session = Resident(patience_s=600)
    session.run("mkdir /tmp/e; cd /tmp/e")
    done = session.run("python3 -m venv v && python3 -m venv --without-pip w")
    assert (done.status, done.out, done.err) == (0, "", "")
    yield session
    assert session.close() == 0


def facts(session, python):
    done = session.run(f"{python} -c \"{FACTS}\"")
    assert done.status == 0, done.err
    return json.loads(done.out)


# The last two execute the interpreter that starts from nothing.
@pytest.mark.parametrize("python", ["v/bin/python", "./v/bin/python3", "/tmp/e/v/bin/python3.11", "w/bin/python",
                                    "v/bin/python -u", "w/bin/python3 -B"])
def test_the_interpreter_is_that_of_the_environment(made, python):
    program = python.split()[0].removeprefix("./").removeprefix("/tmp/e/")
    top = f"/tmp/e/{program[0]}"
    site = f"{top}/lib/python3.11/site-packages"
    assert facts(made, python) == [top, "/usr", f"/tmp/e/{program}", site, [site]]


def test_scripts_of_the_environment(made):
    assert made.out("head -n 1 v/bin/pip; ls v/bin") == (
        "#!/tmp/e/v/bin/python3\nActivate.ps1\nactivate\nactivate.csh\nactivate.fish\n"
        "pip\npip3\npip3.11\npython\npython3\npython3.11\n")
    made.tell(":fork")
    assert made.run(". v/bin/activate").status == 0
    assert made.out("which python python3 pip; echo $VIRTUAL_ENV").split() == [
        "/tmp/e/v/bin/python", "/tmp/e/v/bin/python3", "/tmp/e/v/bin/pip", "/tmp/e/v"]
    assert facts(made, "python3")[0] == "/tmp/e/v"
    assert made.run("deactivate; which python3").out == "/usr/bin/python3\n"
    made.tell(":back")


def test_pip_of_the_environment(made):
    """Installs there and nowhere else, without a network."""
    made.tell(":fork")
    assert made.out("v/bin/pip list --format=freeze | cut -d= -f1") == "pip\nsetuptools\n"
    done = made.run("v/bin/pip install -q pytest requests")
    assert (done.status, done.err) == (0, ""), done.err
    assert made.out("ls v/bin/pytest; ls ~/.local 2>&1").endswith("No such file or directory\n")
    assert made.run("echo 'def test_one(): assert True' >test_one.py; v/bin/pytest -q -p no:cacheprovider").status == 0
    assert made.out("v/bin/python -c 'import requests, subprocess, sys\n"
                    "print(subprocess.check_output([sys.executable, \"-c\", \"import pytest; print(1)\"]))'") == "b'1\\n'\n"
    assert "No module named 'requests'" in made.run("python3 -c 'import requests'").err
    made.tell(":back")


def test_system_site_packages(made):
    out = made.out("python3 -m venv --without-pip --system-site-packages s; s/bin/python -c 'import psutil, sys;"
                   " print(psutil.__file__, sys.prefix)'; w/bin/python -c 'import psutil' 2>&1 | tail -n 1")
    assert out == ("/usr/lib/python3/dist-packages/psutil/__init__.py /tmp/e/s\n"
                   "ModuleNotFoundError: No module named 'psutil'\n")


def test_an_environment_of_copies(made):
    assert made.run("python3 -m venv --without-pip --copies c").status == 0
    assert made.out("test -L c/bin/python || echo copy") == "copy\n"
    assert facts(made, "c/bin/python")[:3] == ["/tmp/e/c", "/usr", "/tmp/e/c/bin/python"]
    assert made.out("c/bin/python -c 'import sys; print(sys._base_executable)'") == "/usr/bin/python\n"
    assert made.run("rm -r c").status == 0


def test_a_copied_interpreter(made):
    assert made.out("cp /usr/bin/python3 p; ./p -c 'import sys, json; print(sys.executable, sys.prefix)';"
                    "./p -B -c 'import sys; print(sys.executable, sys.flags.dont_write_bytecode)'; rm p") == (
                        "/tmp/e/p /usr\n/tmp/e/p 1\n")
    assert made.run("cp /usr/bin/python3.11 q; ./q -c 'import sys; print(sys.executable)'; rm q").out == "/tmp/e/q\n"


def test_a_changed_copy_is_a_program_of_the_guest(made):
    """Only the same bytes are the same program: of a module of this size, no other is compiled."""
    done = made.run("cp /usr/bin/python3 p; printf '\\0\\3\\1x0' >>p; ./p -c 1")
    assert done.status == 126 and "cannot execute binary file" in done.err
    assert made.run("rm p").status == 0


# What pip installs without an index, and where to.
def test_scripts_of_users_are_found(made):
    made.tell(":fork")
    assert made.run("pip install -q pytest").status == 0
    assert made.out("which pytest; pytest --version") == "/home/user/.local/bin/pytest\npytest 8.3.5\n"
    assert made.out("bash -lc 'which pytest'") == "/home/user/.local/bin/pytest\n"
    made.tell(":back")


@pytest.mark.parametrize("pip", ["pip", "v/bin/pip"])
def test_pip_says_that_there_is_no_index(made, pip):
    done = made.run(f"{pip} install nosuch")
    assert done.status == 1
    assert "ERROR: There is no package index in this sandbox." in done.err, done.err
    assert "No matching distribution found for nosuch" in done.err


def test_nothing_of_the_wheels_is_installed(made):
    assert made.out("python3 -m pip list --format=freeze | cut -d= -f1") == "pip\npsutil\n"


USES = {
    "markupsafe": "import markupsafe; print(markupsafe.escape('<'))",
    "pyyaml": "import yaml; print(yaml.safe_load('[1, {a: b}]'))",
    "requests": "import requests; print(requests.Request('GET', 'http://h', params={'a': 1}).prepare().url)",
    "setuptools wheel": "import setuptools, wheel; print(setuptools.__name__)",
    "psutil": "import psutil; print(psutil.Process().name())",
}


@pytest.mark.parametrize("names", USES)
def test_wheel_of_the_image(made, names):
    made.tell(":fork")
    done = made.run(f"v/bin/pip install -q {names} && v/bin/python -c \"{USES[names]}\"")
    assert done.status == 0 and done.out and not done.err, done.err
    made.tell(":back")


@pytest.fixture(scope="module", name="hello")
def make_wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hello")
    files = {
        "hello.py": "def main(): print('hello')\n",
        "hello-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: hello\nVersion: 1\n",
        "hello-1.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "hello-1.dist-info/entry_points.txt": "[console_scripts]\nhello = hello:main\n",
    }
    files["hello-1.dist-info/RECORD"] = "".join(f"{n},,\n" for n in files)
    with zipfile.ZipFile(folder / "hello-1-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    session = Resident("--mount", f"{folder}:/wheels")
    session.run("cd /tmp; w=/wheels/hello-1-py3-none-any.whl")
    yield session
    assert session.close() == 0


@pytest.mark.parametrize("option, file", [
    ("--target t", "t/hello.py"), ("--prefix p", "p/local/lib/python3.11/dist-packages/hello.py"),
    ("--prefix p", "p/local/bin/hello"), ("--root r", "r/home/user/.local/bin/hello"),
    ("--user", "/home/user/.local/bin/hello"), ("", "/home/user/.local/bin/hello")])
def test_places_to_install_to(hello, option, file):
    hello.tell(":fork")
    done = hello.run(f"pip install -q {option} $w; ls {file}")
    assert (done.status, done.out) == (0, f"{file}\n"), done.err
    hello.tell(":back")


def test_a_project_is_built_and_installed(made):
    """The build takes place in an environment of its own, with setuptools from the image."""
    made.tell(":fork")
    made.run("mkdir -p proj/thing; cd proj; echo 'x = 7' >thing/__init__.py; cat >pyproject.toml <<'.'\n"
             "[build-system]\nrequires = [\"setuptools>=61\", \"wheel\"]\nbuild-backend = \"setuptools.build_meta\"\n"
             "[project]\nname = \"thing\"\nversion = \"1.0\"\ndependencies = [\"markupsafe\"]\n.\n")
    done = made.run("../v/bin/pip install -q . && cd / && /tmp/e/v/bin/python -c 'import thing; print(thing.x)'")
    assert (done.status, done.out) == (0, "7\n"), done.err
    made.tell(":back")
