"""The sentences of a file: of Markdown, of comments and of string literals.

A sentence is a pair (line, words as one string). Code has no sentences: fenced
blocks are left out, and code in a line counts as one word.
"""
import re

TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)
      |(?P<string>"(?:[^"\\\n]|\\.)*")
      |(?P<char>'(?:[^'\\\n]|\\.)*')""",
    re.S | re.X,
)
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf)\.$")
SENTENCE_END = re.compile(r"(?<!\.)[.!?][)\"'”*]*(?=\s|$)")
SQL = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|PRAGMA|WITH|BEGIN)\b")


def split(text):
    """The sentences of one paragraph, white space folded."""
    text = " ".join(text.split())
    found, start = [], 0
    for end in SENTENCE_END.finditer(text):
        if not ABBREVIATION.search(text[start:end.end()]):
            found.append(text[start:end.end()].strip())
            start = end.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if re.search(r"[A-Za-z]{2}", sentence)]


def plain(text):
    """Markdown without its marks: a link is its text, code is one word."""
    text = re.sub(r"`+[^`]*`+", "\0", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<https?://[^>]*>", "\0", text)
    return text.replace("\0", "CODE").replace("**", "").replace("__", "")


def paragraphs(text):
    """(line, paragraph) of Markdown: also headings, list items, table cells."""
    at, lines, is_code = 0, [], False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
            line = ""
        elif is_code or line.startswith("    ") and not lines:
            continue
        starts_anew = re.match(r"\s*(?:[-*+]|\d+\.)\s|#|\|", line)
        if lines and (starts_anew or not line.strip()):
            yield at, plain(" ".join(lines))
            lines = []
        if line.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")):
                yield number, plain(cell)
        elif line.strip():
            at = at if lines else number
            lines.append(re.sub(r"^\s*(?:[-*+]|\d+\.|#+|>)\s+", "", line))
    if lines:
        yield at, plain(" ".join(lines))


def markdown(text):
    for line, paragraph in paragraphs(text):
        for sentence in split(paragraph):
            yield line, sentence


def first_sentences(name, text):
    """(line, sentence) of the sentences that follow no other: nothing before
    them can be the noun of a pronoun."""
    rows = paragraphs(text) if name.endswith(".md") else comments(text)
    for line, paragraph in rows:
        for sentence in split(plain(paragraph))[:1]:
            yield line, sentence


def comment_text(comment):
    """A comment without its marks; an empty line ends a paragraph."""
    inside = re.sub(r"^/\*+|\*+/$|^//", "", comment)
    return re.sub(r"^[ \t]*\*[ \t]?", "", inside, flags=re.M)


def comments(text):
    """(line, comment) of C. Comments on lines that follow each other are one."""
    joined, last = [], 0
    for found in TOKEN.finditer(text):
        if not found["comment"]:
            continue
        line = text.count("\n", 0, found.start()) + 1
        inside = comment_text(found["comment"])
        if found["comment"].startswith("//") and joined and line == last + 1:
            joined[-1][1] += "\n" + inside
        else:
            joined.append([line, inside])
        last = line + found["comment"].count("\n")
    return [tuple(row) for row in joined]


def pieces(paragraph):
    """A paragraph of a comment: its text, and each row of an indented list."""
    indents = re.findall(r"(?m)^( {2,})\S", paragraph)
    if not indents:
        return [paragraph]
    return re.split(rf"\n(?={min(indents, key=len)}\S)", paragraph)


def in_comments(text):
    for line, comment in comments(text):
        for paragraph in re.split(r"\n\s*\n", comment):
            for piece in pieces(paragraph):
                for sentence in split(plain(piece)):
                    yield line, sentence


def literals(text):
    """(line, value) of each string; strings side by side are one."""
    row, last = None, 0
    for found in TOKEN.finditer(text):
        if not found["string"]:
            continue
        between = text[last:found.start()]
        if row and re.fullmatch(r"\s*(?:PRI\w+\s*)?", between):
            row[1] += found["string"][1:-1]
        else:
            if row:
                yield tuple(row)
            row = [text.count("\n", 0, found.start()) + 1, found["string"][1:-1]]
        last = found.end()
    if row:
        yield tuple(row)


def is_message(value):
    """True for a string that is meant to be read: three words of letters."""
    words = re.findall(r"(?<![\w%/.-])[A-Za-z][a-z]+(?![\w/(=])", value)
    return len(words) >= 3 and not SQL.match(value)


def in_strings(text):
    for line, value in literals(re.sub(r"(?m)^\s*#\s*include.*$", "", text)):
        if is_message(value):
            for paragraph in re.split(r"(?:\\n)+", value):
                for sentence in split(plain(re.sub(r"\\(.)", r"\1", paragraph))):
                    yield line, sentence


def sentences(name, text):
    """All sentences of a file that a reader of the product meets."""
    if name.endswith(".md"):
        return list(markdown(text))
    if name.endswith(".h"):
        return list(in_comments(text))
    return sorted([*in_comments(text), *in_strings(text)])


def words(sentence):
    return [word for word in sentence.split() if re.search(r"\w", word)]


def wide_lines(name, text, limit):
    """Lines of Markdown over the limit; tables and code cannot be wrapped."""
    is_code = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif name.endswith(".md") and not is_code and not line.startswith("|"):
            if len(line) > limit:
                yield number
