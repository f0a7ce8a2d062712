"""The rules for prose: openings, words, length of sentences and of lines."""
import pathlib
import re

import house_text

MAX_WORDS = 30
MAX_SHARE = 0.01
MAX_COLUMNS = 100
PLACES = ["README.md", "CONTRIBUTING.md", "docs", "guest", "sdk", "include", "src"]
ENDINGS = (".md", ".h", ".def", ".c")

OPENING = re.compile(r"[\"'“(*_]*(What|Who|Whoever|Those that|The same[.,;:])(?:\s|$)")
PRONOUN = re.compile(r"(It|Its|They|Their)\s")
# "most programs" and "at most" are fine; a maximum is not "the most".
STOP = r"(?=\s*(?:$|[.,;:!?)]|(?:that|which|is|are|in|for|a|an|it|they)\b))"
WORDS = [
    (r"told", "reported"),
    (r"look(?:s|ed|ing)? at", "check"),
    (r"taken", "accepted"),
    (r"laid", "mapped"),
    (r"(?<!\bat )least(?! recently)", "minimum"),
    (rf"(?<!\bat )most{STOP}", "maximum"),
    (r"whose turn", "the running call"),
    (r"born|newborns?", "created"),
    (r"doom(?:s|ed)?", "killed"),
    (r"mend(?:s|ed|ing)?", "repaired"),
    (r"graves?|bur(?:y|ies|ied)", "deferred free list"),
    (r"heirs?", "new owner"),
    (r"houses?|rooms?|doors?", "a word that says what it is"),
]
WORDS = [(re.compile(rf"\b(?:{word})(?!\w)", re.I), better) for word, better in WORDS]


def faults(name, text):
    """(line, fault) of each rule that a file breaks, but for long sentences."""
    for line, sentence in house_text.sentences(name, text):
        opening = OPENING.match(sentence)
        if opening:
            yield line, f'begins with "{opening[1]}": {sentence}'
        for word, better in WORDS:
            found = word.search(sentence)
            is_lock = found and found[0] == "taken" and re.search(r"locks?\b", sentence)
            if found and not is_lock:
                yield line, f'"{found[0]}" (write: {better}): {sentence}'
    for line, sentence in house_text.first_sentences(name, text):
        if PRONOUN.match(sentence):
            yield line, f"a pronoun without its noun: {sentence}"
    for line in house_text.wide_lines(name, text, MAX_COLUMNS):
        yield line, f"line of more than {MAX_COLUMNS} characters"


def long_ones(name, text):
    """(line, sentence) of each sentence with more than MAX_WORDS words."""
    for line, sentence in house_text.sentences(name, text):
        if len(house_text.words(sentence)) > MAX_WORDS:
            yield line, sentence


def is_ours(path):
    parts = path.parts
    return path.suffix in ENDINGS and not {"build", "node_modules"} & set(parts)


def files(places):
    for place in map(pathlib.Path, places):
        found = sorted(place.rglob("*")) if place.is_dir() else [place]
        yield from (path for path in found if path.is_file() and is_ours(path))


def check(places):
    """Prints each fault; returns 1 if there is any, else 0."""
    count = broken = long_count = 0
    for path in files(places or PLACES):
        name, text = str(path), path.read_text()
        count += len(house_text.sentences(name, text))
        for line, fault in faults(name, text):
            print(f"{name}:{line}: {fault}")
            broken += 1
        for line, sentence in long_ones(name, text):
            number = len(house_text.words(sentence))
            print(f"{name}:{line}: {number} words: {sentence}")
            long_count += 1
    share = long_count / count if count else 0
    print(f"{count} sentences, {broken} break a rule, {long_count} ({share:.1%})"
          f" have more than {MAX_WORDS} words")
    return int(broken > 0 or share >= MAX_SHARE)
