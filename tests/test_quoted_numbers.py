"""Numbers that the pages quote stand in a file of results, or in the list of those that do not, with their source."""

import json
import re
import runpy
import sys

import pytest

from benchmarks import quoted, rounded, segments, significance
from benchmarks import significance_report as report

sys.path.insert(0, str(quoted.HERE))  # scripts import what lies beside them
measure_all = runpy.run_path(str(quoted.HERE / "all.py"))
sys.path.remove(str(quoted.HERE))
# measured before days were kept
UNDATED = {"speed", "busy", "size", "growth", "large", "cluster", "poisson_fit", "segments", "significance"}
READ = {page: (quoted.ROOT / page).read_text(encoding="utf-8") for page in quoted.PAGES}


@pytest.mark.parametrize("page", quoted.PAGES)
def test_every_number_has_a_source(page):
    assert quoted.unsourced(page, READ[page]) == []
    assert quoted.stale(page, READ[page]) == []


def test_a_changed_number_is_noticed():
    page = "docs/benchmarks.md"
    added = "\n\nIt takes 12.345 s, which is 77.713 times as fast; 3 to 97.179 % of it.\n"
    found = quoted.unsourced(page, READ[page] + added)
    assert found == [("It takes 12.345 s, which is 77.713 times as fast; ", ["12.345", "77.713", "97.179"])]
    assert quoted.unsourced("x.md", "A rate of .123 here, `1.5` and $2.5$ there.\n\n```\n3.5 s\n```\n") == [
        ("A rate of .123 here,   and   there.", [".123"])
    ]
    changed = READ["docs/significance.md"].replace(".075<!--=", ".076<!--=")
    with pytest.raises(ValueError, match=r".076 is not 0.075"):
        quoted.unsourced("docs/significance.md", changed)


def test_a_number_of_a_table_written_by_hand_needs_a_source_of_its_own():
    text = "<!-- a -->\n| .37 |\n<!-- end -->\n\nThe rate is .37.\n\n| population | rate |\n|---|---|\n| one | .37 |\n"
    assert [numbers for _, numbers in quoted.unsourced("x.md", text)] == [[".37"]]


def test_an_entry_that_is_no_longer_on_the_page_is_noticed():
    page = "docs/benchmarks.md"
    assert ("is 9 to 34", "34") in quoted.stale(page, READ[page].replace("9 to 34 times", "9 to 34 and more"))
    gone = quoted.stale(page, READ[page].replace("On 2,500 more samples", "On more samples"))
    assert any(begins.startswith("On 2,500") and "0 paragraphs" in what for begins, what in gone)


@pytest.mark.parametrize(
    ("number", "value", "expected"),
    [
        ("56.9", 56.9499, True),
        ("56.9", 56.96, False),
        (".08", 0.0775, True),
        ("57", 56.9, True),
        ("57", 57.6, False),
        ("1,000", 1000, True),
        ("170", 174, True),
        ("170", 176, False),
        ("3.96", "3.96 s", True),
        ("3.97", "3.96 s", False),
    ],
)
def test_digits_agree_as_they_are_printed(number, value, expected):
    assert quoted.agrees(number, value) == expected


def test_tables_between_marks_are_those_of_the_results(tmp_path):
    text = READ["docs/significance.md"]
    copy = tmp_path / "significance.md"
    copy.write_text(text, encoding="utf-8")
    report.rewrite_page(significance.load(significance.RESULTS), copy)
    assert copy.read_text(encoding="utf-8") == text
    page = segments.PAGE.read_text(encoding="utf-8")
    for name, table in segments.make_tables(json.loads(segments.RESULTS.read_text(encoding="utf-8"))).items():
        assert re.search(rf"<!-- {name} -->\n\n(.*?)\n\n<!-- end -->", page, re.DOTALL)[1] == table, name
    for name, table in rounded.make_tables(json.loads(rounded.RESULTS.read_text(encoding="utf-8"))).items():
        assert f"<!-- {name} -->\n{table}\n<!-- end -->" in text, name


def test_results_have_the_day_and_the_versions_of_their_run():
    now = measure_all["describe_environment"]()
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", now["date"])
    assert {"energystats", "Python", "numpy"} <= set(now["versions"])
    for path in sorted(quoted.RESULTS.glob("*.json")):
        place = json.loads(path.read_text(encoding="utf-8")).get("environment") or {}
        assert (place.get("date") and place["versions"]) or path.stem in UNDATED, path.name


def test_one_command_measures_every_file_of_results():
    steps = measure_all["STEPS"]
    assert {path.stem for path in quoted.RESULTS.glob("*.json")} <= set(steps)
    assert set(measure_all["PRINTED"]) <= set(steps)
    for words, _ in steps.values():
        assert (quoted.HERE / words[0]).exists(), words[0]


def test_printed_tables_are_read_with_their_titles():
    text = "## one: \n\n| a | b |\n|---|---|\n| 1 | - |\n\nwords\n| c |\n|:-:|\n| 2 |\n"
    assert measure_all["tables_of"](text) == [
        {"title": "one: ".rstrip(": "), "heads": ["a", "b"], "rows": [["1", "-"]]},
        {"title": "words", "heads": ["c"], "rows": [["2"]]},
    ]
