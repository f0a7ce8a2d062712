"""tools/check-methods: method tables whose functions have another type."""
import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]

HEAD = """
typedef void *(*function)(void *, void *);
struct method { const char *name; function meth; int flags; const char *doc; };
static void *two(void *a, void *b) { return a ? a : b; }
static void *three(void *a, void *b, void *c) { return a ? b : c; }
static void *one(void *a) { return a; }
static void none(void *a, void *b) { (void)a, (void)b; }
"""
MAIN = """
int main(int argc, char **argv)
{
    return methods[argc % 2].meth(argv, argv) == 0;
}
"""


def check(tmp_path, rows):
    source = tmp_path / "some.c"
    table = "".join(f'{{"{name}", (function){meth}, {flags}, {doc}}},'
                    for name, meth, flags, doc in rows)
    source.write_text(f"{HEAD}static struct method methods[] = {{ {table} {{0}} }};{MAIN}")
    program = tmp_path / "some.wasm"
    subprocess.run([TOP / "guest/bin/wcc", "-O1", "-w", source, "-o", program], check=True)
    return subprocess.run([TOP / "tools/check-methods", program], capture_output=True,
                          text=True, check=False)


def test_functions_with_the_right_type_are_accepted(tmp_path):
    result = check(tmp_path, [("first", "two", 1, "0"), ("second", "three", 3, '"text"'),
                              ("third", "two", 4, "0"), ("fourth", "three", 128, "0"),
                              ("static", "two", 8 | 32, "0")])
    assert result.returncode == 0
    assert "5 methods" in result.stdout


def test_another_number_of_parameters_is_reported(tmp_path):
    result = check(tmp_path, [("right", "two", 1, "0"), ("noargs", "one", 4, "0"),
                              ("keywords", "two", 3, '"text"')])
    assert result.returncode == 1
    assert "method noargs with flags 0x4 has 1 parameters" in result.stdout
    assert "method keywords with flags 0x3 has 2 parameters" in result.stdout
    assert "right" not in result.stdout


def test_a_missing_result_is_reported(tmp_path):
    result = check(tmp_path, [("first", "two", 1, "0"), ("nothing", "none", 1, "0")])
    assert result.returncode == 1
    assert "method nothing with flags 0x1 has 2 parameters and 0 results" in result.stdout


def test_tables_of_other_kinds_are_left_alone(tmp_path):
    result = check(tmp_path, [("first", "one", 5, "0"), ("second", "two", 1 << 20, "0")])
    assert (result.returncode, result.stdout.endswith(": 0 methods\n")) == (0, True)
