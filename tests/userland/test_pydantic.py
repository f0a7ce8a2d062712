"""pydantic, whose compiled part is in the interpreter: installed without a network.

The programs print the same natively, with the same version of pydantic.
"""
import os
import subprocess

import pytest

from conftest import TOP, Resident

# A subject, a program about it, and its output.
PROGRAMS = [
    ("models", """from pydantic import BaseModel, Field
class Item(BaseModel):
    name: str
    price: float = Field(gt=0)
class Order(BaseModel):
    id: int
    items: list[Item]
    notes: dict[str, int | None] = {}
order = Order.model_validate({"id": "7", "items": [{"name": "é", "price": "2.5"}], "notes": {"a": None}})
print(order)
print(order.model_dump(), order.model_copy(update={"id": 8}).id, order == Order(**order.model_dump()))
""", """id=7 items=[Item(name='é', price=2.5)] notes={'a': None}
{'id': 7, 'items': [{'name': 'é', 'price': 2.5}], 'notes': {'a': None}} 8 True
"""),
    ("json", """from pydantic import BaseModel
class M(BaseModel):
    a: int
    b: list[float]
    c: dict[str, bool] | None = None
m = M.model_validate_json('{"a": 12345678901234567890123, "b": [1e3, 0.1, -0.0], "c": {"x": true}}')
print(m.model_dump_json(), m.model_dump_json(indent=1, include={"c"}))
print(M.model_validate_json(m.model_dump_json()) == m)
""", """{"a":12345678901234567890123,"b":[1000.0,0.1,-0.0],"c":{"x":true}} {
 "c": {
  "x": true
 }
}
True
"""),
    ("errors", """from pydantic import BaseModel, ValidationError, conint
class Point(BaseModel):
    x: int
    y: conint(ge=0, lt=10)
class Line(BaseModel):
    points: list[Point]
try: Line(points=[{"x": "one", "y": 10}, {"y": -1}, 5])
except ValidationError as e:
    print(e.error_count()); print(e)
    print([(d["loc"], d["type"]) for d in e.errors()])
try: Line.model_validate_json('{"points": [}')
except ValidationError as e: print(e.errors(include_url=False))
""", """5
5 validation errors for Line
points.0.x
  Input should be a valid integer, unable to parse string as an integer [type=int_parsing, input_value='one', input_type=str]
    For further information visit https://errors.pydantic.dev/2.10/v/int_parsing
points.0.y
  Input should be less than 10 [type=less_than, input_value=10, input_type=int]
    For further information visit https://errors.pydantic.dev/2.10/v/less_than
points.1.x
  Field required [type=missing, input_value={'y': -1}, input_type=dict]
    For further information visit https://errors.pydantic.dev/2.10/v/missing
points.1.y
  Input should be greater than or equal to 0 [type=greater_than_equal, input_value=-1, input_type=int]
    For further information visit https://errors.pydantic.dev/2.10/v/greater_than_equal
points.2
  Input should be a valid dictionary or instance of Point [type=model_type, input_value=5, input_type=int]
    For further information visit https://errors.pydantic.dev/2.10/v/model_type
[(('points', 0, 'x'), 'int_parsing'), (('points', 0, 'y'), 'less_than'), (('points', 1, 'x'), 'missing'), (('points', 1, 'y'), 'greater_than_equal'), (('points', 2), 'model_type')]
[{'type': 'json_invalid', 'loc': (), 'msg': 'Invalid JSON: expected value at line 1 column 13', 'input': '{"points": [}', 'ctx': {'error': 'expected value at line 1 column 13'}}]
"""),
    ("types", """from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from uuid import UUID
from typing import Literal
from pydantic import AnyUrl, BaseModel, Field, PostgresDsn, SecretStr, ValidationError
class Colour(Enum):
    RED = "red"
class M(BaseModel):
    at: datetime
    day: date
    clock: time
    span: timedelta
    id: UUID
    url: AnyUrl
    dsn: PostgresDsn
    code: str = Field(pattern=r"^[a-z]{2}-\\d+$")
    sum: Decimal = Field(max_digits=6, decimal_places=2)
    colour: Colour
    kind: Literal["a", 1]
    path: Path
    data: bytes
    secret: SecretStr
m = M(at="2024-02-29T12:30:00.25+02:00", day="2024-02-29", clock="23:59:59", span="P1DT2H", id="12345678-1234-5678-1234-567812345678",
      url="HTTPS://User@Exämple.com:443/a b?q=1#f", dsn="postgres://u:p@h1:1,h2/db", code="ab-12", sum="1234.50", colour="red",
      kind=1, path="/tmp/x", data="é", secret="s")
for name, value in m: print(name, repr(value))
print(m.model_dump_json())
try: M.model_validate(m.model_dump() | {"code": "AB-1", "at": "2023-02-29T00:00", "id": "x", "url": "//", "sum": "0.001"})
except ValidationError as e: print([d["msg"] for d in e.errors()])
""", """at datetime.datetime(2024, 2, 29, 12, 30, 0, 250000, tzinfo=TzInfo(+02:00))
day datetime.date(2024, 2, 29)
clock datetime.time(23, 59, 59)
span datetime.timedelta(days=1, seconds=7200)
id UUID('12345678-1234-5678-1234-567812345678')
url AnyUrl('https://User@xn--exmple-cua.com/a%20b?q=1#f')
dsn PostgresDsn('postgres://u:p@h1:1,h2/db')
code 'ab-12'
sum Decimal('1234.50')
colour <Colour.RED: 'red'>
kind 1
path PosixPath('/tmp/x')
data b'\\xc3\\xa9'
secret SecretStr('**********')
{"at":"2024-02-29T12:30:00.250000+02:00","day":"2024-02-29","clock":"23:59:59","span":"P1DT2H","id":"12345678-1234-5678-1234-567812345678","url":"https://User@xn--exmple-cua.com/a%20b?q=1#f","dsn":"postgres://u:p@h1:1,h2/db","code":"ab-12","sum":"1234.50","colour":"red","kind":1,"path":"/tmp/x","data":"é","secret":"**********"}
['Input should be a valid datetime or date, day value is outside expected range', 'Input should be a valid UUID, invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `x` at 1', 'Input should be a valid URL, relative URL without a base', "String should match pattern '^[a-z]{2}-\\\\d+$'", 'Decimal input should have no more than 2 decimal places']
"""),
    ("schema", """import json
from typing import Annotated, Literal, Optional, Union
from pydantic import BaseModel, Field
class Cat(BaseModel):
    kind: Literal["cat"]
    lives: Annotated[int, Field(ge=0, le=9, description="left")] = 9
class Dog(BaseModel):
    kind: Literal["dog"]
    friend: Optional["Dog"] = None
class Owner(BaseModel):
    pet: Union[Cat, Dog] = Field(discriminator="kind")
print(json.dumps(Owner.model_json_schema(), sort_keys=True))
print(Owner.model_validate({"pet": {"kind": "dog", "friend": {"kind": "dog"}}}))
""", """{"$defs": {"Cat": {"properties": {"kind": {"const": "cat", "title": "Kind", "type": "string"}, "lives": {"default": 9, "description": "left", "maximum": 9, "minimum": 0, "title": "Lives", "type": "integer"}}, "required": ["kind"], "title": "Cat", "type": "object"}, "Dog": {"properties": {"friend": {"anyOf": [{"$ref": "#/$defs/Dog"}, {"type": "null"}], "default": null}, "kind": {"const": "dog", "title": "Kind", "type": "string"}}, "required": ["kind"], "title": "Dog", "type": "object"}}, "properties": {"pet": {"discriminator": {"mapping": {"cat": "#/$defs/Cat", "dog": "#/$defs/Dog"}, "propertyName": "kind"}, "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}], "title": "Pet"}}, "required": ["pet"], "title": "Owner", "type": "object"}
pet=Dog(kind='dog', friend=Dog(kind='dog', friend=None))
"""),
    ("adapter", """from dataclasses import field
from typing_extensions import TypedDict
from pydantic import TypeAdapter, ValidationError, dataclasses, validate_call
class T(TypedDict):
    n: int
print(TypeAdapter(list[T]).validate_json('[{"n": "1"}, {"n": 2}]'), TypeAdapter(set[int]).dump_json({3}))
@dataclasses.dataclass
class D:
    a: tuple[int, str]
    b: list[int] = field(default_factory=list)
print(D(a=("1", "x")), TypeAdapter(D).json_schema()["required"])
@validate_call
def add(a: int, *, b: int = 1) -> int: return a + b
print(add("2", b="3"))
try: add("x", c=1)
except ValidationError as e: print(e.error_count(), [d["type"] for d in e.errors()])
""", """[{'n': 1}, {'n': 2}] b'[3]'
D(a=(1, 'x'), b=[]) ['a']
5
2 ['int_parsing', 'unexpected_keyword_argument']
"""),
    ("validators", """import pickle
from typing import Any, Generic, TypeVar
from pydantic import (BaseModel, ConfigDict, RootModel, ValidationError, computed_field, field_serializer,
                      field_validator, model_validator)
class M(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)
    name: str
    n: int = 0
    @field_validator("name")
    @classmethod
    def title(cls, v):
        if v == "bad": raise ValueError("no such name")
        return v.title()
    @model_validator(mode="after")
    def check(self):
        assert self.n < 5, "n is too large"
        return self
    @field_serializer("n")
    def words(self, n): return f"n{n}"
    @computed_field
    @property
    def both(self) -> str: return f"{self.name}{self.n}"
m = M(name=" ann ", n=3)
print(m, m.model_dump(), pickle.loads(pickle.dumps(m)) == m, hash(m) == hash(M(name="ann", n=3)))
for wrong in ({"name": "bad"}, {"name": "x", "n": 9}, {"name": "x", "y": 1}):
    try: M(**wrong)
    except ValidationError as e: print([d["msg"] for d in e.errors()])
try: m.n = 4
except ValidationError as e: print(e.errors()[0]["type"])
V = TypeVar("V")
class Box(BaseModel, Generic[V]):
    value: V
print(Box[int](value="1"), Box[list[Box[str]]].model_validate({"value": [{"value": "s"}]}), RootModel[dict[int, Any]]({"1": None}))
""", """name='Ann' n=3 both='Ann3' {'name': 'Ann', 'n': 'n3', 'both': 'Ann3'} True True
['Value error, no such name']
['Assertion failed, n is too large']
['Extra inputs are not permitted']
frozen_instance
value=1 value=[Box[str](value='s')] root={1: None}
"""),
    ("threads", """import sys
from concurrent.futures import ThreadPoolExecutor
from pydantic import BaseModel, ValidationError, field_validator
class Leaf(BaseModel):
    n: int
    @field_validator("n")
    def check(cls, n):
        sum(range(50))
        if n < 0: raise ValueError("negative")
        return n
class Tree(BaseModel):
    leaves: list[Leaf]
    sub: "Tree | None" = None
def work(k):
    for i in range(100):
        t = Tree(leaves=[{"n": i + k}] * 3, sub={"leaves": []})
        assert Tree.model_validate_json(t.model_dump_json()) == t
        try: Leaf(n=-k)
        except ValidationError as e: assert e.errors()[0]["input"] == -k
    return k
sys.setswitchinterval(1e-5)
with ThreadPoolExecutor(6) as pool: print(list(pool.map(work, range(1, 7))))
""", "[1, 2, 3, 4, 5, 6]\n"),
]


@pytest.fixture(scope="module", name="made")
def make():
    """A session with an environment in v that has pydantic."""
    session = Resident(patience_s=600)
    session.run("mkdir /tmp/e; cd /tmp/e")
    done = session.run("python3 -m venv v && v/bin/pip install -q pydantic")
    assert (done.status, done.out, done.err) == (0, "", "")
    yield session
    assert session.close() == 0


def run(session, program, python="v/bin/python"):
    return session.run(f"cat >p.py <<'.'\n{program}.\n{python} p.py")


def test_the_environment_has_it_and_what_it_needs(made):
    assert made.out("v/bin/pip list --format=freeze") == (
        "annotated-types==0.7.0\npip==24.3.1\npydantic==2.10.6\npydantic_core==2.27.2\n"
        "setuptools==80.9.0\ntyping_extensions==4.12.2\n")
    assert made.out("v/bin/pip check") == "No broken requirements found.\n"


@pytest.mark.parametrize("option, path", [("--target t", "/tmp/e/t"), ("--user", "/home/user/.local/")])
def test_other_places(made, option, path):
    made.tell(":fork")
    assert made.run("python3 -c 'import pydantic_core'").err.endswith("No module named 'pydantic_core'\n")
    assert made.run(f"pip install -q {option} pydantic").status == 0
    out = made.out("PYTHONPATH=t python3 -c 'import pydantic; print(pydantic.__file__, pydantic.TypeAdapter(int).validate_python(\"5\"))'")
    assert out.startswith(path) and out.endswith(" 5\n")
    made.tell(":back")


@pytest.mark.parametrize("program, expected", [p[1:] for p in PROGRAMS], ids=[p[0] for p in PROGRAMS])
def test_use(made, program, expected):
    done = run(made, program)
    assert (done.status, done.out, done.err) == (0, expected, "")


def test_the_interpreter_that_starts_from_nothing(made):
    program = "from pydantic import BaseModel\nclass M(BaseModel): a: int\nprint(M(a='1'))\n"
    assert run(made, program, "v/bin/python -B").out == "a=1\n"


DEPTH = """from typing import Optional
from pydantic import BaseModel, TypeAdapter, ValidationError
class Node(BaseModel):
    next: Optional["Node"] = None
    children: list["Node"] = []
def chain(n):
    node = None
    for _ in range(n): node = {"next": node}
    return node
def depth(node):
    n = 0
    while node: node, n = node.next, n + 1
    return n
"""


def test_depth_of_nested_models(made):
    """As deep as on other systems, then an error."""
    done = run(made, DEPTH + """
print(depth(Node.model_validate(chain(250))))
print(len(Node.model_validate(chain(250)).model_dump_json()))
for n in (300, 100000):
    try: Node.model_validate(chain(n))
    except ValidationError as e: print(e.errors()[0]["type"])
loop = {}; loop["next"] = loop
try: Node.model_validate(loop)
except ValidationError as e: print(e.errors()[0]["type"])
node = Node(); node.children.append(node)
try: node.model_dump_json()
except ValueError as e: print(e)
""")
    assert (done.status, done.out, done.err) == (0, "250\n5754\n" + "recursion_loop\n" * 3 +
                                                  "Error serializing to JSON: ValueError: Circular reference detected (id repeated)\n", "")


def test_endless_recursion_is_an_error(made):
    """Through Python functions, the interpreter's own limit applies."""
    done = run(made, """from typing import Any
from pydantic import BaseModel, TypeAdapter, field_validator
class M(BaseModel):
    a: Any
    @field_validator("a")
    @classmethod
    def check(cls, v): return M(a=v)
try: M(a=1)
except RecursionError as e: print(type(e).__name__)
text = "[" * 100000
try: TypeAdapter(Any).validate_json(text)
except ValueError as e: print(e.errors()[0]["msg"])
print("alive")
""")
    assert (done.status, done.out, done.err) == (
        0, "RecursionError\nInvalid JSON: recursion limit exceeded at line 1 column 202\nalive\n", "")


def test_a_panic_ends_only_its_process(made):
    done = run(made, """import subprocess, sys
program = '''import sys
sys.modules["uuid"] = None
from pydantic_core import SchemaValidator
SchemaValidator({"type": "uuid"}).validate_python("0")
'''
done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
print(done.returncode, "panicked at src/validators/uuid.rs" in done.stderr, "import of uuid halted" in done.stderr)
""")
    assert (done.status, done.out, done.err) == (0, "-6 True True\n", "")
    assert made.out("v/bin/python -c 'import pydantic; print(1)'") == "1\n"


# Files whose tests measure time, use random input, or need more wheels.
LEFT_OUT = "benchmarks", "test_hypothesis.py", "validators/test_allow_partial.py"


@pytest.mark.long
def test_tests_of_the_source():
    """The package keeps them beside its result. As many pass natively."""
    package = subprocess.run([TOP / "guest/bin/build-package", "pydantic-core"],
                             check=True, capture_output=True, text=True).stdout.strip()
    session = Resident("--mount", f"{package}/tests:/tests", "--mount", f"{os.environ['WASMSAND_WHEELS']}:/wheels",
                       patience_s=3000)
    done = session.run("cd /tmp; python3 -m venv v && v/bin/pip install -q --find-links /wheels"
                       " pydantic-core pytest dirty-equals hypothesis pytest-mock")
    assert done.status == 0, done.err
    done = session.run("cp -r /tests . && v/bin/python -m pytest -q -p no:cacheprovider --tb=short tests " +
                       " ".join(f"--ignore tests/{name}" for name in LEFT_OUT))
    assert done.status == 0 and "\n4371 passed, " in done.out, done.out[-10000:]
    assert session.close() == 0
