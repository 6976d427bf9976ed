"""`energystats euclidize`: every layout of a square file, what is printed and written, and bad input in one line."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import squareform

import energystats as es
from energystats import cli
from energystats.display.numbers import number
from energystats.inputs.matrix_files import MatrixFile, cells_of_text, parse_cells
from tests.conftest import sweep


@pytest.fixture
def d(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return es.datasets.load("eurodist")


def files(tmp_path):
    return sorted(p.name for p in tmp_path.iterdir())


def numbered(d, labels):
    return pd.DataFrame(d.to_numpy(), labels, labels)


def r_table(d, file):
    """Write a matrix as R's `write.table(as.matrix(d), file, sep = ",")` does: no corner."""
    rows = ",".join(f'"{name}"' for name in d.columns) + "\n"
    for name, row in d.iterrows():
        rows += f'"{name}",' + ",".join(map(str, row)) + "\n"
    Path(file).write_text(rows)


YEARS = [str(1990 + i) for i in range(21)]
LAYOUTS = {  # how the file is made, names, how many cells of the first row and of the others are no data
    "names": (lambda d, f: d.to_csv(f), "cities", "city", 1),
    "empty corner": (lambda d, f: d.rename_axis(None).to_csv(f), "cities", "", 1),
    "byte order mark": (lambda d, f: d.to_csv(f, encoding="utf-8-sig"), "cities", "city", 1),
    "spaces and empty lines": (lambda d, f: Path(f).write_text(d.to_csv().replace(",", " , ") + "\n\n"),
                               "cities", "city", 1),
    "quoted": (lambda d, f: d.to_csv(f, quoting=csv.QUOTE_NONNUMERIC), "cities", "city", 1),
    "numbered rows": (lambda d, f: d.reset_index(drop=True).to_csv(f), "cities", "", 1),
    "unnamed": (lambda d, f: numbered(d, range(21)).to_csv(f), "0..", "", 1),
    "years": (lambda d, f: numbered(d, YEARS).to_csv(f), "years", "", 1),
    "years with a corner": (lambda d, f: numbered(d, YEARS).to_csv(f, index_label="year"), "years", "year", 1),
    "R write.table": (r_table, "cities", None, 1),
    "header": (lambda d, f: d.to_csv(f, index=False), "cities", "Athens", 0),
    "header of years": (lambda d, f: numbered(d, YEARS).to_csv(f, index=False), "years", "1990", 0),
    "none": (lambda d, f: np.savetxt(f, d.to_numpy(), delimiter=","), None, None, 0),
    "none, whole numbers": (lambda d, f: np.savetxt(f, d.to_numpy(), "%d", ","), None, None, 0),
}  # fmt: skip


@pytest.mark.parametrize("method", sweep(["lingoes", "cailliez"], ["cailliez"]))
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_comes_back_as_it_was(d, tmp_path, capsys, layout, method):
    make, names, corner, left = LAYOUTS[layout]
    make(d, "d.csv")
    assert cli.main(["euclidize", "d.csv", "--method", method, "-o", "out.csv"]) == 0
    given, written = (
        cells_of_text((tmp_path / "d.csv").read_text("utf-8-sig"))[0],
        cells_of_text((tmp_path / "out.csv").read_text("utf-8-sig"))[0],
    )
    assert [len(row) for row in written] == [len(row) for row in given]
    if names is not None:
        assert written[0] == given[0]
        assert left == 0 or [row[0] for row in written[1:]] == [row[0] for row in given[1:]]
        if corner is not None:
            assert written[0][0] == corner
    found = parse_cells(written)
    known = {None: None, "cities": list(d.columns), "years": YEARS, "0..": [str(i) for i in range(21)]}[names]
    assert (None if found.names is None else list(found.names)) == known
    repaired = getattr(es, method)(d)
    np.testing.assert_array_equal(found.distances, repaired.distances)  # the very doubles
    assert es.is_euclidean(found.distances)
    out = capsys.readouterr().out
    assert f"21 x 21 dissimilarities, {'no names' if names is None else 'names in the first row'}" in out
    line = next(li for li in out.splitlines() if "const" in li[:8])
    assert line.split() == ["constant", number(repaired.constant)]
    assert "0 (to rounding)" in out


def test_files_that_pandas_and_numpy_read_back(d, tmp_path):
    d.to_csv("d.csv")
    assert cli.main(["euclidize", "d.csv", "-o", "out.csv"]) == 0
    frame = pd.read_csv("out.csv", index_col=0)
    assert frame.index.tolist() == frame.columns.tolist() == list(d.columns)
    assert es.is_euclidean(frame, tol=1e-10)
    np.savetxt("d.csv", d.to_numpy(), delimiter=",")
    assert cli.main(["euclidize", "d.csv", "-o", "out.csv"]) == 0
    assert es.is_euclidean(np.loadtxt("out.csv", delimiter=","))


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp")), min_size=1, max_size=6)
VALUES = st.floats(min_value=0, max_value=1e100, allow_subnormal=False) | st.integers(0, 9).map(float)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data(), n=st.integers(3, 5), layout=st.sampled_from(["both", "header", "none"]))
def test_what_is_written_reads_back(tmp_path, data, n, layout):
    """Whatever the names: commas, quotes, numbers, words for missing values."""
    words = NAMES | st.sampled_from(["NA", "0", "1e5", "-3", "inf", ",", '"', ";", "a,b", "nan"])
    names = data.draw(st.lists(words, min_size=n, max_size=n, unique=True))
    upper = data.draw(st.lists(VALUES, min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2))
    matrix = squareform(upper)
    header = {"both": ("", *names), "header": tuple(names), "none": ()}[layout]
    stubs = tuple(names) if layout == "both" else ()
    file = MatrixFile(distances=matrix, names=tuple(names), layout=layout, header=header, stubs=stubs)
    file.write(tmp_path / "d.csv", matrix)
    back = parse_cells(cells_of_text((tmp_path / "d.csv").read_text("utf-8-sig"))[0])
    assert (back.layout, back.header, back.stubs) == (layout, header, stubs)
    assert back.names == (None if layout == "none" else tuple(names))
    np.testing.assert_array_equal(back.distances, matrix)


@pytest.mark.parametrize(("sep", "decimal"), [(";", ","), ("\t", ","), (";", "."), ("|", ".")])
@pytest.mark.parametrize("index", [True, False])
def test_the_output_is_written_as_the_input_is(d, capsys, sep, decimal, index):
    d = d * 1.001
    d.rename_axis(None).to_csv("d.csv", sep=sep, decimal=decimal, index=index)
    assert cli.main(["euclidize", "d.csv", "-o", "out.csv"]) == 0
    assert Path("out.csv").read_text().splitlines()[0] == Path("d.csv").read_text().splitlines()[0]
    found = pd.read_csv("out.csv", sep=sep, decimal=decimal, index_col=0 if index else None)
    np.testing.assert_array_equal(found.to_numpy(), es.lingoes(d).distances)
    assert cli.main(["euclidize", "out.csv", "-o", "again.csv"]) == 0
    assert Path("again.csv").read_text() == Path("out.csv").read_text()


def test_a_decimal_sign_that_the_input_does_not_tell_is_noted(d, capsys):
    d.to_csv("d.csv", sep=";")  # 3313.0 and the like, which show a point
    assert cli.main(["euclidize", "d.csv", "-o", "out.csv"]) == 0
    assert "written with a point" not in capsys.readouterr().err
    assert "." in Path("d.csv").read_text()
    d.astype(int).to_csv("d.csv", sep=";")
    assert cli.main(["euclidize", "d.csv", "-o", "out.csv"]) == 0
    assert "out.csv: decimals are written with a point; --decimal , writes a comma." in capsys.readouterr().err
    assert cli.main(["euclidize", "d.csv", "-o", "out.csv", "--decimal", ","]) == 0
    assert "written with a point" not in capsys.readouterr().err
    found = pd.read_csv("out.csv", sep=";", decimal=",", index_col=0)
    np.testing.assert_array_equal(found.to_numpy(), es.lingoes(d).distances)


def test_parquet_and_gzip(d, tmp_path):
    repaired = es.lingoes(d).distances
    with gzip.open("d.csv.gz", "wt") as file:
        file.write(d.to_csv())
    d.to_parquet("d.parquet")
    d.reset_index().to_parquet("column.parquet")
    d.reset_index(drop=True).to_parquet("header.parquet")
    for name in ("d.csv.gz", "d.parquet", "column.parquet", "header.parquet"):
        assert cli.main(["euclidize", name, "-o", "out.csv"]) == 0
        found = parse_cells(cells_of_text((tmp_path / "out.csv").read_text("utf-8-sig"))[0])
        np.testing.assert_array_equal(found.distances, repaired)
        assert found.names == tuple(d.columns)
        assert found.layout == ("header" if name == "header.parquet" else "both")


def test_euclidean_input_comes_back_unchanged(tmp_path, monkeypatch, capsys, rng):
    monkeypatch.chdir(tmp_path)
    given = es.pairwise(rng.standard_normal((9, 3)))
    np.savetxt("d.csv", given, fmt="%.17g", delimiter=",")
    assert cli.main(["euclidize", "d.csv", "-o", "out.csv", "--plot", "out.png"]) == 0
    np.testing.assert_array_equal(np.loadtxt("out.csv", delimiter=","), given)
    out = capsys.readouterr().out
    assert "The dissimilarities were Euclidean to rounding and come back unchanged." in out
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")


def test_tolerance_is_the_users(d, capsys):
    d.to_csv("d.csv")
    assert cli.main(["euclidize", "d.csv", "-o", "out.csv", "--tol", "0.2"]) == 0
    assert "come back unchanged" in capsys.readouterr().out
    assert cli.main(["euclidize", "d.csv", "-o", "out.csv", "--tol", "0.1"]) == 0
    assert "come back unchanged" not in capsys.readouterr().out


def with_entries(d, *entries, symmetric=True):
    bad = d.astype(object)
    for i, j, value in entries:
        bad.iloc[i, j] = value
        if symmetric:
            bad.iloc[j, i] = value
    return bad


BAD = {
    "asymmetric": (lambda d: with_entries(d, (3, 2, 9), symmetric=False),
                   "the matrix must be symmetric, but entry at line 4, column 5 (Brussels to Calais) is 204 and at line 5, "
                   "column 4 (Calais to Brussels) is 9, a difference of 195, the largest."),
    "negative": (lambda d: with_entries(d, (3, 2, -9.5), (5, 6, -1)),
                 "the matrix must not be negative, but entry at line 4, column 5 (Brussels to Calais) is -9.5, and 1 other pair is negative."),
    "NaN": (lambda d: with_entries(d, (3, 2, "NaN")),
            "has 2 empty or NaN cells, the first in entry at line 4, column 5 (Brussels to Calais)"),
    "empty": (lambda d: with_entries(d, (20, 2, ""), symmetric=False),
              "has 1 empty or NaN cells, the first in entry at line 22, column 4 (Vienna to Brussels)"),
    "text": (lambda d: with_entries(d, (4, 5, "far")),
             "every cell must be a number, but the one at line 6, column 7 (Cherbourg to Cologne) holds 'far'."),
    "comma": (lambda d: with_entries(d, (4, 5, "12,5")), "holds '12,5'; write decimals with a point."),
    "underscore": (lambda d: with_entries(d, (4, 5, "1_2")), "holds '1_2'."),
    "diagonal": (lambda d: with_entries(d, (3, 3, 1.0)),
                 "the matrix must have a zero diagonal, but entry at line 5, column 5 (Calais to Calais) is 1."),
    "infinite": (lambda d: with_entries(d, *((0, j, "inf") for j in range(1, 21))),
                 "no path connects these 2 components: {Athens}, {Barcelona, Brussels, Calais, Cherbourg, Cologne,"),
    "one infinite": (lambda d: with_entries(d, (0, 1, "Inf")), "but entry at line 2, column 3 (Athens to Barcelona) is inf."),
    "triangle": (lambda d: d.where(np.tril(np.ones((21, 21)), -1) > 0),
                 "the diagonal must be 0, but entry at line 2, column 2 (Athens to Athens) and all others on it are empty."),
    "too few rows": (lambda d: d.iloc[:5], "the matrix must be square, got 6 lines of 22 cells; n x n numbers, a line of n"),
    "other order": (lambda d: d.iloc[[1, 0, *range(2, 21)]],
                    "must have the same names in the same order, but line 2 is 'Barcelona' and column 2 is 'Athens'."),
    "same name": (lambda d: d.rename(index={"Rome": "Athens"}, columns={"Rome": "Athens"}),
                  "every item must have a name of its own, but 'Athens' stands there twice."),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_matrices_are_one_line(d, tmp_path, capsys, case):
    make, message = BAD[case]
    make(d).to_csv("d.csv")
    check_refused(["euclidize", "d.csv", "-o", "out.csv", "--plot", "out.png"], tmp_path, capsys, message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty."),
        ("\n\n", "the file is empty."),
        ("0,1\n1,0,5\n", "lines must have the same number of cells, but line 2 has 3 and others have 2."),
        ("0,1,2\n1,0,3\n2,3\n", "lines must have the same number of cells, but line 3 has 2 and others have 3."),
        ("0,1,2\n1,0,3\n", "the matrix must be square, got 2 lines of 3 cells"),
        ("0,x\nx,0\n", "every cell must be a number"),
        ("0,1,x\n1,0,2\nx,2,0\n", "the one at line 1, column 3 holds 'x'."),
        ("0,1,2\n1,0,3\n2,4,0\n", "entry at line 2, column 3 is 3 and at line 3, column 2 is 4"),
        ("a,b\n0,1\n2,0\n", "entry at line 2, column 2 (a to b) is 1 and at line 3, column 1 (b to a) is 2"),
        ("0,inf,1\ninf,0,inf\n1,inf,0\n", "no path connects these 2 components: {line 1, line 3}, {line 2}"),
        ('0,"1\n1,0\n', "cannot be read: unexpected end of data"),
        ("sepal,petal\n1,2\n3,4\n5,6\n", "the matrix must be square, got 4 lines of 2 cells"),
    ],
)
def test_bad_files_are_one_line(tmp_path, monkeypatch, capsys, text, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(text)
    check_refused(["euclidize", "d.csv", "-o", "out.csv"], tmp_path, capsys, message)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["d.csv"], "the following arguments are required: -o/--output"),
        (["d.csv", "-o", "out.csv", "--method", "cailiez"], "got 'cailiez'. Did you mean 'cailliez'?"),
        (["d.csv", "-o", "d.csv"], "d.csv: would overwrite the input."),
        (["d.csv", "-o", "none/out.csv"], "none/out.csv: there is no folder 'none'."),
        (["d.csv", "-o", "out.xlsx"], "the name of a matrix must end in .csv or .tsv or .txt."),
        (["d.csv", "-o", "out.csv", "--plot", "out.gif"], "the name of a picture must end in"),
        (["d.csv", "-o", "out.csv", "--tol", "0"], "--tol must be positive and finite, got 0."),
        (["none.csv", "-o", "out.csv"], "none.csv: no such file."),
        (["cut.csv.gz", "-o", "out.csv"], "cut.csv.gz: cannot be read:"),
        (
            ["latin.csv", "-o", "out.csv"],
            "latin.csv: is not UTF-8 text; name its encoding, such as --encoding latin-1.",
        ),
    ],
)
def test_bad_options_are_one_line(d, tmp_path, capsys, words, message):
    d.to_csv("d.csv")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(d.to_csv().encode())[:-20])
    (tmp_path / "latin.csv").write_bytes("ä,b\n0,1\n1,0\n".encode("latin-1"))
    check_refused(["euclidize", *words], tmp_path, capsys, message)


def check_refused(words, tmp_path, capsys, message):
    before = files(tmp_path)
    assert cli.main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert line.startswith("energystats: ")
    assert message in line
    assert files(tmp_path) == before


def test_interrupted_writing_leaves_nothing_and_keeps_the_old(d, tmp_path, monkeypatch, capsys):
    d.to_csv("d.csv")
    (tmp_path / "out.csv").write_text("old\n")

    class Failing:
        def __init__(self, file, **_):
            self.file = file

        def writerow(self, row):
            self.file.write("half a line")
            raise OSError("disk full")

    monkeypatch.setattr(csv, "writer", Failing)
    assert cli.main(["euclidize", "d.csv", "-o", "out.csv"]) == 2
    assert "out.csv: cannot be written: disk full" in capsys.readouterr().err
    assert files(tmp_path) == ["d.csv", "out.csv"]
    assert (tmp_path / "out.csv").read_text() == "old\n"


def test_messages_of_the_library_name_rows_of_frames(d):
    bad = d.copy()
    bad.loc["Rome", "Athens"] = 8
    with pytest.raises(
        ValueError, match=r"entry \(0, 18\) from Athens to Rome is 817 and \(18, 0\) from Rome to Athens is 8,"
    ):
        es.lingoes(bad)
    bad.loc["Athens", "Rome"] = -1
    bad.loc["Rome", "Athens"] = -1
    with pytest.raises(ValueError, match=r"`d` must not be negative, but entry \(0, 18\) from Athens to Rome is -1\."):
        es.cailliez(bad)
    bad.loc["Rome", "Athens"] = np.nan
    with pytest.raises(ValueError, match=r"1 NaN values, the first in entry \(18, 0\) from Rome to Athens;"):
        es.is_euclidean(bad)
    alone = d.copy()
    alone.loc["Athens", "Barcelona":] = np.inf
    alone.loc["Barcelona":, "Athens"] = np.inf
    with pytest.raises(ValueError, match=r"no path connects these 2 components: \{Athens\}, \{Barcelona, Brussels,"):
        es.negative_type(alone)
    with pytest.raises(ValueError, match=r"row 0 is 'Barcelona' and column 0 is 'Athens'"):
        es.energy_cluster(d.iloc[[1, 0, *range(2, 21)]], 2, metric="precomputed")


def test_comments_in_a_matrix_and_the_lines_of_its_file():
    """Behind cells too, as in a table; errors count the lines of the file."""
    text = '# a lake\n"a # b",c,d # names\n0,1,2\n\n1,0,3 # deep\n2,3,0\n'
    cells, lines = cells_of_text(text, comment="#")
    assert lines == [2, 3, 5, 6]
    found = parse_cells(cells, lines=lines)
    assert found.names == ("a # b", "c", "d")
    assert found.distances.tolist() == [[0, 1, 2], [1, 0, 3], [2, 3, 0]]
    for wrong, message in (
        ("1,0,x", r"at line 5, column 3 \(c to d\) holds 'x'"),
        ("1,0", "but line 5 has 2 and others have 3"),
    ):
        cells, lines = cells_of_text(text.replace("1,0,3", wrong), comment="#")
        with pytest.raises(ValueError, match=message):
            parse_cells(cells, lines=lines)
