"""CSV files as R and pandas write them: the numbers that R reads back, or a line that says what is in doubt."""

import bz2
import gzip
import html
import io
import json
import lzma
import pathlib
import re
import shlex
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import energystats as es
from energystats import cli
from energystats.cli.console import Console
from energystats.cli.dialects import Dialect
from energystats.cli.errors import BadInputError
from energystats.cli.file_table import RowRanges
from energystats.cli.matrix import read_matrix
from energystats.cli.reading import read_table
from energystats.cli.selection import keep_rows
from energystats.inputs.labels import write_codes
from energystats.report import pictures
from tests.conftest import examples, sweep
from tests.r_tables import difference

FROM_R = sorted(p.with_suffix("") for p in (Path(__file__).parent / "oracles_csv").glob("*.json"))


def read(path, content=None, **how):
    """The table of a file, whose content is written first."""
    if content is not None:
        path = path / "f.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    given = {key: how.pop(key) for key in list(how) if key not in ("as_text", "categories", "rows")}
    return read_table(str(path), Dialect(**given), Console(quiet=True), **how)


@pytest.mark.parametrize("file", FROM_R, ids=lambda path: path.name)
def test_tables_of_r_are_what_r_reads_back(file):
    """`read.csv2` leaves numbers with a point as text, which these are in freeny; here they are numbers."""
    expected = json.loads(file.with_name(file.name + ".json").read_text(encoding="utf-8"))
    found = difference(read(file), expected)
    assert found is None or ("freeny" in file.name and found.endswith("points kept as text"))


def test_gower_of_a_table_of_r_is_that_of_daisy(capsys):
    """With the level "None" of AirBags; cluster::daisy(Cars93, metric = "gower") has the sum 1663.631."""
    file = next(p for p in FROM_R if p.name == "MASS.Cars93.csv")
    frame = read(file).frame
    assert frame["AirBags"].value_counts()["None"] == 34
    columns = ",".join(frame.columns)
    assert cli.main(["cluster", str(file), "--metric", "gower", "--columns", columns, "--json", "--quiet"]) == 0
    partition = json.loads(capsys.readouterr().out)["partition"]
    assert 93 * partition["total"] == pytest.approx(1663.631, abs=5e-4)


CELLS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn")), max_size=6)
WORDS = st.sampled_from(["None", "NULL", "-", "n/a", "a", "b", "x y", 'q"q', "c,d", "T", "e;f", "\u00e9"]) | CELLS


@settings(deadline=None, max_examples=examples(60), suppress_health_check=list(HealthCheck))
@given(
    words=st.lists(WORDS, min_size=2, max_size=8),
    numbers=st.lists(st.floats(-1e6, 1e6) | st.none(), min_size=8, max_size=8),
    sep=st.sampled_from(",;\t|"),
    decimal=st.sampled_from(".,"),
    index=st.booleans(),
    quoting=st.sampled_from([0, 2]),
)
def test_tables_of_pandas_are_read_back(tmp_path, words, numbers, sep, decimal, index, quoting):
    """Words that hold no number and do not stand for missing values; options say what is not to be guessed."""
    words = [w if w.strip() and not w.strip().lower().startswith(("na", "inf")) else "word" for w in words]
    words = ["w" + w if pd.notna(pd.to_numeric(w, errors="coerce")) or w[0] in " \t" else w for w in words]
    frame = pd.DataFrame({"word": words, "x": np.array(numbers[: len(words)], dtype=float), "y": 1.5})
    if sep == decimal:
        decimal = "."
    frame.to_csv(tmp_path / "f.csv", sep=sep, decimal=decimal, index=index, quoting=quoting)
    back = read(tmp_path / "f.csv", sep=sep, decimal=decimal, as_text=["word"]).frame
    pd.testing.assert_frame_equal(back, frame, check_dtype=False)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,y\n1,2\n3,4,\n5,6\n", r"f.csv: line 3 has 3 cells, where 2 are expected"),
        ("x,y\n1,2\n3\n5,6\n", r"line 3 has 1 cell, where 2 are expected"),
        ('x,y\n"a\nb",2\n3,4,\n', r"line 4 has 3 cells, where 2 are expected"),
        ("x,y\n1,2,3,4\n5,6,7,8\n", r"the header \(line 1\) has 2 names, but the rows have 4 cells each"),
        ("x,y\n1,2,3\n1,5,6\n", r"one name fewer than the rows have cells, and the first cells are no names"),
        ("x,y,x\n1,2,3\n4,5,6\n", r"must name every column differently, but 'x' stands there more than once"),
        ("x,y\n1,2,\n3,4,\n", r"or the first column, .*; --row-names first takes the first reading, --row-names none"),
        ('x y z\n"3" 1 "a" \n"11" 2 "b" \n', r"the first cells may be names of the rows, before an"),
        ("x,,z\n1,2,3\n4,5,6\n", r"the header \(line 1\) has no name for column 2"),
        ("x\ty\n1\t999\n2\t1,000\n", r"'1,000' may be 1000 or 1.000; --thousands , takes the first reading, --decimal"),
        ("x;y\n1;999\n2;1,000\n", r"'1,000' may be 1000 or 1.000"),
        ("x;y\n1.5;999\n2;1,000\n", r"'1,000' may be 1000, and --thousands , reads it so; if it is 1.000, write it w"),
        ("x;y\n1;999\n2;1.000\n", r"column 2: '1.000' may be 1000 or 1.000"),
        ("x\n1,000\n2,000\n", r"'1,000' may be 1000 or 1.000"),
        ("x;g\n1.500;a\n2.500;b\n", r"column 1: '1.500' may be 1500 or 1.500; --thousands \. takes .* --decimal \."),
        ("x\tg\n1.500\ta\n900\tb\n", r"column 1: '1.500' may be 1500 or 1.500; --thousands \. takes .* --decimal \."),
        ("x|g\n1.500|a\n900|b\n", r"column 1: '1.500' may be 1500 or 1.500; --thousands \. takes .* --decimal \."),
        ("x;y\n1.500;1999\nNA;2000\n", r"column 1: '1.500' may be 1500 or 1.500"),
        ("x;y\n-1.500.000;7\n2.500;8\n", r"'-1.500.000' may be -1500000; --thousands \. reads it so"),
        ("x;y\n" + "1;2\n" * 300 + "3;1.000\n", r"column 2: '1.000' may be"),
        ('x,g\n1,"NA"\n2,"b"\n', r"column 'g' holds \"NA\" in quotes, which may be a word or a missing value"),
        ('x,g\n1," NA"\n2,"b"\n', r"column 'g' holds \" NA\" in quotes, which may be a word or a missing value"),
        ('x,g\n1,"NaN"\n2,"b"\n', r"column 'g' holds \"NaN\" in quotes"),
        ('"x","g"\n"1",""\n"2","b"\n', r"column 'g' holds \"\", and every cell is in quotes"),
        ('x,g\n1,"5\\" pipe"\n', r"line 2: the quotes do not fit the cells .*qmethod = \"double\""),
        ('x,g\n1,"open\n2,b\n', r"line 2: the quotes do not fit the cells"),
        ('x,g\n1,"b"\n2, "b"\n', r"line 3: cell ' \"b\"' has quotes behind blanks"),
        ('x, "g"\n1,b\n2,b\n', r"the line of names has quotes behind blanks"),
        ('x;g\n1,5;b\n2,5;\t"b"\n', r"line 3: .* has quotes behind blanks"),
        ("x\n1\n\n3\n", r"a line before line 4 is empty, which may be a missing value or nothing"),
        ("x\n1,10\n2,20\n3,35\n", r"the rows, such as '1,10', may be numbers with decimal commas, or names of rows"),
        ("NA,2\n3,4\n5,6\n", r"the first line must name the columns, got NA, 2; --no-header: it does not"),
        ("x\n1 1,5\n2 2,5\n", r"may be separated by commas \('1 1', '5'\) or by blanks \('1', '1,5'\); --sep says"),
        ("x,y\n1,\ufdd0\n", r"U\+FDD0"),
        ("   x    y  g\n 1.5    2  a\n10.5   33  b\n", r"several blanks together part the columns"),
        ("   x    y\n1 1.5    2\n2 10.5  33\n", r"several blanks together part the columns"),
        ("x y g\n1.5 2 a\n1.5 2 b \n", r"or stand at the end of a line, and every single blank would begin a cell"),
        ("x y  g\n1.5 2 a\n1.5 2 b\n", r"several blanks together part the columns.* in quotes\)\.$"),
        # x was lost: its numbers were taken for names of rows, before an empty column
        ("x y g\n1.5  2 a\n2.5  2 b\n", r"several blanks together part the columns.*say --sep space if every blank"),
        ("x y g\n1.5 2  a\n2.5 2  b\n", r"several blanks together part the columns.*say --sep space if every blank"),
        ("sep=;\nx;y\n1;2\n", r"the first line is 'sep=;', which only Excel reads; take it out, and say --sep ';'"),
        ('"sep=,"\r\nx,y\r\n1,2\r\n', r"which only Excel reads; take it out, and say --sep ','"),
        (bz2.compress(b"x,y\n1,2\n"), r"f.csv: is packed by bzip2; unpack it, or pack it with gzip"),
        (lzma.compress(b"x,y\n1,2\n"), r"f.csv: is packed by xz"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), r"f.csv: is a workbook or an archive"),
        ("x,y\n1,2\n3,4\n".encode("utf-16-le"), r"seems to be UTF-16 without its mark; --encoding utf-16-le reads it"),
        ("x,y\n1,\u00e9\n3,4\n".encode("utf-16-be"), r"--encoding utf-16-be reads it"),
        (b"\x00\x01\x00\x00\x02\xff\x00\x01" * 9, r"is not text; CSV or Parquet is needed"),
    ],
)  # fmt: skip
def test_what_is_in_doubt_is_refused(tmp_path, content, message):
    with pytest.raises(BadInputError, match=message):
        read(tmp_path, content)


def test_a_damaged_utf_16_file_is_not_called_one_without_a_mark(tmp_path):
    with pytest.raises(BadInputError, match="begins with the mark of UTF-16, and is no text in it; is the file whole"):
        read(tmp_path, "x,y\n1,2\n3,4\n".encode("utf-16")[:-1])


def test_blanks_before_a_comment_belong_to_it_and_the_header_has_its_own_line(tmp_path):
    found = read(tmp_path, "# of a lake\n\nx,g # names\n1,a # first\n2,b\n", comment="#").frame
    assert found.columns.tolist() == ["x", "g"]
    assert found["g"].tolist() == ["a", "b"]
    with pytest.raises(BadInputError, match=r"the header \(line 3\) has 3 names, but the rows have 2 cells each"):
        read(tmp_path, "# of a lake\n# deep\nx,y,z\n1,2\n3,4\n", comment="#")
    with pytest.raises(BadInputError, match=r"the header \(line 2\) has no name for column 2"):
        read(tmp_path, "# of a lake\nx,,z\n1,2,3\n3,4,5\n", comment="#")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8", "ascii"])
def test_the_mark_of_utf_16_is_named_beside_another_encoding(tmp_path, encoding):
    with pytest.raises(BadInputError, match=f"begins with the mark of UTF-16, which is not {encoding}; leave"):
        read(tmp_path, "x,y\n1,2\n3,4\n".encode("utf-16"), encoding=encoding)


@pytest.mark.parametrize(
    ("content", "asked", "message"),
    [
        ("x,y\n1,2,5\n3,4,6\n", "none", r"--row-names none: the rows have one cell more than the header"),
        (",y\n1,2\n3,4\n", "none", r"no name for column 1"),
        ("x,y\n1,2\n3,4\n", "first", r"--row-names first: the first column has a name, 'x'; --id takes"),
        ("x,y\n1,2,\n1,4,\n", "first", r"the first cells are no names of the rows, because some are the same"),
    ],
)
def test_names_of_rows_that_the_file_does_not_have_are_refused(tmp_path, content, asked, message):
    with pytest.raises(BadInputError, match=message):
        read(tmp_path, content, row_names=asked)


def test_an_empty_last_column_of_r_moves_no_column(tmp_path, capsys, monkeypatch):
    """write.table(d, sep = "\\t", quote = FALSE, na = "") with nothing in the last column; T is R's."""
    monkeypatch.chdir(tmp_path)
    dose, names = (1.2, 2.2, 5.1, 4.8, 6.3, 5.9, 7.7), (3, 11, 4, 25, 8, 31, 2)
    rows = [f"{name}\t{x}\t{g}\t\n" for name, x, g in zip(names, dose, "aabbbab", strict=True)]
    Path("f.tsv").write_text("dose\tarm\tremark\n" + "".join(rows))
    words = ["cluster", "f.tsv", "--columns", "dose", "-k", "1", "--json"]
    assert cli.main(words) == 2
    assert "--row-names first takes the first reading" in capsys.readouterr().err
    assert cli.main([*words, "--row-names", "first"]) == 0
    partition = json.loads(capsys.readouterr().out)["partition"]
    assert partition["total"] == pytest.approx(8.228571, abs=5e-7)
    assert partition["names"] == list(map(str, names))


@pytest.mark.parametrize("cell", ["0.500", "-0.125", "000.500", "012.345", "1.200e3", "0.500,5", "12.34", "1000.000"])
@pytest.mark.parametrize("sign", [".", ",", "'"])
def test_signs_that_part_no_thousands_are_refused(tmp_path, capsys, cell, sign):
    """0.500 is one half in any file, and was 500."""
    cell = cell.translate(str.maketrans(".,", f"{sign}{',' if sign == '.' else '.'}"))
    path = tmp_path / "f.csv"
    path.write_text(f"x;g\n1{sign}200;a\n{cell};a\n1{sign}900;b\n3{sign}100;b\n")
    for more in ([], ["--columns", "x"]):
        words = ["test", str(path), "--group", "g", "--sep", ";", "--thousands", sign, "--resamples", "9", *more]
        assert cli.main(words) == 2
        assert f"row 2 (line 3), column 'x': {cell!r} is not a number (--thousands" in capsys.readouterr().err


@pytest.mark.parametrize("sign", ["'", "\u2019", "\u202f", "\u00a0", "\u2009", " "])
def test_thousands_that_other_countries_part_are_named_and_read(tmp_path, capsys, sign):
    """Swiss and French files: the column was left out with a note, and the test went on without it."""
    path = tmp_path / "f.csv"
    path.write_text(f"x;y;g\n1;1{sign}200;a\n2;1{sign}250,5;a\n5;987;b\n7;3{sign}100;b\n", encoding="utf-8")
    words = ["test", str(path), "--group", "g", "--sep", ";", "--resamples", "9"]
    assert cli.main(words) == 2
    said = capsys.readouterr().err
    assert "is not a number (--thousands" in said
    assert "reads it as 1200)" in said
    (named,) = shlex.split(re.search(r"--thousands (.*) reads it", said)[1])
    assert named.isascii() or not sign.isspace()  # blanks look alike
    for word in (sign, named):
        assert cli.main([*words, "--thousands", word, "--decimal", ","]) == 0
        assert "columns x, y" in capsys.readouterr().out
    assert cli.main([*words, "--thousands", "_", "--decimal", ","]) == 2
    assert "is not a number (--thousands" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("how", "cell"), [(["--thousands", "."], "0.500"), (["--thousands", "."], "2.25"), (["--decimal", ","], "0.5")]
)
def test_entries_of_a_matrix_in_other_signs_are_refused(tmp_path, capsys, monkeypatch, how, cell):
    """Which were numbers with a decimal point beside 1.200 as one thousand and two hundred, or beside 1,2."""
    monkeypatch.chdir(tmp_path)
    big = "1.200" if "--thousands" in how else "1,2"
    Path("m.csv").write_text(f"a;b;c\n0;{big};{cell}\n{big};0;2\n{cell};2;0\n")
    assert cli.main(["euclidize", "m.csv", "-o", "o.csv", *how]) == 2
    assert f"line 2, column 3 (a to c) holds {cell!r}, whose decimals or thousands have" in capsys.readouterr().err


def test_names_in_a_matrix_with_decimal_commas_stay_as_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("m.csv").write_text(";1,5;2,5;c\n1,5;0;1,2;2\n2,5;1,2;0;2\nc;2;2;0\n")
    assert cli.main(["euclidize", "m.csv", "-o", "o.csv", "--quiet", "--decimal", ","]) == 0
    assert Path("o.csv").read_text() == ";1,5;2,5;c\n1,5;0;1,2;2\n2,5;1,2;0;2\nc;2;2;0\n"


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("city\nNew  York\nLos  Angeles\n", ["city"]),
        ("a  b,c\n1,2\n3,4\n", ["a  b", "c"]),
        ('"x" "y  z" \n1 2 \n1 3 \n', ["x", "y  z"]),
        ("x\n1 \n2 \n", ["x"]),
    ],
)
def test_blanks_that_align_nothing_are_read(tmp_path, content, names):
    assert list(read(tmp_path, content).frame) == names


def test_every_blank_begins_a_cell_where_that_is_said(tmp_path):
    table = read(tmp_path, "x y g\n1.5  2 a\n2.5  2 b\n", sep=" ")
    assert list(table.frame) == ["x", "y", "g"]
    assert table.frame["y"].tolist() == [2, 2]


def test_a_matrix_aligned_by_blanks_is_told_from_others(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("m.txt").write_text("   a    b\na  0  1.5\nb 1.5   0\n")
    for more in ([], ["--sep", "space"]):
        assert cli.main(["euclidize", "m.txt", "-o", "o.csv", *more]) == 2
        told = capsys.readouterr().err
        assert "several blanks together part the columns" in told
        assert "in a shell awk '{$1 = $1; print}', where" in told  # a line of the terminal has no two blanks in a row


@pytest.mark.parametrize(
    ("cell", "more", "place"),
    [
        ("1\u00a0", [], "row 1 (line 2), column 'x': '1\\xa0' is not a number"),
        ("Total", ["--where", "y>2"], "'Total' is not a number, and makes text of the whole column, although the row"),
        ("Total", ["--rows", "2:4"], "row 1 (line 2), column 'x': 'Total' is not a number, and makes text of"),
        ("Total", ["--missing", "drop"], "row 1 (line 2), column 'x': 'Total' is not a number"),
    ],
)
@pytest.mark.parametrize("columns", [[], ["--columns", "x,y"]])
def test_a_cell_that_makes_text_of_a_column_is_named(tmp_path, capsys, cell, more, place, columns):
    """Also where it looks like a number, and where its row is not in use."""
    rows = [f"{cell},1,", "2.5,3,a", "3.5,4,b", "4.5,6,b"]
    (tmp_path / "f.csv").write_text("\n".join(["x,y,g", *rows, ""]), encoding="utf-8")
    words = ["test", str(tmp_path / "f.csv"), "--group", "g", *([] if cell != "Total" else ["--missing", "drop"])]
    if cell != "Total":
        (tmp_path / "f.csv").write_text("\n".join(["x,y,g", f"{rows[0]}a", *rows[1:], ""]), encoding="utf-8")
    assert cli.main([*words, *more, *columns]) == 2
    assert place in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--columns", "--drop"])
@pytest.mark.parametrize("text", ["", ",", "x,", " "])
def test_options_that_name_no_column_say_so(tmp_path, capsys, option, text):
    (tmp_path / "f.csv").write_text("x,y\n1,2\n2,4\n7,8\n")
    assert cli.main(["cluster", str(tmp_path / "f.csv"), option, text]) == 2
    assert f"{option} must name columns, with commas between them, got {text!r}." in capsys.readouterr().err


NAMES = ["", "weight, kg{0}height, cm\n", "weight, kg{0}height, cm{0}age\n", "g{0}weight, kg\n"]


@pytest.mark.parametrize("header", NAMES)
@pytest.mark.parametrize("sep", [";", "\t", "|", " "])
def test_decimal_commas_are_not_taken_for_separators(tmp_path, capsys, header, sep):
    """They cut every line into equally many cells, and the digits behind them became coordinates."""
    names = header.replace(", ", ",").format(sep)
    row = {2: "{1},{2}{0}{3},5\n", 3: "{1},5{0}{2},5{0}{3},5\n"}[max(2, len(names.split(sep)))]
    if names.startswith("g"):
        row = "4{0}{2},{3}\n"
    path = tmp_path / "f.csv"
    path.write_text(names + "".join(row.format(sep, 50 + i, i, 150 + i) for i in range(9)))
    words = ["cluster", str(path), "-k", "1", "--json", *(["--no-header"] if not header else [])]
    # with two commas in the names and three in the rows these may have names, too
    if names.count(",") == 2 and row.startswith("{1},5") and sep != " ":
        assert cli.main(words) == 0
        assert json.loads(capsys.readouterr().out)["columns"] == names.strip().split(sep)
        return
    assert cli.main(words) == 2
    said = capsys.readouterr().err
    assert "may be separated by commas (" in " ".join(said.split())
    assert "; --sep says which" in said
    for more in (["--sep", {"\t": "tab", " ": "space"}.get(sep, sep)], ["--decimal", ","]):
        assert cli.main([*words, *more]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["columns"] == (["V1", "V2"] if not names else names.strip().split(sep))


@pytest.mark.parametrize(
    ("content", "header", "sep"),
    [
        ("1, 2\n3, 4\n", False, ","),
        ("1,\t2\n3,\t4\n", False, ","),
        ("1, 2,5\n3, 4,5\n", False, ","),
        ("2020-01-01 10:30,5\n2020-01-01 10:31,6\n", False, ","),
        ("date time,x\n2020-01-01 10:30,5\n2020-01-01 10:31,6\n", True, ","),
        ("New York,1.5\nSan Diego,2.5\n", False, ","),
        ("plot id,count\nplot 1,5\nplot 2,6\n", True, ","),
        ("id,genres\n1,a|b\n2,c|d\n", True, ","),
        ("a,b\n83,8\n84,9\n", True, ","),
        ('id,word\n1,"a;b"\n2,"c;d"\n', True, ","),
        ('g;"weight, kg"\na;50,5\nb;51,5\n', True, ";"),
        ("a;b, c\n1,5;2,5\n3,5;4,5\n", True, ";"),
        ('"weight, kg" "height, cm"\n"1" 50,5 1,5\n"2" 51,5 1,5\n', True, " "),
    ],
)  # fmt: skip
def test_other_signs_in_every_line_leave_no_doubt(tmp_path, content, header, sep):
    assert read(tmp_path, content, header=header).dialect.sep == sep


@pytest.mark.parametrize("content", ["Smith, John;3\nDoe, Jane;4\n", "83,8;1,5\n84,9;2,5;\n", "83,8  1,5\n 4,9 2,5 \n"])
def test_two_separators_are_refused(tmp_path, content):
    """Also where the other one does not fit all lines, as long as every comma may be a decimal one."""
    with pytest.raises(BadInputError, match=r"may be separated by commas .* --sep says which"):
        read(tmp_path, content, header=False)


@pytest.mark.parametrize(
    ("content", "how", "column", "expected"),
    [
        ("x\ty\n1\t999\n2\t1,000\n", {"thousands": ","}, "y", [999, 1000]),
        ("x\ty\n1\t999\n2\t1,000\n", {"decimal": ","}, "y", [999, 1]),
        ("x;y\n1;999\n2;1.234.000,5\n", {"thousands": "."}, "y", [999, 1234000.5]),
        ("x;y\n1;999\n2;1.000\n", {"decimal": "."}, "y", [999, 1]),
        ('x,y\n1,999\n2,"1,000"\n', {"thousands": ","}, "y", [999, 1000]),
        ("x;g\n1.500;a\n2.500;b\n", {"decimal": "."}, "x", [1.5, 2.5]),
        ("x;g\n1.500;a\n2.500;b\n", {"thousands": "."}, "x", [1500, 2500]),
        ("x;g\n1.500;a\n2.25;b\n", {}, "x", [1.5, 2.25]),
        ("x;g\n1.500,5;a\n0,25;b\n0;a\n007;b\n2e3;b\n", {"thousands": "."}, "x", [1500.5, 0.25, 0, 7, 2000]),
        ("x;y\n1.500;7\n2.500;0.125\n", {}, "x", [1.5, 2.5]),  # another column shows what the point is
        ("x;y\n1.500;1234\n2.500;1e-3\n2.500;1.5e-3\n", {}, "x", [1.5, 2.5, 2.5]),
        ("x\tg\n1.500\ta\n2.250\tb\n", {}, "x", [1.5, 2.25]),  # R and others write so
        ("x;y\n1.500;1\n1500;2\n", {}, "x", [1.5, 1500]),  # where thousands are parted, so is this one
        ("x\ty\n1.500\t7\n2.500\t8\n", {}, "x", [1.5, 2.5]),
        ("x;y\n1,5;999\n2;1,000\n", {}, "y", [999, 1]),  # 1,5 shows what the comma is
        ("x,y\n1,2,\n3,4,\n", {"row_names": "none"}, "y", [2, 4]),
        ("x,y\n1,2,\n3,4,\n", {"row_names": "first"}, "x", [2, 4]),
        ("x;y\n1,5;2;\n2,5;4;\n", {"row_names": "none"}, "x", [1.5, 2.5]),
        ("x,y\n1,2,\n1,4,\n", {}, "y", [2, 4]),  # cells that repeat name no rows
        (",y\nr,2,\ns,4,\n", {}, "y", [2, 4]),  # nor do cells before a column that has no name
        ("x,y,\n1,2,\n3,4,\n", {}, "y", [2, 4]),
        ('"x"\n"1" 1.5\n"2" 2.5\n', {}, "x", [1.5, 2.5]),
        ("x\n1,5\n9\nNA\n", {}, "x", [1.5, 9, np.nan]),
        ('x,y\n1,"NA"\n2,"7"\n', {}, "y", [np.nan, 7]),
        ("x,y\n1, NA\n2,  \n3, 7\n4,NaN \n", {}, "y", [np.nan, np.nan, 7, np.nan]),
        ("x,y\n1,?\n2,NA\n3,4\n", {"missing": ("?", "NA")}, "y", [np.nan, np.nan, 4]),
        ("x,y\n1,99999999999999999999\n2,4\n", {}, "y", [1e20, 4]),
    ],
)  # fmt: skip
def test_numbers(tmp_path, content, how, column, expected):
    np.testing.assert_allclose(read(tmp_path, content, **how).frame[column].astype(float), expected)


@pytest.mark.parametrize(
    ("content", "how", "expected"),
    [
        ('x,g\n1,"None"\n2,"NULL"\n3,-\n4,n/a\n5,\n6,NA\n', {}, ["None", "NULL", "-", "n/a", None, None]),
        ('x,g\n1,"None"\n2,-\n3,NA\n4,\n', {"missing": ("None", "-")}, [None, None, "NA", None]),
        ("x,g\n1,a\n2,NA\n3,NaN\n4,\n", {"missing": ()}, ["a", "NA", "NaN", None]),
        ('x,g\n1,"NA"\n2,NA\n3,b\n', {"quoted_na": "word"}, ["NA", None, "b"]),
        ('x,g\n1,"NA"\n2,NA\n3,b\n', {"quoted_na": "missing"}, [None, None, "b"]),
        ('x,g\n1,""\n2,\n3,b\n', {}, ["", None, "b"]),
        ('x,g\n1,""\n2,\n3,b\n', {"quoted_na": "missing"}, [None, None, "b"]),
        ("x,g\n1,TRUE\n2,NA\n3,FALSE\n", {}, [True, None, False]),
        ("x,g\n1,TRUE\n2, NA\n3,FALSE\n", {}, [True, None, False]),
        ("x,g\n1, NA\n2,NaN\t\n3,b\n", {}, [None, None, "b"]),
        ("x,g\n1, ?\n2,NA \n3,b\n", {"missing": ("?",)}, [None, "NA ", "b"]),
        ('x,g\n1," NA"\n2, NA\n3,b\n', {"quoted_na": "word"}, [" NA", None, "b"]),
        ('x,g\n1," NA"\n2, NA\n3,b\n', {"quoted_na": "missing"}, [None, None, "b"]),
        ("x,g\n1,b\n2, -9\n3,-9\n", {"missing": ("-9",)}, ["b", None, None]),
        ("x,g\n1,01\n2,1\n3,NA\n", {"categories": ["g"]}, ["01", "1", None]),
    ],
)
def test_words_and_missing_values(tmp_path, content, how, expected):
    found = read(tmp_path, content, **how).frame["g"]
    assert [None if pd.isna(v) else v for v in found] == expected


@pytest.mark.parametrize("block", [1, 7, 64])
def test_quoted_cells_go_on_over_blocks(tmp_path, monkeypatch, block):
    """Of which every one ends where a line ends, perhaps one of a cell; signs of comments inside are text."""
    monkeypatch.setattr("energystats.cli.sources.BLOCK", block)
    cells = ["a\n", '"', 'b,"",\n#c', "\n\nNA", '#"d"', "e"]
    rows = "".join('"' + cell.replace('"', '""') + f'",{i}\n' for i, cell in enumerate(cells))
    found = read(tmp_path, "x,y\n" + rows.replace(",1\n", ",1 # left out\n"), comment="#", as_text=["x"])
    assert found.frame["x"].tolist() == cells
    assert found.where(5) == "row 6 (line 11)"


def test_a_column_that_turns_to_text_late_is_text_from_the_beginning(tmp_path, monkeypatch):
    monkeypatch.setattr("energystats.cli.csv_scan.CELLS", 40)
    cells = [*map(str, range(300)), "late", *["TRUE"] * 9]
    table = read(tmp_path, "x,y\n" + "".join(f"{c},{i}\n" for i, c in enumerate(cells)))
    assert table.frame["x"].tolist() == cells
    assert table.frame["y"].tolist() == list(range(310))
    some = read(tmp_path / "f.csv", rows=RowRanges.of("3:4,300:302"))
    assert some.frame["x"].tolist() == ["2", "3", "299", "late", "TRUE"]
    assert some.frame.index.tolist() == [2, 3, 299, 300, 301]
    assert some.n_read == 310


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0;1.000;999\n1.000;0;2\n999;2;0\n", None),
        ("a;b\n0;1.500\n1.500;0\n", None),
        ("a;1.500;b\n0;7;2\n7;0;3\n2;3;0\n", 7),  # names are no entries
        ("a;b;c\n0;1.500;2.25\n1.500;0;1\n2.25;1;0\n", 1.5),  # 2.25 tells what the point is
        ("a;b;c\n0;1.500;1234\n1.500;0;1\n1234;1;0\n", 1.5),  # where thousands are parted, so is 1234
    ],
)
def test_points_in_matrices_are_in_doubt_as_in_tables(tmp_path, capsys, monkeypatch, content, expected):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pictures, "draw_picture", lambda draw: pictures.Picture("data:image/png;base64,", 640))
    Path("d.csv").write_text(content)
    words = ["cluster", "d.csv", "--metric", "precomputed", "-k", "2", "--json", "--report", "out.html"]
    if expected is not None:
        assert read_matrix("d.csv", Dialect(), Console(quiet=True))[0].distances[0, 1] == expected
        return
    for command in (words, ["euclidize", "d.csv", "-o", "out.csv"]):
        assert cli.main(command) == 2
        assert re.search(r"d.csv: '1.[05]00' may be 1[05]00 or 1.[05]00; --thousands", capsys.readouterr().err)
    totals = []
    for options in (["--thousands", "."], ["--decimal", "."]):
        assert cli.main([*words, *options]) == 0
        totals.append(json.loads(capsys.readouterr().out)["partition"]["total"])
        code = re.search(r"<h3>Python</h3>\s*<pre>(.*?)</pre>", Path("out.html").read_text(), re.DOTALL)[1]
        exec(html.unescape(code), scope := {})
        assert scope["found"].total == totals[-1]
    assert totals[0] > totals[1]


@pytest.mark.parametrize("index", [False, True])
def test_names_of_rows_in_parquet_are_as_in_csv(tmp_path, capsys, monkeypatch, index):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"plant": [11, 7, 9, 3], "x": [1.0, 2, 8, 9]})
    frame.to_csv("t.csv", index=False)
    (frame.set_index("plant") if index else frame).to_parquet("t.parquet")
    answers = []
    for file in ("t.csv", "t.parquet"):
        words = ["cluster", file, "--id", "plant", "--where", "plant>=7", "--labels", "l.csv", "--json"]
        assert cli.main(words) == 0
        answers.append((json.loads(capsys.readouterr().out)["partition"], Path("l.csv").read_text()))
    assert answers[0] == answers[1]
    assert answers[0][0]["names"] == ["11", "7", "9"]


def test_names_of_rows(tmp_path, monkeypatch, capsys):
    """R's two ways and that of pandas: names, which go into --labels and JSON, and no column."""
    monkeypatch.chdir(tmp_path)
    x = [1.0, 1.5, 9.0, 9.25, 1.25]
    names = ["a", "b", "NA", "d", "e"]
    with_corner = '"","x"\n' + "".join(f'"{n}",{v}\n' for n, v in zip(names, x, strict=True))
    for content in (with_corner, with_corner.replace('"",', "", 1), with_corner.replace('"', "").replace("NA", "n")):
        Path("f.csv").write_text(content)
        assert cli.main(["cluster", "f.csv", "--labels", "out.csv", "--json", "--where", "x<9.2"]) == 0
        captured = capsys.readouterr()
        answer = json.loads(captured.out)
        third = "n" if "NA" not in content else "NA"
        assert answer["columns"] == ["x"]
        assert answer["partition"]["names"] == ["a", "b", third, "e"]
        assert "was taken for the names of the rows" in captured.err
        written = pd.read_csv("out.csv", keep_default_na=False)
        assert written["name"].tolist() == ["a", "b", third, "e"]
        assert written["row"].tolist() == [1, 2, 3, 5]
    Path("f.csv").write_text(pd.DataFrame({"x": x}).to_csv())
    assert cli.main(["cluster", "f.csv", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["partition"]["names"] is None
    assert "names of the rows" not in captured.err


def test_mixed_columns_under_gower(tmp_path, monkeypatch, capsys, rng):
    """Truth values with gaps, codes that --category names, and text, as the same frame gives in Python."""
    monkeypatch.chdir(tmp_path)
    n = 30
    frame = pd.DataFrame({
        "flag": pd.array(rng.random(n) < 0.5, dtype="boolean"),
        "code": rng.integers(1, 4, n),
        "word": np.where(rng.random(n) < 0.5, "None", "some"),
        "x": rng.normal(size=n),
    })  # fmt: skip
    frame.loc[3:6, "flag"] = pd.NA
    frame.to_csv("f.csv", index=False, na_rep="NA")
    words = ["cluster", "f.csv", "--metric", "gower", "--json", "--quiet"]
    capsys.readouterr()
    totals = []
    for more, code in (([], int), (["--category", "code"], str)):
        assert cli.main([*words, *more]) == 0
        totals.append(json.loads(capsys.readouterr().out)["partition"]["total"])
        expected = es.dispersion(frame.assign(code=frame["code"].astype(code)), np.arange(n) % 2, metric="gower")
        assert totals[-1] == pytest.approx(expected.total, rel=1e-12)
    assert totals[0] != pytest.approx(totals[1])
    assert cli.main(["cluster", "f.csv", "--category", "cod"]) == 2
    assert "no column 'cod' for --category. Did you mean 'code'?" in capsys.readouterr().err
    assert cli.main(["cluster", "f.csv", "--category", "code", "--columns", "code"]) == 2
    assert "column 'code' must hold numbers, and --category names it" in capsys.readouterr().err
    assert cli.main([*words, "--where", "flag=TRUE"]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == int(frame["flag"].fillna(False).sum())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x,y\n1,n/a\n2,n/a\n3,5\n", "'n/a' is not a number (--na n/a reads it as a missing value); mend it, choose"),
        ('x,y\n1,"1,000"\n2,"2,000"\n', "'1,000' is not a number ('1,000' may be 1000 or 1.000; --thousands , takes"),
    ],
)
def test_a_word_for_missing_makes_no_column_of_categories(tmp_path, capsys, content, message):
    (tmp_path / "f.csv").write_text(content)
    for metric in ("gower", "euclidean"):
        assert cli.main(["cluster", str(tmp_path / "f.csv"), "--metric", metric]) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("words", [["test", "--group", "g"], ["disco", "y ~ g"], ["cluster", "--metric", "gower"]])
def test_missing_values_between_blanks_make_no_group(tmp_path, capsys, words):
    """Their blanks were taken away after missing values had been found, and "NA" was a group."""
    path = tmp_path / "f.csv"
    path.write_text("g,y\na,1.5\nb,2.5\n NA,9\na,1.2\nb,3.1\na ,1.1\nb,2.2\nNA ,8.5\nb, 2\n")
    words = [*words, str(path), "--resamples", "9"]
    if words[0] != "cluster":
        assert cli.main(words) == 2
        assert "NA" not in capsys.readouterr().err.replace("NaN", "")
    dropped = ["--missing", "drop"] if words[0] != "cluster" else []  # gower keeps rows with gaps
    assert cli.main([*words, *dropped, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found.get("test") or {}).get("labels", ["a", "b"]) == ["a", "b"]
    assert found["n"] == (7 if words[0] != "cluster" else 9)
    table = read(path)
    exec("\n".join(table.code).replace(repr(str(path)), "path"), names := {"pd": pd, "path": path})
    again, here = (frame.astype(object).where(frame.notna(), None) for frame in (names["table"], table.frame))
    pd.testing.assert_frame_equal(again, here)  # NaN and None are the same gap


@pytest.mark.parametrize(
    ("cells", "sep", "more", "said"),
    [
        (["1,500", "999", "3,500", "850"], ",", [], "may be 1500 or 1.500"),
        (["1,500", "999", "2", "word"], ",", [], "may be 1500 or 1.500"),
        (["1,5", "999", "3", "850"], ",", [], "--decimal , reads decimal commas"),
        (["1.500,5", "999", "3.500,5", "850"], ";", [], "(--thousands . reads it as 1500.5)"),
        (["1,500.5", "999", "3,500.5", "850"], ";", [], "(--thousands , reads it as 1500.5)"),
        (
            ["1,500", "1,50", "3,500", "850"],
            ";",
            ["--thousands", ","],
            "'1,50' is not a number (--thousands ,",
        ),
        (
            ["1,500", "3,5,00", "word", "850"],
            ";",
            ["--thousands", ","],
            "'3,5,00' is not a number (--th",
        ),
    ],
)
@pytest.mark.parametrize("copies", [1, 10])
@pytest.mark.parametrize("metric", ["euclidean", "gower"])
def test_numbers_with_other_signs_are_never_left_out(tmp_path, capsys, cells, sep, more, said, copies, metric):
    path = tmp_path / "f.csv"
    rows = [f'{"ab"[i % 2]}{sep}"{cell}"{sep}{10 + i}' for i, cell in enumerate(cells * copies)]
    path.write_text("\n".join([f"g{sep}x{sep}y", *rows]))
    assert cli.main(["test", str(path), "--group", "g", "--metric", metric, *more]) == 2
    err = " ".join(capsys.readouterr().err.split())
    assert "column 'x': " in err
    assert said in err


def test_the_long_one_of_the_numbers_is_named(tmp_path, capsys):
    (tmp_path / "f.csv").write_text("x,y\n10,1\n18446744073709551617,2\n12,3\n")
    assert cli.main(["cluster", str(tmp_path / "f.csv"), "-k", "1"]) == 2
    assert "beyond 2**53, such as 18446744073709551617" in capsys.readouterr().err


def test_words_of_na_are_replaced(tmp_path, capsys):
    (tmp_path / "f.csv").write_text("g,x\na,1\na,-99\nb,3\nb,?\n?,7\nNA,8\nNA,9\n")
    words = ["test", str(tmp_path / "f.csv"), "--group", "g", "--missing", "drop", "--json", "--na", "?,-99"]
    assert cli.main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n"] == 4
    assert sorted(found["test"]["labels"]) == ["NA", "a", "b"]


def test_codes_in_quotes_are_numbers_with_a_note(tmp_path, capsys):
    """As R reads them; a column with the odd word in quotes is text."""
    rows = "".join(f'"{i % 3}","{"rotary" if i == 4 else i % 4}",{i * i}\n' for i in range(12))
    (tmp_path / "f.csv").write_text('"code","cylinders","x"\n' + rows)
    assert cli.main(["cluster", str(tmp_path / "f.csv"), "--metric", "gower", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["columns"] == ["code", "cylinders", "x"]
    assert "numbers in quotes were read as numbers: code; --category makes categories of them." in captured.err
    assert cli.main(["cluster", str(tmp_path / "f.csv"), "--metric", "gower", "--drop", "code"]) == 0
    assert "numbers in quotes" not in capsys.readouterr().err
    assert cli.main(["disco", "x ~ code", str(tmp_path / "f.csv")]) == 0
    assert "numbers in quotes were read as numbers: code;" in capsys.readouterr().err


def test_empty_quotes_are_no_numbers_in_quotes(tmp_path, capsys):
    (tmp_path / "f.csv").write_text('"x","e"\n' + "".join(f'{i * i},""\n' for i in range(8)))
    assert cli.main(["cluster", str(tmp_path / "f.csv"), "-k", "2", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["columns"] == ["x"]
    assert "it is empty: e" in captured.err
    assert "numbers in quotes" not in captured.err


def test_a_gzip_is_counted_while_it_is_unpacked(tmp_path, capsys):
    packed = gzip.compress(b"x,y\n" + b"1,2\n2,7\n" * 40_000)
    (tmp_path / "f.csv.gz").write_bytes(packed)
    words = ["cluster", str(tmp_path / "f.csv.gz"), "--rows", "1:9", "--json", "--quiet"]
    assert cli.main([*words, "--unpack-limit", "0.0003"]) == 2
    assert "f.csv.gz: unpacks to more than 0.0003 GB; --unpack-limit GB raises the limit" in capsys.readouterr().err
    assert cli.main([*words, "--unpack-limit", "0.00033"]) == 0
    assert json.loads(capsys.readouterr().out)["n_read"] == 80_000
    assert cli.main([*words, "--unpack-limit", "0"]) == 2
    assert "--unpack-limit must be a number of GB above 0, got 0." in capsys.readouterr().err


@pytest.mark.slow
def test_rows_are_read_without_holding_the_file(tmp_path):
    """Memory of Python objects and arrays, not of the process: a few bytes per byte would be the whole table."""
    import tracemalloc

    line = "1.25,2.5,3.75,word\n"
    content = "a,b,c,d\n" + line * 150_000
    (tmp_path / "f.csv").write_text(content)
    read(tmp_path / "f.csv", rows=RowRanges.of("1:2"))
    tracemalloc.start()
    try:
        table = read(tmp_path / "f.csv", rows=RowRanges.of("5:1004"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(table.frame) == 1000
    assert peak < 3 * len(content)


# ---------------------------------------------------------------- what readers of the pages fell into


@pytest.mark.parametrize("number", ["5\u00a0", "١٢"])
def test_numbers_of_other_signs_are_text(tmp_path, capsys, monkeypatch, number):
    """A blank that does not break, and digits of another script: no number, and no traceback."""
    monkeypatch.chdir(tmp_path)
    Path("odd.csv").write_text(f"x,g\n{number},a\n2,a\n3,b\n4,b\n", encoding="utf-8")
    assert cli.main(["test", "odd.csv", "--group", "g", "--columns", "x"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_conditions_that_leave_out_nothing_are_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("x,g,flag\n1,Small,TRUE\n2,Small,FALSE\n3,Large,TRUE\n4,Large,FALSE\n5,Large,FALSE\n")
    for condition, message in (("g!=small", "no row of t.csv has 'small' in 'g'"), ("flag!=2", "holds truth values")):
        assert cli.main(["cluster", "t.csv", "-k", "1", "--columns", "x", "--where", condition]) == 2
        assert message in capsys.readouterr().err
    for value in ("1", "T", "true"):
        assert cli.main(["cluster", "t.csv", "-k", "1", "--columns", "x", "--where", f"flag!={value}", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["partition"]["sizes"] == [3]


@pytest.mark.parametrize("name", ["row", "cluster"])
def test_names_of_rows_are_kept_whatever_their_column_is_called(tmp_path, capsys, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(f"{name},v\nx,1\ny,2\nz,8\nw,9\n")
    assert cli.main(["cluster", "t.csv", "-k", "2", "--id", name, "--labels", "l.csv", "--quiet"]) == 0
    assert [line.split(",")[:2] for line in Path("l.csv").read_text().splitlines()] == [
        ["row", "name"], ["1", "x"], ["2", "y"], ["3", "z"], ["4", "w"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("0.1", "0.10", "0.2"), "mean the same"),
        (("0,10", "0,1", "0,2"), "mean the same"),
        (("Male", "male", "female"), "differ only in capitals"),
    ],
)
def test_groups_that_mean_the_same_are_noted(tmp_path, capsys, monkeypatch, words, why):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i};{words[i % 3]}\n" for i in range(8)) + f"9;{words[2]}\n"
    Path("t.csv").write_text("x;g\n" + rows)
    assert cli.main(["test", "t.csv", "--group", "g", "--resamples", "9"]) == 0
    first, second = sorted(words[:2])
    noted = " ".join(capsys.readouterr().err.split())
    assert f"{first!r} and {second!r} in the column of groups {why}" in noted


UNSEEN = [("caf\u00e9", "cafe\u0301"), ("a", "a\u200b"), ("a b", "a\u00a0b"), ("ab", "a\u00adb"), ("a b", "a  b")]


@pytest.mark.parametrize("words", UNSEEN, ids=ascii)
def test_groups_that_print_alike_are_noted(tmp_path, capsys, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    groups = [*words, "x"] * 3
    pd.DataFrame({"v": np.arange(9.0) ** 2, "w": np.arange(9) % 2, "g": groups}).to_csv("t.csv", index=False)
    first, second = sorted(words)
    for command in (["test", "t.csv", "--group", "g"], ["disco", "v ~ g", "t.csv"], ["disco", "v ~ w + g", "t.csv"]):
        assert cli.main([*command, "--resamples", "9", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        noted = [note for note in found["warnings"] if "print alike and are two groups here" in note]
        assert len(noted) == 1
        assert f"not seen, or look the same: {write_codes(first)} and {write_codes(second)}" in noted[0]
        body = found.get("test", found.get("model"))
        assert any("print alike and are two" in note for note in body["notes"])


@pytest.mark.parametrize("words", [("01", "1", "2"), ("1.0", "1", "b"), ("Male", "male", "female")])
def test_disco_notes_groups_as_test_does(tmp_path, capsys, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"v": np.arange(18.0) ** 2, "g": list(words) * 6}).to_csv("t.csv", index=False)
    assert cli.main(["test", "t.csv", "--group", "g", "--resamples", "9"]) == 0
    expected = " ".join(capsys.readouterr().err.split()).replace("the column of groups", "column 'g'")
    assert "are two groups here, because groups are text" in expected
    assert cli.main(["disco", "v ~ g", "t.csv", "--category", "g", "--resamples", "9"]) == 0
    assert " ".join(capsys.readouterr().err.split()) == expected


def test_the_canberra_of_other_programs_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("x,y,g\n1,0,a\n2,0,a\n3,1,b\n4,0,b\n")
    assert cli.main(["test", "t.csv", "--group", "g", "--metric", "canberra"]) == 0
    assert "R's dist() scales the sum up" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_rows_are_numbered_in_the_file_and_not_in_the_rows_in_use(tmp_path, capsys, monkeypatch, suffix):
    """Some of the numbers 1 to n do not count on, and became a coordinate without a note."""
    monkeypatch.chdir(tmp_path)
    n = np.arange(24)
    frame = pd.DataFrame({"plant": n + 101, "site": np.where(n % 3, "north", "south"), "g": list("ab") * 12})
    frame["x"] = n * 7 % 24 / 10 + 0.05
    frame["nr"] = n**2  # by its name
    frame["day"] = n % 8  # counts the rows of a site, and not those of the file
    frame.loc[[4, 9], "g"] = None
    frame.to_csv("t.csv", index=False) if suffix == "csv" else frame.to_parquet("t.parquet")
    test, cluster = ["test", f"t.{suffix}", "--group", "g"], ["cluster", f"t.{suffix}"]
    for command in (
        [*test, "--missing", "drop"],
        [*test, "--where", "site=south", "--missing", "drop"],
        [*test, "--rows", "1:3,11:20", "--missing", "drop"],
        [*cluster, "--where", "x<2"],
        [*cluster, "--rows", "1:4,9:20"],
        [*cluster, "--where", "x<2", "--metric", "gower", "--drop", "site,g"],
    ):
        assert cli.main([*command, "--resamples", "23", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["columns"] == ["x", "day"]
        assert any("because it numbers the rows: plant, nr; name it" in note for note in found["warnings"])
    assert cli.main([*cluster, "--rows", "1:8", "-k", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"] == ["x"]
    assert cli.main([*cluster, "--where", "plant>110", "--columns", "plant,x", "-k", "1", "--quiet"]) == 0


def test_numbers_of_all_rows_are_read_as_the_file_writes_them(tmp_path):
    content = "id;x;y\n" + "".join(f"{i}.000;{i},5;{i}\n" for i in range(1, 9)) + ";9,5;\nNA;-99;-99\n"
    table = read(tmp_path, content, thousands=".", missing=("NA", "-99"), rows=RowRanges.of("2:4"))
    assert {name: column.tolist() for name, column in table.every.items()} == {
        "id": list(range(1000, 9000, 1000)), "y": list(range(1, 9)),
    }  # fmt: skip


# ---------------------------------------------------------------- decimal commas, truth values, words for missing


def write_csv2(path, frame, **how):
    """Write a table as R's write.csv2 does."""
    frame.to_csv(path, sep=";", decimal=",", quoting=2, **how)


@pytest.mark.parametrize("value", ["1,5", "1.5", "+1,50", "15e-1"])
@pytest.mark.parametrize("operator", [">=", "<", "!=", "="])
def test_conditions_have_the_decimal_sign_of_the_file(tmp_path, capsys, monkeypatch, value, operator):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"v": np.arange(20) / 8 + 0.25, "w": np.arange(20.0) ** 2 / 7})
    write_csv2("t.csv", frame)
    words = ["cluster", "t.csv", "-k", "1", "--where", f"v{operator}{value}", "--quiet", "--json"]
    assert cli.main(words) == 0
    kept = frame.query(f"v {operator.replace('=', '==') if operator == '=' else operator} 1.5")
    assert json.loads(capsys.readouterr().out)["partition"]["rows"] == (kept.index + 1).tolist()


@pytest.mark.parametrize(
    ("how", "condition", "message"),
    [
        ({"sep": ";", "decimal": ","}, "v>=1.500", "'1.500' is none: the numbers of t.csv have a comma"),
        ({}, "v>=1,5", "'1,5' is none: the numbers of t.csv have a point"),
        ({}, "v>=1,500", "'1,500' is none: the numbers of t.csv have a point"),
        ({}, "v>=1_000", "'1_000' is none."),
    ],
)
def test_conditions_in_other_signs_are_refused(tmp_path, capsys, monkeypatch, how, condition, message):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"v": np.arange(9) / 8, "w": np.arange(9.0) ** 2 / 7}).to_csv("t.csv", index=False, **how)
    assert cli.main(["cluster", "t.csv", "--where", condition]) == 2
    assert message in capsys.readouterr().err


def test_conditions_know_the_sign_of_the_thousands(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("v;w\n1,000;1\n2,500;3\n999;4\n1,500.5;7\n")
    assert cli.main(["cluster", "t.csv", "-k", "1", "--thousands", ",", "--where", "v>=1,500", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["partition"]["rows"] == [2, 4]


def test_groups_with_decimal_commas_have_the_order_of_numbers(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"v": np.arange(18.0) ** 2 / 3, "g": [10.5, 9.5, 2] * 6})
    write_csv2("t.csv", frame)
    assert cli.main(["test", "t.csv", "--group", "g", "--resamples", "9"]) == 0
    assert "Groups of g: 2; 9,5; 10,5." in capsys.readouterr().out.replace("2,0", "2")


@pytest.mark.parametrize("sign", [".", ","])
@pytest.mark.parametrize("operator", ["<=", ">", "<", ">="])
def test_groups_that_are_numbers_are_compared_as_numbers(tmp_path, capsys, monkeypatch, sign, operator):
    """A group is text to the test; in a condition 9 is below 12 all the same."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"v": np.arange(24.0) ** 2 / 3, "stations": [9, 12, 30, 12.5] * 6})
    frame.to_csv("t.csv", sep=";", decimal=sign, index=False)
    words = ["--resamples", "9", "--json", "--where", f"stations{operator}12"]
    kept = {"<=": [9, 12], ">": [12.5, 30], "<": [9], ">=": [12, 12.5, 30]}[operator]
    if len(kept) > 1:
        assert cli.main(["test", "t.csv", "--group", "stations", *words]) == 0
        labels = json.loads(capsys.readouterr().out)["test"]["labels"]
        assert [float(label.replace(",", ".")) for label in labels] == kept
    path = tmp_path / "t.csv"
    table = keep_rows(read(path, categories=["stations"]), [f"stations{operator}12"])
    names = {"pd": pd}
    exec("\n".join(table.code).replace(repr(str(path)), "path"), names | {"path": path}, names)
    pd.testing.assert_frame_equal(names["table"], table.frame, check_dtype=False)
    frame.assign(stations=["9", "x", "12", "y"] * 6).to_csv("t.csv", index=False)
    assert cli.main(["test", "t.csv", "--group", "stations", *words]) == 2
    assert "column 'stations' holds text ('x' is no number), which = and != compare" in capsys.readouterr().err


def test_a_list_of_na_that_took_the_place_of_na_is_named(tmp_path, capsys, monkeypatch):
    """Not `--na NA`, which would take the place of the list in its turn."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{x},{g},{x},{i}\n" for i, (x, g) in enumerate(zip([1, "NA", -99, 4, 5, 6], "aabbNa", strict=True)))
    Path("t.csv").write_text("x,g,z,y\n" + rows.replace(",N,", ",NA,"))
    said = "--na -99 took the place of NA and NaN, so that NA is no missing value any more; --na NA,-99 reads both"
    for command in (["cluster", "t.csv"], ["test", "t.csv", "--group", "g"]):
        assert cli.main([*command, "--na", "-99"]) == 2
        assert f"row 2 (line 3), column 'x': 'NA' is not a number ({said})" in " ".join(capsys.readouterr().err.split())
    assert cli.main(["disco", "y ~ g", "t.csv", "--na", "-99", "--resamples", "9"]) == 0
    assert f"'NA' in column 'g' is a word: {said}." in " ".join(capsys.readouterr().err.split())
    assert cli.main(["disco", "y ~ x", "t.csv", "--na", "-99", "--missing", "drop", "--resamples", "9"]) == 2
    assert "t.csv: row 2 (line 3), column 'x': 'NA' is not a number" in capsys.readouterr().err
    assert cli.main(["cluster", "t.csv", "--na", "?,n.a."]) == 2
    assert "--na '?,n.a.' took the place of NA and NaN" in capsys.readouterr().err
    assert cli.main(["cluster", "t.csv", "--na", "NA,-99", "--missing", "drop", "-k", "1", "--quiet"]) == 0
    Path("t.csv").write_text(rows.replace("NA", "n/a").replace("1,a,1,0", "x,g,z,y"))
    assert cli.main(["cluster", "t.csv", "--na", "-99"]) == 2
    assert "(--na -99 does not have it; --na n/a,-99 reads it as a missing value, too)" in capsys.readouterr().err


@pytest.mark.parametrize("first", ["1.500", "1500", "1"])
def test_points_beside_decimal_commas_are_named_with_their_row(tmp_path, capsys, monkeypatch, first):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(f"x;y;g\n{first};3,5;a\n2.500;4,5;b\n1.250;9;a\n2.750;4,5;b\n")
    row, number = ("row 1 (line 2)", "1.500") if first == "1.500" else ("row 2 (line 3)", "2.500")
    said = f"t.csv: {row}, column 'x': '{number}' is not a number where decimals have a comma (--thousands . reads it"
    for command in (["cluster", "t.csv"], ["test", "t.csv", "--group", "g", "--columns", "x"]):
        assert cli.main([*command, "--decimal", ","]) == 2
        assert f"{said} as {number.replace('.', '')})" in " ".join(capsys.readouterr().err.split())
    assert cli.main(["cluster", "t.csv", "-k", "1", "--decimal", ",", "--thousands", ".", "--quiet"]) == 0
    Path("t.csv").write_text("x;y\n1,5;3,5\n2,5;4,5\n3;2.25\n4;7\n6;8\n")
    assert cli.main(["cluster", "t.csv", "--decimal", ",", "--columns", "y"]) == 2
    said = "row 3 (line 4), column 'y': '2.25' is not a number where decimals have a comma (--decimal . reads"
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ log(x)", "'log' is a column of the table, which log(x) would take for the function of that name; rename"),
        ("log(y) ~ x", "rename the column, or write np.log()"),
        ("y ~ C(x)", "'C' is a column of the table, which C(x) would take for the function of that name; rename the"),
        ("y ~ poly(x, 2)", "'poly' is a column of the table"),
        ("y ~ np.exp(x)", "'np' is a column of the table, which np.exp(x) would take for"),
    ],
)
def test_a_column_with_the_name_of_a_function_is_named(tmp_path, capsys, monkeypatch, formula, message):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({name: np.arange(1.0, 21) % j for j, name in enumerate(["log", "C", "poly", "np"], 2)})
    frame.assign(x=np.arange(20.0) % 5 + 1, y=np.arange(1.0, 21) ** 1.5).to_csv("t.csv", index=False)
    assert cli.main(["disco", formula, "t.csv"]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    frame.drop(columns="np").assign(y=np.arange(1.0, 21), x=2.0 ** np.arange(20)).to_csv("t.csv", index=False)
    assert cli.main(["disco", "y ~ np.log(x) + log + I(poly.abs())", "t.csv", "--resamples", "9", "--quiet"]) == 0


SPELLINGS = [("TRUE", "True", "false"), ("true", "T", "F"), ("FALSE", "F", "TRUE"), ("t", "T", "f"), ("TRUE", "1", "0")]


@pytest.mark.parametrize("words", sweep(SPELLINGS, 1), ids="-".join)
def test_truth_values_of_several_spellings_are_refused(tmp_path, capsys, monkeypatch, words):
    """They may be two groups or three: neither merged nor kept apart without being told."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"v": np.arange(18.0) ** 2 / 3, "w": np.arange(18.0) ** 0.5, "g": list(words) * 6})
    frame["h"] = ["a", "b"] * 9
    frame.to_csv("t.csv", index=False)
    frame.to_parquet("t.parquet")
    for file in ("t.csv", "t.parquet"):
        for command in (
            ["test", file, "--group", "g"],
            ["test", file, "--group", "h"],
            ["test", file, "--group", "h", "--metric", "gower", "--columns", "v,g"],
            ["test", file, "--group", "h", "--columns", "v", "--where", f"g={words[0]}"],
            ["disco", "v ~ g", file],
            ["disco", "v ~ h", file, "--strata", "g"],
            ["cluster", file, "--metric", "gower"],
        ):
            assert cli.main(command) == 2
            assert f"column 'g' spells truth values in several ways ({', '.join(sorted(words))})" in (
                " ".join(capsys.readouterr().err.split())
            )
    assert cli.main(["test", "t.csv", "--group", "h", "--columns", "v", "--resamples", "9"]) == 0
    assert cli.main(["cluster", "t.csv", "--drop", "g", "-k", "1"]) == 0
    capsys.readouterr()
    assert cli.main(["test", "t.csv", "--group", "g", "--category", "g", "--resamples", "9", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["test"]["labels"] == sorted(words)


@pytest.mark.parametrize("words", [("TRUE", "false"), ("T", "FALSE"), ("1", "0"), ("t", "u", "T"), ("0", "1", "01")])
def test_one_spelling_of_truth_values_is_enough(tmp_path, capsys, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"v": np.arange(18.0) ** 2, "g": (list(words) * 9)[:18]}).to_csv("t.csv", index=False)
    assert cli.main(["test", "t.csv", "--group", "g", "--resamples", "9", "--json"]) == 0
    assert sorted(json.loads(capsys.readouterr().out)["test"]["labels"]) == sorted(words)


def test_names_of_rows_are_never_missing(tmp_path):
    content = 'v;w\n"41";1,5;41\n"NA";2,5;7\n"x";41;9\n"";4,5;8\n'
    table = read(tmp_path, content, missing=("41", "x"), na_lists=("41", "x"))
    assert table.row_names is not None
    assert table.row_names.tolist() == ["41", "NA", "x", ""]
    assert np.isnan(table.frame.to_numpy()).tolist() == [[False, True], [False, False], [True, False], [False, False]]


@pytest.mark.parametrize("names", [("001", "002", "003", "041"), ("1,5", "NA", "x", "41"), ("1", "", "3", "41")])
def test_names_in_the_column_of_id_are_as_written(tmp_path, capsys, monkeypatch, names):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("id;y\n" + "".join(f"{name};{y}\n" for name, y in zip(names, (1, 41, 8, 9), strict=True)))
    words = ["cluster", "t.csv", "--id", "id", "--na", "41", "--missing", "drop", "--labels", "l.csv", "--json"]
    assert cli.main([*words, "-k", "1", "--decimal", ","]) == 0
    kept = [names[0], *names[2:]]
    assert json.loads(capsys.readouterr().out)["partition"]["names"] == kept
    labels = pd.read_csv("l.csv", dtype=str, keep_default_na=False)
    assert labels["id"].tolist() == kept
    if names[0] == "001":
        assert cli.main([*words, "-k", "1", "--where", "id>=3"]) == 0
        assert json.loads(capsys.readouterr().out)["partition"]["names"] == ["003", "041"]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("content", "how"),
    [
        (
            '# "Table 1\n\nx,g # names\n1,a # first\n  # not a row\n2,"b"# left\n3,"#c"\t# t\n4,99 #\n',
            {"missing": ("99",)},
        ),
        ('x;g# names\r\n1,5;a % b #c\r\n2,5;"d\r\n#e"\r\n#\r\n3;NA #\r\n', {"decimal": ","}),
        ("x\tg\n1\ta'b ' c\n2\t\"'\"'\"\n", {"comment": "'"}),
        ('x g\n1 "a \\"b\\"" # c\n2 "\\"#\\""#\n', {}),
        ('x g\n1 "a \\"b\\""\n2 "c"\n', {"comment": None}),
        ('x,g\n1,"99"\n2,a\n3,99\n', {"comment": None, "missing": ("99",), "quoted_na": "word"}),
    ],
)
def test_code_reads_what_the_command_read(tmp_path, content, how, packed):
    """Blanks before comments, comments behind quotes, R's quotes inside quotes, and quoted numbers of --na."""
    data = content.encode()
    table = read(tmp_path, gzip.compress(data) if packed else data, **{"comment": "#"} | how)
    path = str(tmp_path / "f.csv")
    exec("\n".join(table.code), names := {"pd": pd, "re": re, "io": io, "gzip": gzip, "pathlib": pathlib})
    again, here = (frame.astype(object).where(frame.notna(), None) for frame in (names["table"], table.frame))
    pd.testing.assert_frame_equal(again, here)
    assert path in table.code[0]


@pytest.mark.parametrize("quote", ['"', ""])
@pytest.mark.parametrize("word", ["3", "3,0", "3,00", "+3"])
def test_numbers_of_na_are_compared_as_numbers(tmp_path, quote, word):
    """In columns of numbers, however these and the word are written; -99.0 beside --na -99 would be data otherwise."""
    cells = ["3", "3,0", "3,00", "03", "2,5", "33"]
    content = "a;b;c\n" + "".join(f"{quote}{cell}{quote};{cell};{i}\n" for i, cell in enumerate(cells))
    table = read(tmp_path, content, missing=(word,), decimal=",")
    for name in ("a", "b"):
        np.testing.assert_array_equal(table.frame[name], [np.nan] * 4 + [2.5, 33])
    np.testing.assert_array_equal(table.frame["c"], [0, 1, 2, np.nan, 4, 5])
    names = {"pd": pd}
    path = tmp_path / "f.csv"
    exec("\n".join(table.code).replace(repr(str(path)), "path"), names | {"path": path}, names)
    pd.testing.assert_frame_equal(names["table"], table.frame, check_dtype=False)


def test_words_of_na_are_compared_letter_by_letter_in_text(tmp_path, capsys):
    path = tmp_path / "f.csv"
    path.write_text("g,x\n" + "".join(f"{word},{i * i}\n" for i, word in enumerate(["3", "3.0", "4", "5"] * 4)))
    words = ["test", str(path), "--group", "g", "--missing", "drop", "--resamples", "9", "--json"]
    assert cli.main([*words, "--na", "3"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["test"]["labels"] == ["3.0", "4", "5"]
    assert any("--na 3: '3.0' in column 'g' is the same number and stays" in text for text in found["warnings"])
    assert cli.main([*words, "--na", "3.00"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["test"]["labels"] == ["3", "3.0", "4", "5"]
    assert any("--na 3.00: '3' in column 'g' is the same number and stays" in text for text in found["warnings"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("?,9,7", "9,7 may be one number, as the file writes numbers with commas, or several"),
        ("9.7", "--na 9.7: must be a word, or a number as the file writes numbers, with a decimal comma"),
        ("1_000", "--na 1_000: must be a word, or a number"),
    ],
)
def test_words_of_na_in_other_signs_are_refused(tmp_path, capsys, given, message):
    path = tmp_path / "f.csv"
    path.write_text("x;y\n9,7;1\n9;2\n7;3\n1000;4,5\n")
    assert cli.main(["cluster", str(path), "--na", given]) == 2
    assert message in capsys.readouterr().err
    assert cli.main(["cluster", str(path), "-k", "1", "--na", '"9,7"', "--missing", "drop", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["partition"]["rows"] == [2, 3, 4]


def test_truth_values_under_a_metric_of_numbers_are_refused_by_name(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"v": np.arange(8.0) ** 2, "b": [True, False] * 4, "g": list("aabbaabb")}).to_csv("t.csv", index=False)
    assert cli.main(["test", "t.csv", "--group", "g", "--resamples", "9"]) == 0
    noted = " ".join(capsys.readouterr().err.split())
    assert "not used, because it holds truth values (TRUE and FALSE), which have no distance under this metric" in noted
    assert (
        "write 1 and 0 in the file to use them as numbers, or take --metric gower, which compares any columns, or jac"
        in noted
    )
    assert cli.main(["test", "t.csv", "--group", "g", "--columns", "v,b"]) == 2
    assert "'b' must hold numbers, and holds truth values" in capsys.readouterr().err
    assert cli.main(["disco", "b ~ g", "t.csv"]) == 2
    assert "b holds truth values; b.astype(int) is 1 for True and 0 for False" in capsys.readouterr().err
    assert cli.main(["disco", "b.astype(int) ~ g", "t.csv", "--resamples", "9"]) == 0


def test_a_first_line_of_numbers_is_reported(tmp_path, capsys, monkeypatch):
    """Data without names, but for a column of text: the first row would be lost without a word."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(np.arange(30.0).reshape(10, 3) ** 1.5).assign(g=list("ab") * 5)
    frame.to_csv("t.csv", index=False, header=False)
    assert cli.main(["test", "t.csv", "--group", "a", "--resamples", "9"]) == 0
    assert "was taken for names of columns, '0.0', '1.0'" in " ".join(capsys.readouterr().err.split())
    assert cli.main(["test", "t.csv", "--group", "V4", "--no-header", "--resamples", "9", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n"] == 10
    assert not any("taken for names" in text for text in found["warnings"])
    d = pd.DataFrame(es.pairwise(frame[[0, 1, 2]].to_numpy()).round(3)).assign(g=list("ab") * 5)
    d.to_csv("d.csv", index=False, header=False)
    assert cli.main(["test", "d.csv", "--group", "a", "--metric", "precomputed"]) == 2
    assert "got 9 rows below a first line of 10 numbers, which was taken for names; --no-header" in (
        capsys.readouterr().err
    )
    Path("two.csv").write_text("1,1,a\n2,3,b\n3,4,a\n5,7,b\n")
    assert cli.main(["test", "two.csv", "--group", "a"]) == 2
    assert "if the first line is data, --no-header says so" in capsys.readouterr().err
    Path("t.csv").write_text("1.5,TRUE\n3,FALSE\n5,TRUE\n6,TRUE\n")
    capsys.readouterr()
    assert cli.main(["cluster", "t.csv", "-k", "1", "--metric", "gower"]) == 0
    assert "was taken for names of columns, '1.5', 'TRUE'" in " ".join(capsys.readouterr().err.split())


# ---------------------------------------------------------------- whole numbers beyond 2**53

LONG = 1234567890123456789


def write_ids(path, ids):
    lines = [f"{'' if i is None else i},{'ab'[j % 2]},{7 * j % 5}.5\n" for j, i in enumerate(ids)]
    path.write_text("n,g,y\n" + "".join(lines))
    return str(path)


@pytest.mark.parametrize("first", [LONG, 10**20, 10**22 + LONG, -(10**20)])
@pytest.mark.parametrize("gap", [None, 5])
def test_long_whole_numbers_are_compared_exactly(tmp_path, first, gap):
    """A gap made floats of the column: `n<=` kept 7 rows of 4, and 23 digits kept all."""
    path = write_ids(tmp_path / "f.csv", [None if i == gap else first + i for i in range(8)])
    table = read(Path(path))
    for condition, rows in (
        (f"n<={first + 3}", [0, 1, 2, 3]),
        (f"n={first + 3}", [3]),
        (f"n!={first}", [i for i in range(1, 8) if i != gap]),
        (f"n>{first + 6}", [7]),
    ):
        assert keep_rows(table, [condition]).frame.index.tolist() == rows, condition
    with pytest.raises(BadInputError, match="has more digits than are compared"):
        keep_rows(read(write_and_return(tmp_path, first)), [f"n<={first + 3}.5"])


def write_and_return(tmp_path, first):
    """A column of numbers, whatever its length."""
    return Path(write_ids(tmp_path / "s.csv", [LONG + i for i in range(4)] if abs(first) >= 2**64 else [first, None]))


@pytest.mark.parametrize("first", [LONG, 10**20, 10**22 + LONG])
@pytest.mark.parametrize("gap", [None, 5])
def test_long_whole_numbers_are_no_coordinates(tmp_path, capsys, first, gap):
    path = write_ids(tmp_path / "f.csv", [None if i == gap else first + 3 * i**2 for i in range(8)])
    for command in (["cluster", path, "-k", "2"], ["test", path, "--group", "g"], ["disco", "y ~ n", path]):
        assert cli.main([*command, "--missing", "drop", "--resamples", "9"]) == 2
        assert "whole numbers beyond 2**53" in capsys.readouterr().err
    assert cli.main(["cluster", path, "-k", "2", "--drop", "n", "--quiet"]) == 0


@pytest.mark.parametrize("first", [LONG, 10**20])
def test_levels_of_long_codes_stay_apart(tmp_path, capsys, first):
    """In C(n) two of three levels were one: df 1."""
    path = write_ids(tmp_path / "f.csv", [first, first + 1, first + 1000, first + 1] * 4 + [None])
    words = ["--missing", "drop", "--resamples", "9", "--json", "--quiet"]
    assert cli.main(["disco", "y ~ n", path, "--category", "n", *words]) == 0
    assert json.loads(capsys.readouterr().out)["model"]["terms"][0]["df"] == 2
    assert cli.main(["disco", "y ~ C(n)", path, *words]) == 0
    assert json.loads(capsys.readouterr().out)["model"]["terms"][0]["df"] == 2


@pytest.mark.parametrize("last", ["5", "", "2.5", "1e30", "18446744073709551615", "-3"])
def test_long_whole_numbers_beside_others(tmp_path, last):
    """Fractions beside them would make floating-point numbers, as in R, and two of them one: the cells stay text."""
    frame = read(tmp_path, f"n,y\n{LONG},1\n{LONG + 1},2\n{last},3\n").frame
    if last in ("2.5", "1e30"):
        assert frame["n"].tolist() == [str(LONG), str(LONG + 1), last]
    else:
        assert [int(v) for v in frame["n"].dropna()] == [LONG, LONG + 1, *([int(last)] if last else [])]


def test_a_number_of_na_leaves_long_numbers_exact(tmp_path):
    frame = read(tmp_path, f"n,y\n{LONG},1\n{LONG + 1},2\n-99,3\n", missing=("-99",)).frame
    assert frame["n"].tolist() == [LONG, LONG + 1, pd.NA]


def test_long_numbers_in_a_file_of_another_program(tmp_path):
    """Arrow's whole numbers with gaps come back as floats where pandas did not write the file."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    ids = pa.array([LONG, LONG + 1, None, LONG + 3])
    pq.write_table(pa.table({"n": ids, "y": [1.0, 2.0, 3.0, 4.0]}), tmp_path / "f.parquet")
    table = keep_rows(read(tmp_path / "f.parquet"), [f"n<={LONG + 1}"])
    assert table.frame.index.tolist() == [0, 1]


def test_the_code_of_a_report_reads_long_numbers_exactly(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for first in (LONG, 10**22):
        write_ids(Path("f.csv"), [first, first + 1, None, first + 3])
        table = keep_rows(read(Path("f.csv")), [f"n<={first + 1}"])
        names = {"pd": pd}
        for line in table.code:
            exec(line, names)
        assert names["table"].index.tolist() == [0, 1]


# ---------------------------------------------------------------- doubts in a formula, quotes, hyphens


@pytest.mark.parametrize(
    "cell", sweep(["n/a", '"1,5"', "5 kg", "<0.1", "\u22125", "5%", "$5", "'5", "(5)", "\u20ac 5"], 3)
)
def test_numbers_written_as_text_are_no_factor(tmp_path, capsys, cell):
    every = cell in ("5%", "$5", "5 kg", "'5", "(5)", "\u20ac 5", '"1,5"')
    cells = [cell.replace("5", str(10 + i)) if every or i == 4 else str(i) for i in range(12)]
    path = tmp_path / "f.csv"
    path.write_text("y,x\n" + "".join(f"{i * i % 7},{c}\n" for i, c in enumerate(cells)), encoding="utf-8")
    assert cli.main(["disco", "y ~ x", str(path)]) == 2
    said = capsys.readouterr().err
    assert f"row {1 if every else 5} (line {2 if every else 6}), column 'x': " in said
    assert "is not a number" in said
    assert "write C(x) in the formula, or name the column in --category" in said
    assert cli.main(["disco", "x ~ y", str(path)]) == 2
    assert "is not a number" in capsys.readouterr().err
    path.write_text(path.read_text(encoding="utf-8") + "".join(f"{i},{c}\n" for i, c in enumerate(cells)), "utf-8")
    for words in (["y ~ C(x)", str(path)], ["y ~ x", str(path), "--category", "x"]):
        assert cli.main(["disco", *words, "--resamples", "9", "--quiet"]) == 0


@pytest.mark.parametrize("word", ["a", "Q", "#", "site "])
def test_words_with_numbers_stay_factors(tmp_path, word):
    path = tmp_path / "f.csv"
    path.write_text("y,x\n" + "".join(f"{i * i % 7},{word}{i % 3}\n" for i in range(12)))
    assert cli.main(["disco", "y ~ x", str(path), "--resamples", "9", "--quiet"]) == 0


def test_decimal_commas_in_quotes_between_commas(tmp_path, capsys):
    """R: read.csv(text = ..., dec = ",") has the mean 4.125; pandas' to_csv(decimal=",") writes such files."""
    text = 'g,y\na,"1,5"\nb,"2,5"\na,"4,0"\nb,"8,5"\n'
    for how in ({"decimal": ","}, {"decimal": ",", "sep": ","}, {"thousands": "."}):
        assert read(tmp_path, text, **how).frame["y"].mean() == 4.125
    with pytest.raises(BadInputError, match="one cell more than the header"):
        read(tmp_path, 'g,y\na,1,5\nb,2,"5,1"\n', decimal=",")
    with pytest.raises(BadInputError, match="--decimal and --sep must differ, got ',' for both"):
        read(tmp_path, "g,y\na,1,5\nb,2,5\n", decimal=",")


def test_values_that_begin_with_a_hyphen(tmp_path, capsys):
    path = tmp_path / "h.csv"
    path.write_text("-y,g,a\n-99,a,1\n2,b,2\n3,a,--\n5,b,5\n-98,a,4\n7,b,3\n")
    for words, n in (
        (["--na", "-99,-98", "--columns", "-y"], 4),
        (["--na", "--", "--columns", "a"], 5),
        (["--na=--", "--columns", "a"], 5),
        (["--columns", "-y", "--where", "-y>2"], 3),
    ):
        assert cli.main(["cluster", str(path), "-k", "1", "--missing", "drop", *words]) == 0
        assert f"{n} rows of" in capsys.readouterr().out
    assert cli.main(["cluster", str(path), "--na", "--quiet"]) == 2
    assert "argument --na: expected one argument" in capsys.readouterr().err


# ---------------------------------------------------------------- Parquet with more than numbers and text


@pytest.fixture
def nested(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"y": [0.5, 1, 2.5, 4, 3, 2, 7, 1], "g": list("abababab")})
    frame["records"] = [{"a": i} for i in range(8)]
    frame["lists"] = [[i, 1] for i in range(8)]
    frame["price"] = [Decimal(i) / 4 for i in range(8)]
    frame.to_parquet(tmp_path / "f.parquet")
    return str(tmp_path / "f.parquet")


def test_nested_columns_matter_only_where_they_are_used(nested, capsys):
    words = ["--resamples", "9", "--drop", "price"]
    assert cli.main(["test", nested, "--group", "g", *words]) == 0
    assert "not used, because it holds lists or records: records, lists" in capsys.readouterr().err
    assert cli.main(["cluster", nested, "-k", "2", *words]) == 0
    assert cli.main(["disco", "y ~ g", nested, "--resamples", "9"]) == 0
    gower = ["--metric", "gower", "--drop", "price,records,lists", "--resamples", "9"]
    assert cli.main(["test", nested, "--group", "g", *gower]) == 0
    for command in (
        ["test", nested, "--group", "lists"],
        ["test", nested, "--group", "g", "--columns", "lists"],
        ["test", nested, "--group", "g", "--metric", "gower", *words],
        ["cluster", nested, "--id", "lists", *words],
        ["cluster", nested, "--where", "lists=3", *words],
        ["disco", "y ~ lists", nested],
        ["disco", "y ~ g", nested, "--strata", "records"],
    ):
        assert cli.main(command) == 2
        assert "must have one value a cell, and holds " in capsys.readouterr().err
    with pytest.raises(TypeError, match="column 'records' has a dict in one cell"):
        es.pairwise(pd.read_parquet(nested)[["y", "records"]], metric="gower")


def test_decimals_are_named(nested, capsys):
    for command in (["disco", "y ~ price"], ["disco", "price ~ g"]):
        assert cli.main([*command, nested]) == 2
        assert "column 'price' must hold numbers, and holds decimal values; store them as" in capsys.readouterr().err


def test_two_columns_of_one_name_in_parquet(tmp_path, capsys):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["y", "y"]), tmp_path / "f.parquet")
    assert cli.main(["cluster", str(tmp_path / "f.parquet")]) == 2
    assert "every column needs a name of its own, but 'y' is the name of several" in capsys.readouterr().err


def test_a_vector_in_lines_is_no_matrix(tmp_path, capsys):
    """R: write(as.vector(dist), ncolumns = 5)."""
    (tmp_path / "d.txt").write_text("".join("1.5 2 3 4 5\n" for _ in range(11)) + "1\n")
    assert cli.main(["euclidize", str(tmp_path / "d.txt"), "-o", str(tmp_path / "o.csv")]) == 2
    assert "numbers with blanks" in capsys.readouterr().err


def test_categories_that_are_numbers_stay_categories_in_parquet(tmp_path, capsys, monkeypatch):
    """Parquet keeps their numbers, and what was declared stands beside the data only."""
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    n = np.arange(24)
    frame = pd.DataFrame({"x": n * 7 % 24 / 10, "code": n % 3 * 2 + 1, "t": (n // 2 % 3 + 1).astype(str)})
    frame = frame.astype({"code": "category", "t": "category"})
    g = np.where(n % 2, "a", "b")
    frame.assign(g=g).to_parquet("c.parquet")
    words = ["c.parquet", "--resamples", "23", "--json"]
    assert cli.main(["test", *words, "--group", "g", "--metric", "gower"]) == 0
    expected = es.dispersion(frame, g, metric="gower")
    assert json.loads(capsys.readouterr().out)["test"]["between"] == pytest.approx(expected.between, rel=1e-9)
    assert cli.main(["disco", "x ~ code + t", *words]) == 0
    assert [term["df"] for term in json.loads(capsys.readouterr().out)["model"]["terms"]] == [2, 2]
    assert cli.main(["test", *words, "--group", "g"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"] == ["x"]
    frame[["x", "code"]].to_parquet("d.parquet")
    for metric in ("euclidean", "gower"):
        with pytest.raises(TypeError, match=r"declared categories when the file was written: 'code'"):
            es.dispersion("d.parquet", g, metric=metric)
    frame["code"] = frame["code"].cat.set_categories([5, 1, 3], ordered=True)
    frame.to_parquet("c.parquet")
    assert cli.main(["cluster", *words, "--metric", "gower"]) == 2
    assert "column 'code' was written as ordered categories that are numbers" in capsys.readouterr().err
    assert cli.main(["cluster", *words, "--metric", "gower", "--category", "code"]) == 0
    assert cli.main(["cluster", *words]) == 0


def test_groups_in_parquet_are_called_as_they_are_stored(tmp_path, capsys):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    gaps, text = [None, 1, 0, 1, 0, 1, 0, 1], [b"a", b"b"] * 4
    path = str(tmp_path / "f.parquet")
    pq.write_table(pa.table({"x": np.arange(8.0) ** 2, "h": pa.array(gaps), "g": pa.array(text)}), path)
    for name, labels in (("h", [0, 1]), ("g", ["a", "b"])):
        words = ["test", path, "--group", name, "--columns", "x", "--missing", "drop", "--resamples", "9", "--json"]
        assert cli.main(words) == 0
        found = json.loads(capsys.readouterr().out)["test"]["labels"]
        assert [str(label) for label in found] == list(map(str, labels))
    pq.write_table(pa.table({"x": np.arange(8.0) ** 2, "g": ["", "b"] * 4}), path)
    assert cli.main(["test", path, "--group", "g", "--resamples", "9"]) == 0
    assert "note: an empty text is a value of 'g', and no missing one." in capsys.readouterr().err


def test_empty_cells_of_text_are_missing_with_a_note(tmp_path, capsys, monkeypatch):
    """R's read.csv reads empty texts, a category of their own; with these in quotes T is that of cluster::daisy."""
    monkeypatch.chdir(tmp_path)
    rows = zip((1.5, 2, 9, 4, 7, 3), (2, 5, 1, 4, 3, 8), ("u", "", "v", "u", "", "v"), "ababab", strict=True)
    lines = [f"{x},{y},{t},{g}\n" for x, y, t, g in rows]
    Path("bare.csv").write_text("x,y,t,g\n" + "".join(lines))
    Path("quoted.csv").write_text("x,y,t,g\n" + "".join(line.replace(",,", ',"",') for line in lines))
    said = "note: empty cells are missing values, in t; R's read.csv makes empty texts"
    for file, total, noted in (("bare.csv", 1.174074, True), ("quoted.csv", 1.420106, False)):
        assert cli.main(["test", file, "--group", "g", "--metric", "gower", "--json", "--resamples", "9"]) == 0
        captured = capsys.readouterr()
        assert json.loads(captured.out)["test"]["total"] == pytest.approx(total, abs=5e-7)
        assert (said in captured.err) == noted
    assert cli.main(["test", "bare.csv", "--group", "g", "--columns", "x", "--json", "--resamples", "9"]) == 0
    assert said not in capsys.readouterr().err
    # numbers and truth values with gaps are missing to R, too
    for words in ("1,,2,1,,2", "TRUE,,FALSE,FALSE,TRUE,", "T,F,T,F,,"):
        Path("gaps.csv").write_text(
            "t,x\n" + "".join(f"{t},{x * x}\n" for t, x in zip(words.split(","), range(6), strict=True))
        )
        assert cli.main(["test", "gaps.csv", "--group", "t", "--missing", "drop", "--json", "--resamples", "9"]) == 0
        assert "R's read.csv" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("names", "named"),
    [
        (list("pqrstu"), "nm"),
        pytest.param([3, 11, 4, 25, 8, 31], None, marks=pytest.mark.slow),
        pytest.param(list("pqrstu"), None, marks=pytest.mark.slow),
        pytest.param([3, 11, 4, 25, 8, 31], "nm", marks=pytest.mark.slow),
    ],
)
def test_an_index_of_parquet_names_the_rows(tmp_path, capsys, monkeypatch, names, named):
    """One without a name was a column that is not numeric, or a measurement."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"x": [1.5, 2, 9, 8.5, 2.5, 7], "y": [1, 2.5, 3, 1, 2, 2]}, index=names).rename_axis(named)
    frame.to_parquet("t.parquet")
    frame.rename_axis(None).to_csv("t.csv")
    answers = []
    for file in ("t.csv", "t.parquet"):
        assert cli.main(["cluster", file, "--labels", "l.csv", "--resamples", "9", "--report", "out.html"]) == 0
        answers.append(Path("l.csv").read_text())
        assert "not used" not in capsys.readouterr().err
    assert answers[0] == answers[1]
    assert answers[0].startswith("row,name,cluster\n1,")
    code = re.search(r"<h3>Python</h3>\s*<pre>(.*?)</pre>", Path("out.html").read_text(), re.DOTALL)[1]
    exec(html.unescape(code), scope := {})
    assert scope["found"].labels.tolist() == pd.read_csv("l.csv")["cluster"].tolist()


def test_options_for_labels_know_the_index_of_parquet(tmp_path, capsys, monkeypatch):
    """As `energy_test(path, groups="g")` does; the other levels of the index are no columns for it."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"x": np.arange(12.0) ** 2, "g": list("aabb") * 3, "day": [1, 2, 3] * 4})
    frame.to_csv("t.csv", index=False)
    frame.set_index(["g", "day"]).to_parquet("t.parquet")
    answers = []
    for file, more in (("t.csv", ["--drop", "day"]), ("t.parquet", [])):
        words = ["test", file, "--group", "g", "--resamples", "9", "--json"]
        assert cli.main([*words, *more]) == 0
        answers.append(json.loads(capsys.readouterr().out)["test"])
    assert answers[0] == answers[1]
    assert cli.main(["disco", "x ~ C(g)", "t.parquet", "--strata", "day", "--resamples", "9"]) == 0
    capsys.readouterr()
    for words in (["cluster", "t.parquet", "--columns", "x,day"], ["disco", "x ~ day", "t.parquet"]):
        assert cli.main(words) == 2
        assert "'day' is the index of the table, which --id, --category" in capsys.readouterr().err
    assert cli.main(["cluster", "t.parquet", "--where", "g=a"]) == 2
    assert "'g' is the index of the table" in capsys.readouterr().err
    frame = pd.DataFrame({"x": [1.0, 2, 8, 9]})
    frame.rename_axis("case").to_parquet("counted.parquet")
    assert cli.main(["cluster", "counted.parquet", "--id", "case", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["partition"]["names"] == ["0", "1", "2", "3"]


def test_very_long_numbers_are_text(tmp_path):
    """Haplotypes, or a number that no double holds: neither is an error of Python."""
    rows = "".join(f"{i},{'01'[i % 2] * 401},{'9' * 5000 if i == 3 else i / 3}\n" for i in range(6))
    found = read(tmp_path, "x,h,y\n" + rows).frame
    assert found["x"].dtype.kind in "if"
    assert found["h"].tolist() == ["01"[i % 2] * 401 for i in range(6)]
    assert found["y"][3] == "9" * 5000


def test_empty_lines_of_one_column_are_refused_without_a_header_too(tmp_path):
    with pytest.raises(BadInputError, match="a line before line 3 is empty, which may be a missing value or nothing"):
        read(tmp_path, "1.5\n\n3.2\n4.1\n", header=False)
