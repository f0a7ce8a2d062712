"""Figures about the C code of a folder.

The code is formatted by clang-format: a function's name and both of its braces
are at the start of a line. That is enough to find functions without a parser.
"""
import collections
import itertools
import math
import pathlib
import re
import statistics

import house_text

DUPLICATE_LINES = 6
COMMON_PLACES = 8
HEAD = re.compile(r"^(\w+)\((?:[^;{}\n]|\n[ \t])*\)\n\{\n(.*?)^\}", re.M | re.S)
TAG = re.compile(r"^ *(?:static )?(?:const )?(?:struct|union|enum) (\w+) \{", re.M)
# Prefixes of handlers whose rows in a table name them, and of the public header.
ROW_PREFIXES = ("sys", "do", "cmd", "wsand")


def blank(text, kinds=("comment", "string", "char")):
    """The text with its comments and strings as spaces; lines stay in place."""
    def spaces(found):
        if found.lastgroup not in kinds:
            return found[0]
        return re.sub(r"[^\n]", " ", found[0])
    return house_text.TOKEN.sub(spaces, text)


class File:
    def __init__(self, path, root):
        self.path = path
        self.name = str(path.relative_to(root))
        self.folder = str(path.parent.relative_to(root))
        self.text = path.read_text()
        self.code = blank(self.text)
        self.functions = [
            Function(self, found) for found in HEAD.finditer(self.code)
        ] if path.suffix == ".c" else []


class Function:
    def __init__(self, file, found):
        before = file.code[:found.start()].rstrip("\n").rsplit("\n", 1)[-1]
        self.file = file
        self.name = found[1]
        self.is_static = before.startswith("static ")
        self.lines = found[0].count("\n") + 2  # with the line of its type


def load(root):
    root = pathlib.Path(root)
    paths = sorted(p for p in root.rglob("*") if p.suffix in (".c", ".h"))
    return [File(path, root) for path in paths]


def functions(files):
    return [function for file in files for function in file.functions]


def reused(files):
    """Static functions whose name a static function of another file has too."""
    static = [f for f in functions(files) if f.is_static]
    homes = collections.defaultdict(set)
    for function in static:
        homes[function.name].add(function.file.name)
    return [f for f in static if len(homes[f.name]) > 1], static


def callers(function):
    """How often a static function is called, or its address used."""
    uses = re.findall(rf"(?<![\w.>]){function.name}\b", function.file.code)
    heads = re.findall(rf"^{function.name}\(", function.file.code, re.M)
    return len(uses) - len(heads)


def is_address(function):
    """A function with one use: it is a call-back or in a table, not called."""
    return not re.search(rf"(?<![\w.>])(?<!\n){function.name}\(", function.file.code)


def forms(word):
    """The word, and its singular or plural."""
    return {word, word + "s", word + "es", word.removesuffix("s")}


def has_prefix(function):
    """The name of a function begins with that of its file or folder."""
    words = function.file.path.stem.split("_")
    homes = {"_".join(words[:n]) for n in range(1, len(words) + 1)}
    homes.update(function.file.folder.split("/"))
    prefixes = set().union(*map(forms, homes), ROW_PREFIXES)
    return any(f"{function.name}_".startswith(f"{prefix}_") for prefix in prefixes)


def defined_twice(named):
    """The names that are in two files or more, of pairs of name and file."""
    homes = collections.defaultdict(set)
    for name, file in named:
        homes[name].add(file)
    return sorted(name for name, files in homes.items() if len(files) > 1)


def comment_lines(file):
    lines = set()
    for found in house_text.TOKEN.finditer(file.text):
        if found["comment"]:
            first = file.text.count("\n", 0, found.start())
            is_alone = not file.text[:found.start()].rsplit("\n", 1)[-1].strip()
            last = first + found["comment"].count("\n")
            lines.update(range(first if is_alone else first + 1, last + 1))
    return len(lines)


def includes(files):
    """The graph of files and the graph of folders, by #include "…" lines."""
    names = {file.name for file in files}
    by_file, by_folder = collections.defaultdict(set), collections.defaultdict(set)
    for file in files:
        for target in re.findall(r'(?m)^ *# *include "([^"]+)"', file.text):
            if target in names:
                by_file[file.name].add(target)
                by_folder[file.folder].add(str(pathlib.Path(target).parent))
    return by_file, by_folder


def cycles(graph):
    """The sets of two or more nodes that reach each other (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            group = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def outside_braces(code):
    """The code at file scope; what is in braces is left out."""
    code = re.sub(r"(?m)^ *#(?:.*\\\n)*.*$", "", code)
    depth, kept = 0, []
    for piece in re.split(r"([{}])", code):
        if piece == "{":
            depth += 1
        elif piece == "}":
            depth -= 1
            kept.append("{}" if depth == 0 else "")
        elif depth == 0:
            kept.append(piece)
    return "".join(kept)


def variables(file):
    """The variables of a file that can change: declared outside, not const."""
    found = []
    scope = re.sub(r"\)\s*\{\}", ");", outside_braces(file.code))
    for statement in scope.split(";"):
        words = " ".join(statement.split())
        is_type = re.match(r"(?:typedef|extern|_Static_assert|static_assert)\b", words)
        is_type = is_type or re.fullmatch(r"(?:struct|enum|union)(?: \w+)?(?: ?\{\})?", words)
        declared = re.sub(r"__attribute__\s*\(\(.*?\)\)+", "", words.split("=")[0])
        declared = re.sub(r"\(\*(\w*(?: \w+)*)\)\s*\([^()]*\)", r"*\1", declared)
        is_constant = re.search(r"\bconst\b(?![^*]*\*(?!\s*const))", declared)
        if not words or is_type or is_constant or "(" in declared:
            continue
        name = re.search(r"(\w+)\s*(?:\[[^]]*\]\s*)*$", declared)
        if name and " " in declared.strip():
            found.append(name[1])
    return found


def lines_that_count(file):
    """(line number, text) without blanks, comments, includes, punctuation."""
    text = blank(file.text, ("comment",))
    for number, line in enumerate(text.split("\n"), 1):
        line = " ".join(line.split())
        if re.search(r"\w", line) and not line.startswith("#include"):
            yield number, line


def duplicates(files):
    """Pairs of files, or places of one, with DUPLICATE_LINES equal lines."""
    places = collections.defaultdict(list)
    for file in files:
        lines = list(lines_that_count(file))
        for at in range(len(lines) - DUPLICATE_LINES + 1):
            window = lines[at:at + DUPLICATE_LINES]
            places[tuple(line for _, line in window)].append((file.name, window[0][0]))
    pairs = {}
    for found in places.values():
        if 2 <= len(found) <= COMMON_PLACES:
            for (a, at), (b, bt) in itertools.combinations(found, 2):
                if a != b or abs(at - bt) >= DUPLICATE_LINES:
                    pairs.setdefault((a, b), (at, bt))
    return [f"{a}:{at} ~ {b}:{bt}" for (a, b), (at, bt) in sorted(pairs.items())]


def percentile(values, part):
    """The value that this part of all values does not exceed."""
    return sorted(values)[max(0, math.ceil(part * len(values)) - 1)]


def share(part, whole):
    return f"{len(part)} of {len(whole)} ({len(part) / max(1, len(whole)):.1%})"


def figures(root):
    """(name, value) of each figure, and the lists behind some of them."""
    files = load(root)
    lengths = [function.lines for function in functions(files)] or [0]
    again, static = reused(files)
    once = [f for f in static if callers(f) == 1]
    called = [f for f in once if not is_address(f)]
    external = [f for f in functions(files) if not f.is_static and f.name != "main"]
    strange = [f for f in external if not has_prefix(f)]
    twice = defined_twice((f.name, f.file.name) for f in external)
    tags = defined_twice((tag, file.name) for file in files for tag in TAG.findall(file.code))
    total = sum(file.text.count("\n") for file in files)
    remarks = sum(comment_lines(file) for file in files)
    by_file, by_folder = includes(files)
    rings = cycles(by_folder) + cycles(by_file)
    sources = [file for file in files if file.path.suffix == ".c"]
    state = [f"{file.name}: {name}" for file in sources for name in variables(file)]
    pairs = duplicates(files)
    rows = [
        ("files", len(files)),
        ("lines", total),
        ("functions", len(functions(files))),
        ("lines of a function: median", int(statistics.median(lengths))),
        ("lines of a function: 90 % have at most", percentile(lengths, 0.9)),
        ("lines of a function: 99 % have at most", percentile(lengths, 0.99)),
        ("lines of a function: maximum", max(lengths)),
        ("static functions with a name used in another file", share(again, static)),
        ("static functions with one use", share(once, static)),
        ("of these, called, and not a call-back or in a table", share(called, static)),
        ("external functions without the prefix of their file or folder", share(strange, external)),
        ("external functions with a name defined twice", len(twice)),
        ("tags of structures defined twice", len(tags)),
        ("comment lines", f"{remarks} ({remarks / max(1, total):.1%})"),
        ("include cycles, of folders and of files", len(rings)),
        ("variables at file scope that can change", len(state)),
        ("pairs of places with six equal lines", len(pairs)),
    ]
    details = [
        ("reused names", [f"{name} x{count}" for name, count in collections.Counter(
            f.name for f in again).most_common()]),
        ("prefixes", [f"{f.file.name}: {f.name}" for f in strange]),
        ("functions defined twice", twice),
        ("tags defined twice", tags),
        ("include cycles", [" ".join(ring) for ring in rings]),
        ("variables", state),
        ("equal lines", pairs),
    ]
    return rows, details
