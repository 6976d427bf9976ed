"""Find the measured numbers in the running text of a page, and the results that they come from.

A number in running text has a source in one of three ways:

* a mark behind it names a result, `56.9<!--= speed | eqdist | ratio -->` (see `value_of`), and the printed digits
  agree;
* it stands in a table of the same page that a script writes from the results (a rate of two digits can stand there by
  chance, so numbers that matter have a mark); this does not hold for tables that are written by hand;
* `by_hand.toml` lists it with a source: settings, sums from elsewhere in the text, what was measured once and not kept.

    python benchmarks/quoted.py      numbers without a source, paragraph by paragraph
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT, RESULTS = HERE.parent, HERE / "results"
PAGES = (
    "README.md",
    "docs/benchmarks.md",
    "docs/comparison.md",
    "docs/papers.md",
    "docs/significance.md",
    "paper/paper.md",
)

GENERATED = re.compile(r"<!-- (?!=|end)[^>]*-->\n.*?<!-- end(?: of table)? -->", re.DOTALL)
NOT_PROSE = re.compile(
    r"\A---\n.*?^---$|^```.*?^```$|<!--(?!=).*?-->|!\[[^\]]*\]\([^)]*\)|(?<=\])\([^)]*\)|`[^`\n]*`|\$[^$]*\$|<[^!>\n]*>|"
    r"\[@[^\]]*\]|^#+ [^\n]*$|(?:doi:|arXiv:)\S+",
    re.MULTILINE | re.DOTALL,
)
UNIT = r"(?:\s?(?:ms|s|MB|GB|TB|%|x)\b|\s?%|\s(?:seconds?|minutes?|hours?|min|times)\b)"
NUMBER = r"(?:\d[\d,]*\d|\d)?\.\d+|\d[\d,]*\d|\d"
TOKEN = re.compile(
    rf"(?<![\w.,])(?P<number>(?:\d[\d,]*)?\.\d+(?![\d.])|(?:\d[\d,]*)(?={UNIT}|\s(?:to|and|or)\s(?:{NUMBER}){UNIT}))"
    rf"(?:{UNIT})?(?:<!--=(?P<key>[^>]*)-->)?"
)


def load(name):
    """One file of results."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def one(found, what):
    """The only element of a list."""
    if len(found) != 1:
        raise KeyError(f"{what}: {len(found)} results, must be one")
    return found[0]


def value_of(key):
    """Return the number that a mark names, or its text where a script printed it.

    `speed | WORDS | ratio` (or `seconds`, `peer_seconds`), WORDS of the job and peer; `significance | TABLE | ROW |
    METHOD`, the rate at .05; `segments | TABLE | ROW`, the rate, or `segments | ecp time | ROW | ratio` as in `speed`;
    `poisson_fit | POPULATION | N | TEST`; `size | ROUTE | N | seconds` (or `megabytes`); `gpu | N | seconds`;
    `large | NUMBER OF THE TABLE | FIRST CELL | HEAD`, as `cluster | ...`. Words that
    must all occur are joined by +.
    """
    name, *words = (word.strip() for word in key.split("|"))
    found = load(name)
    if name == "speed":
        rows = [
            row for row in found["rows"] if all(word in f"{row['job']} {row['peer']}" for word in words[0].split("+"))
        ]
        row = one(rows, key)
        return row["peer_seconds"] / row["seconds"] if words[1] == "ratio" else row[words[1]]
    if name == "significance":
        table, row, method = words
        return found["tables"][table][row][method]["rates"]["0.05"]
    if name == "segments" and words[0] == "ecp time":
        *key, what = words[1:]
        cell = found["ecp time"]["|".join(key)]
        return cell["peer_seconds"] / cell["seconds"] if what == "ratio" else cell[what]
    if name == "segments":
        cell = found[words[0]]["|".join(words[1:])]
        return cell["rejected"] / cell["of"]
    if name == "poisson_fit":
        rows = [row for row in found["rows"] if (row["population"], str(row["n"])) == tuple(words[:2])]
        return one(rows, key)[words[2]]
    if name == "size":
        rows = [row for row in found["rows"] if (row["route"], str(row["n"])) == tuple(words[:2])]
        return one(rows, key)[words[2]]
    if name == "gpu":
        return one([row for row in found["rows"] if str(row["n"]) == words[0]], key)[words[1]]
    table = found["tables"][int(words[0]) - 1]
    rows = [row for row in table["rows"] if row[0] == words[1]]
    rows = rows or [row for row in table["rows"] if all(word in " ".join(row[:2]) for word in words[1].split("+"))]
    return one(rows, key)[table["heads"].index(words[2])]


def agrees(quoted, value):
    """Whether a number is the value to its printed digits; of a text, its first number."""
    if isinstance(value, str):
        value = float(re.search(NUMBER, value)[0].replace(",", ""))
    plain = quoted.replace(",", "")
    decimals = len(plain.partition(".")[2])
    step = 10.0**-decimals
    if not decimals:  # 57 times for 56.9; 1,000 for 1,000
        zeros = len(plain) - len(plain.rstrip("0"))
        step = 10.0 ** min(zeros, max(0, len(plain) - 2))
    return abs(float(plain) - value) <= 0.5 * step * (1 + 1e-9)


def paragraphs(text):
    """Running text of a page, paragraph by paragraph, with marks and without what is no prose."""
    prose = NOT_PROSE.sub(" ", GENERATED.sub("\n\n", text).split("\n## References")[0])
    return [part.strip() for part in re.split(r"\n\s*\n", prose) if part.strip()]


def generated_numbers(text):
    """Numbers of the tables that scripts write into a page."""
    shown = {n for block in GENERATED.findall(text) for n in re.findall(rf"(?<![\w.])(?:{NUMBER})", block)}
    return shown | {n.removeprefix("0") for n in shown}  # .600 for 0.600


def unsourced(page, text):
    """Paragraphs with numbers that have no source: (first words, numbers); a mark that does not agree raises.

    `page` is its path from the root, under which `by_hand.toml` lists paragraphs by their first words.
    """
    listed = {entry["begins"]: list(entry["numbers"]) for entry in by_hand().get(page, [])}
    shown, missing = generated_numbers(text), []
    for paragraph in paragraphs(text):
        begins = next((words for words in listed if paragraph.startswith(words)), None)
        allowed = listed.get(begins, [])
        lacking = []
        for found in TOKEN.finditer(paragraph):
            number, key = found["number"], found["key"]
            if key is not None:
                if not agrees(number, value_of(key)):
                    raise ValueError(f"{page}: {number} is not {value_of(key)}, as {key.strip()} says.")
            elif number in allowed:
                pass
            elif number not in shown or paragraph.startswith("|"):
                lacking.append(number)
        if lacking:
            missing.append((paragraph[:50], lacking))
    return missing


def stale(page, text):
    """Entries of the list whose paragraph or numbers are no longer on the page."""
    gone = []
    for entry in by_hand().get(page, []):
        found = [part for part in paragraphs(text) if part.startswith(entry["begins"])]
        numbers = {match["number"] for part in found for match in TOKEN.finditer(part) if match["key"] is None}
        gone += [(entry["begins"], number) for number in entry["numbers"] if number not in numbers]
        if not entry["source"].strip() or len(found) != 1:
            gone.append((entry["begins"], f"{len(found)} paragraphs, source {entry['source']!r}"))
    return gone


def by_hand():
    """Page -> its paragraphs with numbers that no result holds, and their sources."""
    return tomllib.loads((HERE / "by_hand.toml").read_text(encoding="utf-8"))


def main():
    """Print what has no source."""
    for page in PAGES:
        for begins, numbers in unsourced(page, (ROOT / page).read_text(encoding="utf-8")):
            print(f"{page}: {begins!r}: {', '.join(numbers)}")


if __name__ == "__main__":
    main()
