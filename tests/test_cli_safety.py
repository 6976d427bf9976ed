"""Hostile names and files: nothing reaches the terminal that it obeys, and outputs keep what was there before."""

import contextlib
import csv
import errno
import io
import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from energystats import _runtime, cli, datasets
from energystats.cli.console import Console
from energystats.cli.errors import BadInputError
from energystats.cli.files import _is_formula, save
from energystats.report import pictures

NASTY = "a\x1b]0;owned\x07\x1b[31m\x9b2J\u202eb\r\u2066"
OBEYED = set("\x1b\x07\x9b\r\u202e\u2066")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def nasty_table(n=24):
    x = np.round(np.r_[np.arange(n // 2) / 7, 5 + np.arange(n // 2) / 9], 3)
    return pd.DataFrame({NASTY: x, "x": x[::-1] ** 2, NASTY + "g": [NASTY + "1", NASTY + "2"] * (n // 2)})


COMMANDS = [
    ["cluster", "f.csv", "--plot", "out.png", "--report", "out.html", "--labels", "labels.csv", "--resamples", "19"],
    ["cluster", "f.csv", "--metric", "gower"],
    ["cluster", "f.csv", "--id", NASTY + "g", "--labels", NASTY + ".csv", "--resamples", "19"],
    ["cluster", "f.csv", "--columns", NASTY + "g"],
    ["cluster", "f.csv", "--where", NASTY + "g=0"],
    ["cluster", NASTY + ".csv"],
    ["cluster", "f.csv", NASTY],
    ["cluster", "f.csv", "--metric", NASTY],
    ["test", "f.csv", "--group", NASTY + "g", "--plot", "out.png", "--resamples", "19"],
    ["test", "f.csv", "--group", "none"],
    ["disco", "x ~ `" + NASTY + "`", "f.csv", "--resamples", "19"],
    ["euclidize", "d.csv", "-o", "out.csv", "--plot", "out.png"],
    [NASTY],
]


@pytest.mark.parametrize("words", COMMANDS, ids=range(len(COMMANDS)))
@pytest.mark.parametrize("more", [[], pytest.param(["--json"], marks=pytest.mark.slow)], ids=["text", "json"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_names_are_never_obeyed(folder, capsys, monkeypatch, words, more):
    """Control characters, C1 included, and marks that turn the direction of writing."""
    if not more:  # with them in --json
        monkeypatch.setattr(pictures, "draw_picture", lambda draw: pictures.Picture("data:image/png;base64,", 640))
    nasty_table().to_csv("f.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    towns = datasets.load("eurodist")
    names = [NASTY + name for name in towns.columns]
    pd.DataFrame(towns.to_numpy(), names, names).to_csv("d.csv", quoting=csv.QUOTE_NONNUMERIC)
    status = cli.main([*words, *more])
    captured = capsys.readouterr()
    assert status == (0 if COMMANDS.index(words) in (0, 1, 2, 8, 10, 11) else 2)
    assert not OBEYED & set(captured.out + captured.err)
    if status == 0 and more:
        json.loads(captured.out)
    for page in folder.glob("*.html"):
        assert not OBEYED & set(page.read_text(encoding="utf-8"))


def test_json_holds_the_names_as_they_are(folder, capsys):
    nasty_table().to_csv("f.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    assert cli.main(["cluster", "f.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"][0] == NASTY


def test_names_are_written_out_in_one_way(folder, capsys):
    """In the line of the groups, in the sizes and in tables; a joiner of letters is part of a word."""
    groups = ["\x1b[31mred", "b\x85", "\u0645\u06cc\u200c\u0631\u0648\u062f"] * 4
    pd.DataFrame({"x": [float(i * i) for i in range(12)], "g": groups}).to_csv("f.csv", index=False)
    assert cli.main(["test", "f.csv", "--group", "g", "--resamples", "9"]) == 0
    out = capsys.readouterr().out
    line, sizes = (next(text for text in out.splitlines() if text.startswith(s)) for s in ("Groups of g", "sizes of g"))
    for name in (r"\x1b[31mred", groups[2]):
        assert name in line
        assert f"{name}: 4" in sizes


def test_warnings_of_other_packages_are_printable(monkeypatch):
    shown = []
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: shown.append(str(message)))
    with Console().noting_warnings():
        warnings.simplefilter("always")
        warnings.warn(f"from {NASTY}", RuntimeWarning, stacklevel=1)
    assert shown[0].startswith(r"from a\x1b]0;owned")
    assert not OBEYED & set(shown[0])


def test_formulas_of_spreadsheets(folder, capsys):
    """Written as they are, with a note, or with an apostrophe where that was asked for."""
    frame = nasty_table().iloc[:, 1:2].assign(who=["=cmd|' /C calc'!A0", "-3", "@x", *[f"n{i}" for i in range(21)]])
    frame.to_csv("f.csv", index=False)
    words = ["cluster", "f.csv", "--id", "who", "--labels", "out.csv", "--resamples", "9"]
    assert cli.main(words) == 0
    assert "note: out.csv: names that begin with = + - or @ are written as they are" in capsys.readouterr().err
    assert pd.read_csv("out.csv")["who"].tolist() == frame["who"].tolist()
    assert cli.main([*words, "--spreadsheet-safe"]) == 0
    assert "spreadsheet" not in capsys.readouterr().err
    assert pd.read_csv("out.csv")["who"].tolist()[:4] == ["'=cmd|' /C calc'!A0", "-3", "'@x", "n0"]
    names = ["=1+1", *datasets.load("eurodist").columns[1:]]
    pd.DataFrame(datasets.load("eurodist").to_numpy(), names, names).to_csv("d.csv", quoting=csv.QUOTE_NONNUMERIC)
    assert cli.main(["euclidize", "d.csv", "-o", "e.csv", "--spreadsheet-safe"]) == 0
    written = pd.read_csv("e.csv", index_col=0)
    assert written.columns[0] == written.index[0] == "'=1+1"
    assert list(map(_is_formula, ("-", " =1", "\t=1", "\n=1", "+a"))) == [True] * 5
    assert list(map(_is_formula, ("-1.5", "+2e3", "a=1", "", "\t1"))) == [False] * 5


def write(text):
    return lambda partial: partial.write_text(text)


@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077])
def test_new_files_get_the_permissions_of_new_files(folder, umask):
    before = os.umask(umask)
    try:
        save(folder / "new.csv", write("x"), Console(quiet=True))
        assert os.umask(umask) == umask  # saving leaves it as it was
    finally:
        os.umask(before)
    assert stat.S_IMODE((folder / "new.csv").stat().st_mode) == 0o666 & ~umask


def test_a_file_that_is_replaced_keeps_its_permissions_and_links_stay(folder):
    old = folder / "old.csv"
    old.write_text("older")
    old.chmod(0o604)
    (folder / "sub").mkdir()
    link, hanging = folder / "sub" / "link.csv", folder / "hanging.csv"
    link.symlink_to("../old.csv")
    hanging.symlink_to("sub/new.csv")
    for path in (old, link, hanging):
        save(path, write(path.name), Console(quiet=True))
    assert link.is_symlink()
    assert hanging.is_symlink()
    assert old.read_text() == "link.csv"
    assert stat.S_IMODE(old.stat().st_mode) == 0o604
    assert (folder / "sub" / "new.csv").read_text() == "hanging.csv"
    assert sorted(p.name for p in folder.rglob("*")) == ["hanging.csv", "link.csv", "new.csv", "old.csv", "sub"]


def test_links_that_lead_nowhere_good_are_one_line(folder, capsys):
    nasty_table().to_csv("f.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    Path("loop.csv").symlink_to("loop2.csv")
    Path("loop2.csv").symlink_to("loop.csv")
    Path("input.csv").symlink_to("f.csv")
    Path("null.csv").symlink_to("/dev/null")
    Path("far.csv").symlink_to("nowhere/far.csv")
    os.link("f.csv", "hard.csv")
    before = Path("f.csv").read_bytes()
    for words, message in (
        (["loop.csv"], "loop.csv: cannot be read: Too many levels of symbolic links"),
        (["f.csv", "--labels", "loop.csv"], "loop.csv: cannot be written: its links lead in a circle."),
        (["f.csv", "--labels", "input.csv"], "input.csv: would overwrite the input."),
        (["input.csv", "--labels", "f.csv"], "f.csv: would overwrite the input."),
        (["f.csv", "--labels", "hard.csv"], "hard.csv: would overwrite the input."),
        (["f.csv", "--labels", "null.csv"], "null.csv: cannot be written: it is there and no ordinary file."),
        (
            ["f.csv", "--labels", "far.csv"],
            f"far.csv: there is no folder {str(folder / 'nowhere')!r}, into which this link leads.",
        ),
        (["f.csv", "--labels", "nowhere/far.csv"], "nowhere/far.csv: there is no folder 'nowhere'."),
    ):
        assert cli.main(["cluster", *words]) == 2
        (line,) = [t for t in capsys.readouterr().err.splitlines() if not t.startswith("note:")]
        assert message in line
    assert Path("f.csv").read_bytes() == before
    assert Path("/dev/null").is_char_device()


def test_two_outputs_are_two_files(folder, capsys):
    nasty_table().to_csv("f.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    Path("out.png").symlink_to("out.csv")
    assert cli.main(["cluster", "f.csv", "--labels", "out.csv", "--plot", "out.png"]) == 2
    assert "would overwrite out.png" in capsys.readouterr().err


SLOW = textwrap.dedent("""
    import sys, time
    from energystats import cli
    import energystats.cli.files
    def draw(path, *_, **__):
        path.write_bytes(b"half")
        print("writing", flush=True)
        time.sleep(60)
    energystats.cli.files._draw = draw
    sys.exit(cli.main(["cluster", "f.csv", "-k", "1", "--quiet", "--plot", "out.png"]))
""")


@pytest.mark.slow  # a program, which ends by the signal
def test_sigterm_leaves_no_temporary_file(folder):
    """Status 143, one line, and the older file as it was."""
    nasty_table().to_csv("f.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    (folder / "out.png").write_bytes(b"older")
    before = sorted(p.name for p in folder.iterdir())
    process = subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        assert len(list(folder.iterdir())) == len(before) + 1
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=60)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    assert process.returncode == 143, error
    assert error == b"energystats: terminated.\n"
    assert sorted(p.name for p in folder.iterdir()) == before
    assert (folder / "out.png").read_bytes() == b"older"


def test_sigterm_is_held_back_where_ctrl_c_is():
    from energystats._core.interrupts import uninterrupted
    from energystats.cli.endings import TerminatedError, answering_signals

    done = []
    before = signal.getsignal(signal.SIGTERM)

    def work():
        with answering_signals(), uninterrupted():
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.01)
            done.append("the block ended")

    with pytest.raises(TerminatedError):
        work()
    assert done == ["the block ended"]
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_pipe_is_read_once(folder, capsys):
    """As `energystats cluster <(zcat f.csv.gz)` does."""
    import threading

    content = nasty_table().to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC)
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_text(content))
    writer.start()
    assert cli.main(["cluster", "pipe", "--json"]) == 0
    writer.join()
    assert json.loads(capsys.readouterr().out, parse_constant=pytest.fail)["n"] == 24


WORDS = ["test", "f.csv", "--group", "g", "--resamples", "9"]


def letters(folder):
    """A file whose groups not every encoding has."""
    (folder / "f.csv").write_text("x,g\n1.5,\u00e9\n2.5,\u00e9\n3.1,\u00fc\n4.7,\u65e5\n", encoding="utf-8")


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "ascii"])
def test_labels_that_standard_output_cannot_encode_are_written_out(folder, monkeypatch, encoding):
    letters(folder)
    for more in ([], ["--json"]):
        out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        monkeypatch.setattr(sys, "stdout", out)
        assert cli.main([*WORDS, *more]) == 0
        text = out.buffer.getvalue().decode(encoding)
        if more:
            assert json.loads(text)["test"]["labels"] == ["\u00e9", "\u00fc", "\u65e5"]
        else:
            assert r"\u65e5" in text
            assert (r"\xe9" if encoding == "ascii" else "\u00e9") in text


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize("full", [True, False], ids=["full", "closed"])
def test_output_that_nobody_takes_is_one_line_and_files_are_written(folder, capsys, monkeypatch, more, full):
    letters(folder)
    with Path("/dev/full").open("w", encoding="utf-8") as device:
        monkeypatch.setattr(sys, "stdout", device if full else None)
        assert cli.main([*WORDS, *more, "--plot", "out.png"]) == 2
    why = "No space left on device" if full else "it is closed"
    said = f"energystats: standard output cannot be written: {why}; these files were written: out.png.\n"
    assert capsys.readouterr().err == said
    assert (folder / "out.png").stat().st_size > 0
    assert cli.main([*WORDS, "--quiet"]) == 0  # which writes nothing there


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("words", [["--help"], ["--version"], ["test", "--help"]])
def test_help_that_nobody_takes_is_one_line(capsys, monkeypatch, words):
    with Path("/dev/full").open("w", encoding="utf-8") as device:
        monkeypatch.setattr(sys, "stdout", device)
        assert cli.main(words) == 2
    assert capsys.readouterr().err == "energystats: standard output cannot be written: No space left on device.\n"


def test_notes_and_errors_that_nobody_takes_go_nowhere(folder, capsys, monkeypatch):
    """Not into the JSON on standard output, where `print` would put them."""
    letters(folder)
    (folder / "f.csv").write_text((folder / "f.csv").read_text("utf-8").replace(",", ";"), "utf-8")

    class Full(io.StringIO):
        def write(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

    for stream in (None, Full()):
        monkeypatch.setattr(sys, "stderr", stream)
        assert cli.main([*WORDS, "--json"]) == 0
        assert "columns are separated by semicolons" in json.loads(capsys.readouterr().out)["warnings"][0]
        assert cli.main(["test", "none.csv", "--group", "g"]) == 2
        assert capsys.readouterr().out == ""


@pytest.mark.parametrize("words", [["test", "-", "--group", "g"], ["euclidize", "-", "-o", "out.csv"]])
def test_closed_standard_input_is_one_line(folder, capsys, monkeypatch, words):
    monkeypatch.setattr(sys, "stdin", None)
    assert cli.main(words) == 2
    assert capsys.readouterr().err.startswith("energystats: -: standard input is closed; name a file")


WHILE_IMPORTING = textwrap.dedent("""
    import os, signal, sys
    class Signaller:
        def find_spec(self, name, *_):
            if name == "{module}":
                os.kill(os.getpid(), signal.{name})
    sys.meta_path.insert(0, Signaller())
    from energystats import cli
    sys.exit(cli.main(["cluster", "f.csv", "--quiet"]))
""")


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("scipy.spatial", "SIGINT"),
        pytest.param("scipy.linalg", "SIGTERM", marks=pytest.mark.slow),
        pytest.param("pandas", "SIGINT", marks=pytest.mark.slow),  # later than the other ones
    ],
)
def test_signals_while_modules_are_imported_are_one_line(folder, module, name):
    letters(folder)
    code = WHILE_IMPORTING.format(module=module, name=name)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    line, status = {"SIGINT": ("interrupted", 130), "SIGTERM": ("terminated", 143)}[name]
    assert done.stderr == f"energystats: {line}.\n"
    assert done.returncode == status


@pytest.mark.parametrize("error", [TypeError("expected a message argument"), BadInputError("needs pyarrow")])
def test_an_error_that_came_of_ctrl_c_is_none(capsys, monkeypatch, error):
    """As imports and compiled code make of a KeyboardInterrupt; without it the error is shown."""

    def interrupt():
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        raise error

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr("energystats.cli.program.make_parser", interrupt)
    assert cli.main(["demo"]) == 130
    assert capsys.readouterr().err == "energystats: interrupted.\n"
    assert signal.getsignal(signal.SIGINT) == before


def test_names_of_columns_stay_on_one_line(tmp_path, capsys):
    (tmp_path / "lines.csv").write_text('g,"x\ny",z\nA,1,2\nA,2,4\nB,7,5\nB,5,9\n')
    assert cli.main(["test", str(tmp_path / "lines.csv"), "--group", "g", "--resamples", "99"]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith(r"columns x\ny, z.")


def test_a_table_beyond_memory_is_refused_before_its_cells_are_read(tmp_path, monkeypatch, capsys):
    """A file of 1.6 GB with two digits a row needed 38 GB, and was killed without a word."""
    path = tmp_path / "digits.csv"
    path.write_text("a,b\n" + "1,2\n" * 400_000)
    monkeypatch.setattr(_runtime, "available_memory", lambda: 20e6)
    assert cli.main(["cluster", str(path), "-k", "1"]) == 2
    error = capsys.readouterr().err
    assert "400,000 rows" in error
    assert "--rows" in error
    assert error.count("\n") == 1
    monkeypatch.undo()
    assert cli.main(["cluster", str(path), "-k", "1", "--rows", "1:30"]) == 0


def test_memory_that_runs_out_is_told_in_words(tmp_path, monkeypatch, capsys):
    """Python's own error has no text, and the line ended after the name of the file."""
    (tmp_path / "f.csv").write_text("x,y\n1,2\n3,4\n")

    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("energystats.cli.csv_reader.Scan", fail)
    assert cli.main(["cluster", str(tmp_path / "f.csv"), "-k", "2"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "f.csv: there is not enough memory; --rows" in line


def test_options_with_values_are_named_as_on_the_command_line(tmp_path, capsys):
    (tmp_path / "few.csv").write_text("a,b\n" + "1,2\n4,3\n5,9\n" * 3)
    assert cli.main(["cluster", str(tmp_path / "few.csv"), "--select", "significance"]) == 2
    assert "--select significance needs at least 20 points, got 9." in capsys.readouterr().err
