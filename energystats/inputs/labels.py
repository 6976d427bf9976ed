"""Labels of points in every form that users have them, and the mark of labels that a clustering found."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from energystats._typing import AnyArray, IntArray
from energystats.exceptions import MissingValuesWarning, warn
from energystats.inputs.table import InputTable, as_table, masked_in, match_rows

__all__ = [
    "NOISE",
    "WORDS_AS_GAPS",
    "as_clusters",
    "as_labels",
    "find_alike",
    "find_alike_but_for_rounding",
    "is_single",
    "mark_found",
    "normalize_name",
    "note_on_sums",
    "notes_on_names",
    "position_of",
    "read_inputs",
    "read_labels",
    "were_found",
    "write_codes",
]


NOISE = -1  # label of points in no cluster
WEIGHTS = ("sample_weight",)  # arguments that hold numbers, not labels
FOUND = "energystats: found from data"  # key among the attributes of a Series of labels
ROUNDING = 1e-14  # of two labels that are numbers: those of R's factor() agree in 15 digits
MISSING_AS_TEXT = ("nan", "NaN", "NaT", "None", "<NA>")  # how Python, NumPy and pandas print a missing value
NAMES_OF_SUMS = ("total", "totals", "grand total", "subtotal", "sum")  # how tables call their last row
WORDS_AS_GAPS = " `pandas.read_csv` takes words such as None for missing; keep_default_na=False keeps them."
UNSEEN = ("Cc", "Cf")  # control characters, and those without a width
# Cyrillic and Greek letters and hyphens, and the Latin letters and the minus sign that look like them
LOOK_ALIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТХУаеіјорсухѕԁһԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧο\u2010\u2011\u2212",  # noqa: RUF001
    "ABESIJKMHOPCTXYaeijopcyxsdhqwABEZHIKMNOPTYXo---",
)


def mark_found(labels: Any) -> None:
    """Mark a Series of labels as found by clustering, in a way that survives copies and selections."""
    labels.attrs[FOUND] = True


def were_found(labels: Any) -> bool:
    """Return whether labels come from clustering, judged by their type or mark.

    A bare array tells nothing of where it came from.
    """
    partition = hasattr(labels, "to_series") and isinstance(getattr(labels, "labels", None), np.ndarray)
    return partition or hasattr(labels, "labels_") or bool(getattr(labels, "attrs", {}).get(FOUND))


def read_labels(labels: Any, name: str) -> InputTable:
    """Convert labels of any library, a clustering result or a fitted clusterer to an `InputTable`."""
    if isinstance(labels, InputTable) or hasattr(labels, "__dask_graph__"):
        return as_table(labels)
    found, given = were_found(labels), labels
    whose = "index" if hasattr(labels, "to_series") else "index_" if hasattr(labels, "index_") else ""
    if hasattr(labels, "labels_"):
        given = labels.labels_
        if isinstance(given, np.ndarray) and given.dtype.kind == "i" and (given < NOISE).any():
            given = np.maximum(given, NOISE)  # HDBSCAN has kinds of points in no cluster
        if getattr(labels, "index_", None) is not None:
            given = _name_rows(given, labels.index_)
    elif found and hasattr(labels, "to_series"):
        given = labels.labels if labels.index is None else labels.to_series()
    elif hasattr(labels, "fit_predict") and not isinstance(labels, type):
        what = "that is not fitted"
        if _is_fitted(labels):
            how = "predict" if hasattr(labels, "predict") else "fit_predict"
            what = f"that keeps no labels: give those of `.{how}(X)`, which are groups found from data"
        raise TypeError(
            f"`{name}` must be one label a row, got {type(labels).__name__} {what}; to ask whether the "
            "clusters it finds are there, pass it to `cluster_test(X, clusterer=...)`."
        )
    read = as_table(given)
    return replace(read, found=True, of_result=whose) if found else read


def _name_rows(labels: AnyArray, index: Any) -> Any:
    """Return labels as a Series with the names of their rows."""
    import pandas as pd

    return pd.Series(labels, index=index)


def _is_fitted(clusterer: Any) -> bool:
    """Return whether a scikit-learn clusterer, or a pipeline that ends in one, is fitted."""
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(clusterer)
    except (NotFittedError, TypeError):  # or nothing that is fitted
        return False
    return True


def read_inputs(tables: Sequence[Any], columns: Mapping[str, Any]) -> tuple[tuple[Any, ...], list[Any]]:
    """Convert data tables, labels and weights to `InputTable` objects, and check that their row names match.

    None stays None, and a text, which names a column or an option, stays a text.
    """
    if len(tables) > 1 and columns.get("groups") is not None:
        raise ValueError(f"`groups` goes with one pooled table, got {len(tables)} samples.")
    found: dict[str, Any] = {}
    for name, given in columns.items():
        if name == "groups" and isinstance(given, str):
            as_labels(given, 0, name)  # before the table is refused, which has the column
        if given is None or isinstance(given, str):
            found[name] = given
        else:
            # a clustering result stands for its labels, but never for weights
            found[name] = as_table(given) if name in WEIGHTS else read_labels(given, name)
    read = tuple([as_table(table) for table in tables])
    match_rows(read, {name: column for name, column in found.items() if isinstance(column, InputTable)})
    return read, list(found.values())


def as_labels(labels: Any, n: int, name: str) -> tuple[IntArray, tuple[Any, ...]]:
    """Code group labels as 0..k-1, and return codes and sorted names."""
    import pandas as pd

    labels = read_labels(labels, name).values
    if isinstance(labels, pd.DataFrame) and labels.shape[1] == 1:
        labels = labels.iloc[:, 0]  # so that a categorical keeps its order
    if is_single(labels):
        hint = "labels found from the same data belong to `cluster_test`"
        if isinstance(labels, str):
            hint = f"give the column itself, such as `data[{labels!r}]`"
        elif hasattr(labels, "best_estimator_"):
            hint = "give its `.best_estimator_`"
        raise TypeError(f"`{name}` must be one label a row, got {type(labels).__name__}; {hint}.")
    masked = int(np.ma.getmaskarray(labels).sum()) if isinstance(labels, np.ma.MaskedArray) else 0
    if masked:
        raise ValueError(f"`{name}` must not be missing, but {masked} of {labels.size} labels are masked.")
    if isinstance(getattr(labels, "dtype", None), pd.CategoricalDtype):
        categories = pd.Categorical(labels).remove_unused_categories()
        codes, names = np.asarray(categories.codes), list(categories.categories)
        missing = codes < 0
    else:
        array = _label_array(labels, name)
        missing = np.asarray(pd.isna(array)) | masked_in(array)
        known = array[~missing]
        codes, names = _coded_objects(known.tolist(), name) if array.dtype == object else _coded_values(known)
        if array.dtype.kind == "U":
            _warn_of_missing_as_text(codes, names, name)
    if names and isinstance(names[-1], float):
        _check_digits(names, name)
    # codes are those of the known labels, so their number says nothing where some are missing
    if len(codes) != n and not missing.any():
        raise ValueError(f"`{name}` must have one label for each of the {n} rows, got {len(codes)}.")
    if missing.any():
        hint = WORDS_AS_GAPS if any(isinstance(label, str) for label in names) else ""
        raise ValueError(f"`{name}` must not be missing, but {int(missing.sum())} of {missing.size} labels are.{hint}")
    return np.asarray(codes, dtype=np.intp), tuple(names)


def as_clusters(labels: Any, n: int, name: str) -> tuple[IntArray, tuple[Any, ...]]:
    """Code cluster labels as 0, 1, ..., and return codes and names; the label -1, for no cluster, stays -1."""
    codes, names = as_labels(labels, n, name)
    if NOISE not in names:
        return codes, names
    if len(names) == 1:
        raise ValueError(f"`{name}` must have at least one cluster, but all {n} points are in none (label -1).")
    at = names.index(NOISE)
    clusters = np.where(codes == at, NOISE, codes - (codes > at)).astype(np.intp)
    return clusters, (*names[:at], *names[at + 1 :])


def _check_digits(names: Sequence[Any], name: str) -> None:
    """Raise ValueError if labels are numbers that differ only by rounding, such as 0.3 and .1 + .2."""
    found = find_alike_but_for_rounding([label for label in names if isinstance(label, float)])
    if found is not None:
        raise ValueError(
            f"`{name}` has labels that differ by rounding alone, {found[0]!r} and {found[1]!r}; round them first, as "
            f"by np.round(..., {6 if found[1] - found[0] > ROUNDING * abs(found[1]) else 12})."
        )


def find_alike_but_for_rounding(numbers: Sequence[float]) -> tuple[float, float] | None:
    """Find two labels that are fractions equal in 14 digits but not exactly, or but for one's rounding to float32.

    None if there are none.
    """
    ordered = np.sort([number for number in numbers if number != np.rint(number)])
    gaps = np.diff(ordered)
    with np.errstate(over="ignore"):
        single = ordered.astype(np.float32)
    # float32 writes 0.1 for the label that is 0.10000000149011612 as a double
    decimals = np.where(single == ordered, [float(str(label)) for label in single], ordered)
    rounded = (decimals[:-1] == ordered[1:]) | (decimals[1:] == ordered[:-1])
    near = (gaps > 0) & ((gaps <= ROUNDING * np.abs(ordered[1:])) | rounded)
    i = int(near.argmax()) if near.any() else -1
    return None if i < 0 else (float(ordered[i]), float(ordered[i + 1]))


def _warn_of_missing_as_text(codes: IntArray, names: Sequence[str], name: str) -> None:
    """Warn of a text label such as 'nan', which NumPy makes of a missing value."""
    for word in MISSING_AS_TEXT:
        if word in names:
            count = int((codes == names.index(word)).sum())
            warn(
                f"`{name}` has the text {word!r} in {count} of {codes.size} rows, which is taken for a label: NumPy "
                "makes text of a missing value among words. If it stands for one, leave those rows out, or give a list "
                "or a Series, in which a missing value stays missing.",
                MissingValuesWarning,
            )


def notes_on_names(names: Sequence[Any], one: str = "group", several: str = "groups") -> tuple[str, ...]:
    """Return notes on group names that look alike, look like missing values, or are words such as "total"."""
    notes = []
    alike = find_alike(names, normalize_name)
    if alike is not None:
        first, second = alike
        notes.append(
            f"The {several} {first!r} and {second!r} print alike and are two: they differ in characters that are not "
            f"seen, or look the same: {write_codes(first)} and {write_codes(second)}. Write them alike if they are one."
        )
    words = [name for name in names if isinstance(name, str) and name in MISSING_AS_TEXT]
    if words:
        notes.append(
            f"A {one} is called {words[0]!r}, which is how a missing value is printed; if it stands for one, leave its "
            "rows out."
        )
    sums = [name for name in names if isinstance(name, str) and name.casefold() in NAMES_OF_SUMS]
    if sums:
        notes.append(f"A {one} is called {sums[0]!r}; if its rows are sums of other rows, leave them out.")
    return tuple(notes)


def note_on_sums(names: Any) -> tuple[str, ...]:
    """Return a note, in a tuple, if a row is named "total" or the like, as sums of rows are; else an empty tuple."""
    if names is None or getattr(getattr(names, "dtype", None), "kind", "O") not in "OU":
        return ()
    found = next((name for name in names if isinstance(name, str) and name.casefold() in NAMES_OF_SUMS), None)
    return () if found is None else (f"A row is called {found!r}; if it is a sum of other rows, leave it out.",)


def find_alike(names: Sequence[Any], meaning: Callable[[str], Any]) -> tuple[str, str] | None:
    """Find two different texts among names to which a given function gives the same value; None if there are none."""
    first: dict[Any, str] = {}
    for name in names:
        if isinstance(name, str) and (found := meaning(name)) is not None and first.setdefault(found, name) != name:
            return first[found], name
    return None


def normalize_name(name: str) -> str:
    """Return a name as it looks in print: composed accents, single blanks, no invisible characters, Latin letters."""
    seen = "".join(c for c in name if c.isspace() or unicodedata.category(c) not in UNSEEN)
    return unicodedata.normalize("NFC", " ".join(seen.split())).translate(LOOK_ALIKE)


def write_codes(name: str) -> str:
    """Format a name with escape codes for non-ASCII characters and repeated blanks."""
    return ascii(name).replace("  ", "\\x20\\x20")


def is_single(labels: object) -> bool:
    """Return whether an object is a number, text, set, dict or iterator, and so no sequence of labels."""
    unordered = isinstance(labels, str | bytes | set | frozenset | dict) or not hasattr(labels, "__len__")
    return unordered or getattr(labels, "ndim", 1) == 0


def _label_array(labels: Any, name: str) -> AnyArray:
    r"""Convert labels to an array without converting their types, also for mixed lists.

    So 1 and "1" stay two labels, as do "a" and "a\0", and whole numbers beyond 2**53 beside negative ones.
    """
    if hasattr(labels, "dtype") or hasattr(labels, "columns"):
        array = np.asarray(labels)
        array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    else:
        array = np.fromiter(_unwrapped(list(labels), name), dtype=object, count=len(labels))
        kinds = set(map(type, array))
        # of one type that NumPy keeps as it is; whole numbers and text might be cut or rounded
        if kinds in ({float}, {np.datetime64}, {np.timedelta64}):
            array = np.array(array.tolist())
    if array.ndim != 1:
        raise ValueError(f"`{name}` must be one-dimensional, got shape {array.shape}.")
    if array.dtype.kind == "V":
        raise TypeError(f"`{name}` must be one label a row, got records of {array.dtype}; give one field.")
    return array.astype(object) if array.dtype.kind == "c" else array


def _unwrapped(entries: list[Any], name: str) -> list[Any]:
    """Unwrap labels that are lists of length 1; raise ValueError for other lengths."""
    if not any(issubclass(kind, list | tuple | np.ndarray) for kind in set(map(type, entries))):
        return entries
    sizes = {
        len(entry) if isinstance(entry, list | tuple) or (isinstance(entry, np.ndarray) and entry.ndim) else 0
        for entry in entries
    }
    if sizes == {1}:
        return [entry[0] for entry in entries]
    if len(sizes) > 1:
        raise ValueError(f"`{name}` must be one label a row, but its entries have different lengths.")
    if sizes - {0}:
        raise ValueError(f"`{name}` must be one-dimensional, got shape {(len(entries), *sizes)}.")
    return entries


def _coded_values(array: AnyArray) -> tuple[IntArray, list[Any]]:
    """Code labels in a NumPy array of one type; return codes and sorted names."""
    import pandas as pd

    values, codes = np.unique(array, return_inverse=True)
    return codes.reshape(-1), list(pd.Index(values)) if values.dtype.kind in "mM" else values.tolist()


def _coded_objects(entries: list[Any], name: str) -> tuple[IntArray, list[Any]]:
    """Code labels that are Python objects; return codes and sorted names; raise if equal labels differ in type."""
    if any(issubclass(kind, np.generic) for kind in set(map(type, entries))):
        entries = [_plain_object(entry) if isinstance(entry, np.generic) else entry for entry in entries]
    found: dict[Any, int] = {}
    try:
        codes = np.array([found.setdefault(entry, len(found)) for entry in entries], dtype=np.intp)
    except TypeError as error:
        raise TypeError(
            f"`{name}` must have labels such as numbers or text, which can be compared: {error}."
        ) from error
    firsts = list(found)
    # True, 1 and 1.0 are equal and have one hash: they would become one label without a word
    if len(kinds := set(map(type, entries))) > 1 or tuple in kinds:
        for entry, code in zip(entries, codes.tolist(), strict=True):
            if _find_label_type(entry) != _find_label_type(firsts[code]):
                raise ValueError(
                    f"`{name}` mixes {firsts[code]!r} and {entry!r}, which are of different types and equal to each "
                    "other; make them labels of one type, for example text."
                )
    try:
        # sets and the like compare without being ordered, and would be sorted by where they stood
        names = sorted(firsts)
        ordered = all(bool(low < high) for low, high in itertools.pairwise(names))
    except TypeError as error:
        if complex in kinds:
            raise TypeError(f"`{name}` has complex labels, which have no order; make text of them.") from error
        raise TypeError(f"`{name}` mixes labels that cannot be sorted, such as numbers and text.") from error
    if not ordered:
        kind = type(names[0]).__name__
        raise TypeError(f"`{name}` must have labels that can be sorted, got {kind} objects; make text of them.")
    place = np.empty(len(names), dtype=np.intp)
    place[[found[label] for label in names]] = np.arange(len(names))
    return place[codes], names


def _plain_object(label: Any) -> Any:
    """Convert a NumPy scalar label to its Python or pandas type."""
    import pandas as pd

    if isinstance(label, np.datetime64 | np.timedelta64):
        return pd.Timestamp(label) if isinstance(label, np.datetime64) else pd.Timedelta(label)
    return label.item()


def position_of(label: Any, names: Sequence[Any]) -> int | None:
    """Return the position of a label among names, None if absent; True and 1 are different labels."""
    label = _plain_object(label) if isinstance(label, np.generic) else label
    same = (j for j, name in enumerate(names) if isinstance(name, bool) == isinstance(label, bool) and name == label)
    return next(same, None)


def _find_label_type(label: object) -> object:
    """Return the type of a label, or of each part of a tuple, so that True, 1 and 1.0 differ."""
    return tuple(map(_find_label_type, label)) if isinstance(label, tuple) else type(label)
