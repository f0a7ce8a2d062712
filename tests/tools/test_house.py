"""tools/house: the figures of code, the rules for prose, the walk."""
import pathlib
import subprocess
import sys

import pytest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

import house_code
import house_prose
import house_text
import house_walk


def words_of(name, text):
    return [sentence for _, sentence in house_text.sentences(name, text)]


def faults_of(name, text):
    return [fault.split(":")[0] for _, fault in house_prose.faults(name, text)]


@pytest.fixture
def source(tmp_path):
    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return house_code.load(tmp_path)
    return write


# Sentences


def test_a_paragraph_is_split_at_the_ends_of_sentences():
    text = "One thing (of\ntwo). Another, e.g. this one! Version 1.2 is ... the third. fn ends."
    assert words_of("a.md", text) == [
        "One thing (of two).", "Another, e.g. this one!", "Version 1.2 is ... the third.",
        "fn ends."]


def test_code_is_no_prose_and_counts_as_one_word():
    text = "Call `a. B c` now.\n\n```\nWhat a block. It has no words.\n```\n\nEnd."
    assert words_of("a.md", text) == ["Call CODE now.", "End."]


def test_headings_items_and_cells_are_sentences():
    text = "# A heading\n- the first\n  item\n- second\n\n| head | of it |\n|---|---|\n| a cell | |\n"
    assert words_of("a.md", text) == [
        "A heading", "the first item", "second", "head", "of it", "a cell"]


def test_a_link_is_its_text():
    assert words_of("a.md", "See [the page](https://example.org/a.b).") == ["See the page."]


def test_comments_of_a_header_without_their_marks():
    text = '/* The first\n * line. The next. */\nint f(void); /* at its end */\nchar *s = "in no comment";\n'
    assert words_of("a.h", text) == ["The first line.", "The next.", "at its end"]


def test_rows_of_an_indented_list_are_sentences():
    text = "/* The rows:\n *   a   the first,\n *       of two\n *   b   the second\n */\n"
    assert words_of("a.h", text) == ["The rows:", "a the first, of two", "b the second"]


def test_line_comments_that_follow_each_other_are_one():
    assert words_of("a.h", "// one\n// sentence.\n\n// another\n") == ["one sentence.", "another"]


def test_a_comment_mark_in_a_string_is_no_comment():
    assert words_of("a.h", 'char *a = "/* no comment here */";') == []


def test_messages_of_a_source_file():
    text = ('#include "of/some/long/header.h"\nsay("cannot open the file %s: "\n    "no such thing\\n", p);\n'
            'f("%s/%d"); f("wb"); f("SELECT name of FROM all");\n')
    assert words_of("a.c", text) == ["cannot open the file %s: no such thing"]


# Rules


@pytest.mark.parametrize("text", [
    "What is read.", "Who reads it.", "Whoever reads it.", "Those that read.", "The same."])
def test_forbidden_openings(text):
    assert len(faults_of("a.md", text)) == 1
    assert len(faults_of("a.h", f"/* {text} */")) == 1
    assert faults_of("a.md", f"See {text[0].lower()}{text[1:]}") == []


def test_a_pronoun_needs_a_noun_before_it():
    assert len(faults_of("a.md", "It is read.\n\nThe file is open. It is read.\n\n- They end.")) == 2
    assert len(faults_of("a.h", "/* Its end. */\nint a; /* An item. It has an end. */\n")) == 1


@pytest.mark.parametrize("text", [
    "One is told.", "One looks at this.", "One was taken.", "One is laid.", "The least is 1.",
    "The most is 2.", "Two is the most.", "A process is born.", "One is mended.", "An heir.",
    "There is room.", "The front door."])
def test_words_of_the_list(text):
    assert len(faults_of("a.md", text)) == 1


@pytest.mark.parametrize("text", [
    "At least one and at most two.", "The least recently used.", "Most programs.", "Most of it.", "The most common one.",
    "There is headroom.", "A mistaken one.", "The lock is taken here.", "Use `told` and `least`."])
def test_words_that_are_fine(text):
    assert faults_of("a.md", text) == []


def test_wide_lines_of_markdown_but_not_of_tables_and_code():
    wide = "a " * 60
    assert len(faults_of("a.md", wide)) == 1
    assert faults_of("a.md", f"| {wide} |\n\n```\n{wide}\n```\n") == []


def test_long_sentences_are_counted_and_their_share_decides(tmp_path, capsys):
    path = tmp_path / "a.md"
    long = "\n".join(["word"] * (house_prose.MAX_WORDS + 1)) + ".\n\n"
    path.write_text(long + "A short one.\n\n" * 100)
    assert house_prose.check([str(path)]) == 0
    assert "101 sentences, 0 break a rule, 1 (1.0%)" in capsys.readouterr().out
    path.write_text(long + "A short one.\n\n" * 99)
    assert house_prose.check([str(path)]) == 1


def test_the_status_says_whether_a_rule_is_broken(tmp_path):
    path = tmp_path / "a.md"
    for text, status in [("The file is read.\n", 0), ("What is read.\n", 1)]:
        path.write_text(text)
        run = subprocess.run([TOOLS / "house", "--prose", str(path)], stdout=subprocess.PIPE)
        assert run.returncode == status


# Figures

TWO = """static int
helper(int a)
{
    return a;
}

int
x_call(void)
{
    return helper(1);
}
"""


def test_functions_and_their_lines(source):
    files = source({"a.c": TWO})
    assert [(f.name, f.is_static, f.lines) for f in house_code.functions(files)] == [
        ("helper", True, 5), ("x_call", False, 5)]


def test_names_used_in_two_files(source):
    files = source({"a.c": TWO, "b.c": TWO, "c.c": TWO.replace("helper", "c_helper")})
    again, static = house_code.reused(files)
    assert [f.file.name for f in again] == ["a.c", "b.c"]
    assert len(static) == 3


def test_uses_of_a_function(source):
    files = source({"a.c": TWO + "/* helper(1) */ char *s = \"helper\";\n",
                    "b.c": TWO + "int (*f)(int) = helper;\n"})
    helpers = [f for f in house_code.functions(files) if f.name == "helper"]
    assert [house_code.callers(f) for f in helpers] == [1, 2]


def test_a_function_that_is_called_or_whose_address_is_used(source):
    files = source({"a.c": "static int\nf(void)\n{\n    return 1;\n}\n\nstatic int\ng(void)\n{\n    return f();\n}\n"
                    "struct ops o = {g};\n"})
    assert [(f.name, house_code.is_address(f)) for f in house_code.functions(files)] == [
        ("f", False), ("g", True)]


def test_a_macro_before_a_function_is_no_function(source):
    files = source({"a.c": "CLEANUP(int)\n\nint\nf(int a,\n  int b)\n{\n    return 1;\n}\n"})
    assert [f.name for f in house_code.functions(files)] == ["f"]


def test_prefixes_of_external_functions(source):
    text = "".join(f"int\n{name}(void)\n{{\n    return 1;\n}}\n" for name in (
        "pipes_new", "pipe_end_put", "store_pipe", "sys_pipe", "piper", "other"))
    files = source({"store/pipe_end.c": text})
    assert [f.name for f in house_code.functions(files) if not house_code.has_prefix(f)] == [
        "piper", "other"]


def test_names_defined_twice(source):
    files = source({"a.c": "struct a {\n};\n", "b.h": "struct a {\n};\nstruct b {\n};\nstruct b *p;\n"})
    assert house_code.defined_twice(
        (tag, file.name) for file in files for tag in house_code.TAG.findall(file.code)) == ["a"]


def test_comment_lines(source):
    file, = source({"a.c": '/* one\n * two */\nint a; /* of the line */\nchar *b = "/* no */";\n// four\n'})
    assert house_code.comment_lines(file) == 3


def test_cycles(source):
    files = source({"a/x.h": '#include "b/y.h"\n', "b/y.h": "", "b/z.h": '#include "a/x.h"\n'})
    by_file, by_folder = house_code.includes(files)
    assert house_code.cycles(by_file) == []
    assert house_code.cycles(by_folder) == [["a", "b"]]


def test_variables_that_can_change(source):
    file, = source({"a.c": """
static const char *const names[] = {"a", "b"};
static const struct row rows[] = {{1}, {2}};
static const char *current;
static struct { int a; } state;
_Thread_local int deadline_ns;
struct row { int field; };
enum kind { ONE, TWO };
typedef int number;
extern int elsewhere;
static int declared(int a);
int (*hook)(void) = 0;
static int
f(void)
{
    static int inside;
    return inside;
}
"""})
    assert house_code.variables(file) == ["current", "state", "deadline_ns", "hook"]


def test_equal_lines(source):
    body = "".join(f"    call_number_{i}(a, b);\n" for i in range(6))
    files = source({"a.c": f"first();\n{body}", "b.c": f"{body}/* not this */\n",
                    "c.c": body.replace("call_number_3", "other")})
    assert house_code.duplicates(files) == ["a.c:2 ~ b.c:1"]


# The walk


def test_summary_of_a_walk():
    names = {1: ("loop_turn", "rpc"), 2: ("wsand_run", "lib"), 3: ("do_run", "rpc")}
    names.update({4: ("message_take", "wire"), 9: ("main", "")})
    entries = [(1, 9), (2, 1), (3, 2), (2, 3), (4, 1)]
    functions, callers, back = house_walk.summary(entries, names.get)
    assert functions == [names[1], names[2], names[3], names[4]]
    assert callers == {names[1], names[2], names[3]}
    assert back == [("wsand_run", "do_run")]


def test_helpers_are_not_steps_of_a_walk():
    functions = [("do_run", "rpc"), ("buf_add", "base"), ("job_of", "inline")]
    assert house_walk.steps(functions) == [("do_run", "rpc")]


@pytest.mark.parametrize("place, folder", [
    ("/x/src/rpc/job.c:7", "rpc"), ("/x/src/kernel/vfs/path.c:9", "kernel/vfs"),
    ("/x/src/rpc/job.h:12", "inline"), ("/x/tools/walk.c:1", ""), ("", "")])
def test_the_folder_of_a_function(place, folder):
    assert house_walk.folder_of(place) == folder


def test_a_process_is_idle_when_its_threads_sleep():
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        house_walk.wait_until_idle(process.pid)
        assert house_walk.is_idle(process.pid)
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as process:
        while house_walk.is_idle(process.pid):  # it may not have started yet
            pass
        process.kill()
