"""test_claims.py SOURCE: docs/claims.md names tests that exist, and counts rightly; docs/promises.md quotes
sentences that stand where it says, with tests that exist, and leaves out none with the words of a promise;
docs/guide.md explains messages that there are.

Each claim has a number, a state and the tests that show it, `stage/test_topic.c: function`. A claim
that is shown names at least one test and nothing that is missing; one that is shown in part says
what is missing or only measured; one that is missing names no test.
"""

import re
import sys
from pathlib import Path

STATES = ("shown", "partly", "missing")
TEST = re.compile(r"`([a-z]+/test_[a-z_]+\.c): ([a-z0-9_]+)`")
SCRIPT = re.compile(r"`((?:scripts|viewer|wasm)/test_[a-z_0-9]+\.(?:py|mjs)): (\w+)`")
PROMISE = re.compile(r"\b(never|always|same bits|bit for bit|every bit|last bit)\b", re.I)
# Made by ./reproduce, lists of tests, meanings of words.
NO_PROMISES = ("claims.md", "promises.md", "reproduction.md", "glossary.md")
BENCH = re.compile(r"`(bench/[a-z_]+\.[a-z]+)`")


def test_faults(shown_by, source):
    """What is wrong with the C tests that a cell names."""
    for path, name in TEST.findall(shown_by):
        file = source / "tests" / path
        code = file.read_text() if file.is_file() else ""
        if not re.search(rf"^static void {name}\(void \*\*", code, re.M):
            yield f"{path} has no test {name}"
        elif not re.search(rf"(unit_test\w*|BOTH\w*|TEST\w*)\(\s*{name}\b|\b{name},", code):
            yield f"{path} does not run {name}"


def script_faults(shown_by, source):
    """The same of scripts."""
    for path, name in SCRIPT.findall(shown_by):
        folder, file = path.split("/")
        where = source / {"scripts": "tests/scripts", "viewer": "viewer/tests", "wasm": "wasm/tests"}[folder] / file
        code = where.read_text() if where.is_file() else ""
        if len(re.findall(rf"\b{name}\b", code)) < (1 if name.startswith("test_") else 2):
            yield f"{path} has no {name}, or does not call it"


def plain(text):
    """A page or the comments of a header, without line breaks and comment marks."""
    return re.sub(r"\s+", " ", re.sub(r"\n\s*\*(?!\*) ?", " ", text))


def promising_sentences(text):
    """Sentences, items and cells with the words of a promise, outside of code."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    for part in re.split(r"\n\s*\n|\n(?=[-|#]|\d+\. )|\*/", text):
        for sentence in re.split(r"(?<=[.;?!])\s+", plain(part)):
            if PROMISE.search(sentence):
                yield sentence


def promise_faults(text, source):
    """What is wrong with docs/promises.md, as lines."""
    pages = {f"docs/{page.name}": page.read_text() for page in source.glob("docs/*.md") if page.name not in NO_PROMISES}
    pages["README.md"] = (source / "README.md").read_text()
    pages["include/rigor"] = "\n\n".join(page.read_text() for page in sorted(source.glob("include/rigor/*.h")))
    faults, quoted = [], {name: [] for name in pages}
    for title, table in re.findall(r"^## (.+)\n\n((?:\|.*\n)+)", text, re.M):
        names = title.split(", ")
        faults += [f"there is no {name}" for name in names if name not in pages]
        here = [plain(pages[name]) for name in names if name in pages]
        for row in table.splitlines()[2:]:
            sentence, shown_by = (cell.strip() for cell in row.strip("|").split(" | "))
            for name in names:
                quoted.get(name, []).append(sentence)
            if not any(sentence in page for page in here):
                faults.append(f"{title} does not say: {sentence}")
            if not (TEST.search(shown_by) or SCRIPT.search(shown_by) or shown_by.startswith("Measured, not asserted:")):
                faults.append(f"{title}: nothing shows: {sentence}")
            faults += test_faults(shown_by, source)
            faults += script_faults(shown_by, source)
    for name, page in pages.items():
        for sentence in promising_sentences(page):
            if not any(quote in sentence or sentence in quote for quote in quoted[name]):
                faults.append(f"{name} promises, without a test in docs/promises.md: {sentence}")
    return faults


def faults_of(text, source):
    """What is wrong with the page, as lines."""
    faults, counts, numbers = [], dict.fromkeys(STATES, 0), []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 5 or not cells[0].isdigit():
            continue
        number, state, shown_by = int(cells[0]), cells[3], cells[4]
        numbers.append(number)
        if state not in STATES:
            faults.append(f"claim {number}: no such state: {state}")
            continue
        counts[state] += 1
        tests = TEST.findall(shown_by)
        excused = "Missing:" in shown_by or "Measured, not asserted:" in shown_by
        if {"shown": not tests or excused, "partly": not excused, "missing": tests}[state]:
            faults.append(f"claim {number} is not {state} by what its last column says")
        faults += [f"claim {number}: {fault}" for fault in test_faults(shown_by, source)]
        for path in BENCH.findall(shown_by):
            if not (source / path).is_file():
                faults.append(f"claim {number}: there is no {path}")
    if numbers != list(range(1, len(numbers) + 1)):
        faults.append("the claims are not numbered 1, 2, 3, ...")
    for state, count in counts.items():
        if not re.search(rf"^\| {state} \|.*\| {count} \|$", text, re.M):
            faults.append(f"{count} claims are {state}: the table at the top says otherwise")
    return faults


def missing_messages(guide, source):
    """Messages of the table "When something goes wrong" that no source has: parts of it between numbers and names."""
    files = [path for folder in ("src", "cli", "viewer/server") for path in source.joinpath(folder).rglob("*.c")]
    code = "".join(path.read_text() for path in sorted(files))
    code = re.sub(r'"\s*\n\s*"', "", code)  # literals that are continued on the next line
    table = guide.split("## When something goes wrong", 1)[1]
    for message in re.findall(r"^\| `(.+?)` \|", table, re.M):
        parts = [part.strip(" :") for part in re.split(r"…|\bN of M\b|file:line:column", message)]
        for part in parts:
            if part and part not in code:
                yield part


def main():
    source = Path(sys.argv[1])
    guide = (source / "docs/guide.md").read_text()
    unknown = list(missing_messages(guide, source))
    if unknown:
        sys.exit(f"docs/guide.md explains messages that there are not: {unknown}")
    if not list(missing_messages(guide.replace("contacts chatter", "contacts clatter"), source)):
        sys.exit("test_claims.py: a message that there is not is not noticed")
    text = (source / "docs/claims.md").read_text()
    faults = faults_of(text, source)
    known = len(faults)
    # The check finds what it is for.
    for before, after in (
        ("base/test_root.c: ball_from_one_metre", "base/test_root.c: no_such_test"),
        ("base/test_root.c: ball_from_one_metre", "base/test_no_such.c: ball_from_one_metre"),
        ("| shown |", "| certain |"),
        ("\n| 3 |", "\n| 4 |"),
        ("| shown |", "| partly |"),
    ):
        if before in text and len(faults_of(text.replace(before, after, 1), source)) <= known:
            faults.append(f"not noticed: {after} instead of {before}")
    promises = (source / "docs/promises.md").read_text()
    promised = promise_faults(promises, source)
    known = len(promised)
    for before, after in (
        ("slender_bodies_stepped", "slender_bodies_slept"),
        ("test_bad_ends", "test_good_ends"),
        ("stacks stand without creeping", "stacks stand without creaking"),
        ("| The server never searches the file system. |", "| It pulls with at most 40 g |"),
    ):
        if len(promise_faults(promises.replace(before, after), source)) <= known:
            promised.append(f"not noticed: {after} instead of {before}")
    for fault in promised:
        print(f"docs/promises.md: {fault}", file=sys.stderr)
    for fault in faults:
        print(f"docs/claims.md: {fault}", file=sys.stderr)
    if len(re.findall(r"^\| \d+ \|", text, re.M)) < 66:
        sys.exit("docs/claims.md: claims are gone")
    sys.exit(1 if faults or promised else 0)


if __name__ == "__main__":
    main()
