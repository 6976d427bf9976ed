"""Inputs that users did not mean to give: strategies for hypothesis, and what every answer to them must satisfy."""

import contextlib
import pickle
import time
import traceback
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from scipy import sparse

import energystats as es
from energystats.display.result import Result

HERE = Path(es.__file__).parent
SECONDS = 60  # beyond it a call counts as one that hangs
SCALES = [1.0, 1e-5, 1e8, 1e-150, 1e-200, 1e-310, 1e100, 1e149, 1e160, 1e308]


class DefectError(AssertionError):
    """Errors that no input may cause."""


# ---------------------------------------------------------------- tables


def with_value(value):
    def change(X, rng):
        X[rng.integers(len(X)), rng.integers(X.shape[1])] = value
        return X

    return change


def duplicated(X, rng):
    return X[rng.integers(0, max(1, len(X) // 3), len(X))]


def rounded(X, rng):
    return np.round(X)


def constant_column(X, rng):
    X[:, rng.integers(X.shape[1])] = X[0, 0]
    return X


def constant(X, rng):
    X[:] = X[0, 0]
    return X


def far_away(X, rng):
    return X + 1e8


def nearly_equal(X, rng):
    return 1.0 + 1e-15 * np.round(X)


def scaled(X, rng):
    with np.errstate(over="ignore"):
        return X * SCALES[rng.integers(len(SCALES))]


def unequal_scales(X, rng):
    with np.errstate(over="ignore"):
        return X * np.array(SCALES)[rng.integers(0, len(SCALES), X.shape[1])]


VALUES = [duplicated, rounded, constant_column, constant, far_away, nearly_equal, scaled, unequal_scales,
          with_value(np.nan), with_value(np.inf), with_value(-np.inf), with_value(1e200), with_value(-0.0)]  # fmt: skip


def read_only(X, rng):
    X = X.copy()
    X.flags.writeable = False
    return X


def strided(X, rng):
    return np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]


def masked(X, rng):
    return np.ma.masked_array(X, rng.random(X.shape) < 0.1 * rng.integers(0, 2))


def cast(dtype):
    def change(X, rng):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return X.astype(dtype)

    return change


def frame(X, rng):
    names = ["x", "y", "Größe in µm", "x" if rng.random() < 0.3 else "w", "<b>", "a b"]
    return pd.DataFrame(X, columns=[names[j % len(names)] for j in range(X.shape[1])])


def strange_index(X, rng):
    table = frame(X, rng)
    table.index = [f"row {i // 2}" for i in range(len(table))]
    return table


def nullable(X, rng):
    table = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]).astype("Float64")
    if rng.random() < 0.3:
        table.iloc[0, 0] = pd.NA
    return table


def with_text(X, rng):
    return frame(X, rng).assign(text="é")


def with_dates(X, rng):
    return frame(X, rng).assign(when=pd.Timestamp("2020-01-01"))


def with_categories(X, rng):
    return frame(X, rng).assign(kind=pd.Categorical(np.where(X[:, 0] > 0, "a", "b")))


def as_bytes(X, rng):
    return X.astype("S8")


FORMS = [read_only, strided, masked, np.asfortranarray, frame, strange_index, nullable, with_text, with_dates,
         with_categories, as_bytes, sparse.csr_array, list, pd.Series, memoryview, cast(np.float32), cast(np.float16),
         cast(np.longdouble), cast(np.int64), cast(np.int8), cast(np.uint8), cast(bool), cast(complex), cast(object),
         cast(str), cast("M8[s]"), cast(">f8")]  # fmt: skip
ONE_ARGUMENT = (np.asfortranarray, sparse.csr_array, list, pd.Series, memoryview)
SHAPES = [lambda X: X[:, 0], lambda X: X[:0], lambda X: X[:1], lambda X: X[:2], lambda X: X[:, :0], lambda X: X[None],
          lambda X: X[:, :, None], lambda X: X[0, 0], lambda X: X.T, lambda X: X[:, [0]]]  # fmt: skip
NO_TABLES = [None, "text", 3, {}, {"a": 1}, [], [[]], [[1.0, 2.0], [3.0]], [None, 1.0], object(), b"bytes",
             [1, "a"], range(5), (i for i in range(4)), np.nan, [np.nan] * 4, pd.DataFrame(), pd.Series(dtype=float),
             [["1", "2"], ["3", "4"]], {1.0, 2.0}, True]  # fmt: skip


@st.composite
def tables(draw, *, square=False):
    """A table of points (or a square matrix), as likely as not to have something wrong with it."""
    if draw(st.integers(0, 19)) == 0:
        return draw(st.sampled_from(NO_TABLES[:-2] if square else NO_TABLES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, 26)), draw(st.integers(1, 5))
    X = rng.standard_normal((n, d))
    clean = draw(st.integers(0, 9)) < 4
    if clean and not square:
        return X
    for change in draw(st.lists(st.sampled_from(VALUES), max_size=2)):
        X = change(X, rng)
    if square:
        X = matrix_of(X, draw(st.integers(0, 9)), rng)
        if clean:
            return X
    if draw(st.integers(0, 4)) == 0:
        shape = draw(st.sampled_from(SHAPES))
        X = shape(X) if X.ndim == 2 and X.size else X
    if draw(st.booleans()) and getattr(X, "ndim", 0) == 2 and X.size:
        form = draw(st.sampled_from(FORMS))
        with contextlib.suppress(ValueError, TypeError, OverflowError):  # what cannot be given in this form
            X = form(X) if form in ONE_ARGUMENT else form(X, rng)
    return X


def matrix_of(X, kind, rng):
    """Distances of points, mended or spoilt."""
    with np.errstate(all="ignore"):
        R = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
        if kind == 0:
            R[rng.integers(len(R)), rng.integers(len(R))] += 1.0
        elif kind == 1:
            R = R**3
        elif kind == 2:
            R = -R
        elif kind == 3:
            R = np.exp(-R)
        elif kind == 4:
            R = R[np.triu_indices(len(R), 1)]
        elif kind == 5:
            R = R - R.mean()
    return R


NAMES = ["a", "b", "é", "<b>", "", " ", "a\nb", "nan", "0", 0, 1, 1.5, True, None, np.nan, pd.NA, (1, 2), "🐍"]


@st.composite
def labelings(draw, n):
    """Labels of n rows, or of about as many."""
    n = max(0, n + draw(st.sampled_from([0, 0, 0, 0, 0, 0, -1, 1])))
    kind = draw(st.integers(0, 9))
    seed = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = seed.integers(0, draw(st.integers(1, 4)), n)
    if kind <= 4:
        return [codes, codes.tolist(), codes.astype(str), pd.Series(codes), codes.astype(float)][kind]
    if kind == 5:
        return pd.Categorical.from_codes(codes, ["z", "a", "é", "never"])
    if kind == 6:
        return [draw(st.sampled_from(NAMES)) for _ in range(n)]
    if kind == 7:
        return codes[:, None] if seed.random() < 0.5 else np.column_stack((codes, codes))
    if kind == 8:
        return np.where(seed.random(n) < 0.1, np.nan, codes)
    return draw(st.sampled_from([None, "a", 3, np.array(3), pd.Series(codes, dtype="Int64"), codes > 0, {}]))


def rows_in(X):
    """Count the rows that a table seems to have."""
    try:
        return len(X)
    except TypeError:
        return 3


# ---------------------------------------------------------------- what must hold


def contents(value):
    """Describe the value of an argument, as far as it can be written down."""
    if isinstance(value, pd.DataFrame):
        return [contents(value.iloc[:, j]) for j in range(value.shape[1])], list(map(str, value.columns))
    if isinstance(value, pd.Series):
        return value.tolist().__repr__(), value.index.tolist().__repr__(), str(value.dtype)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return np.asarray(value).tobytes(), value.shape, value.strides, str(value.dtype), value.flags.writeable
    try:
        return pickle.dumps(value)
    except (TypeError, pickle.PicklingError, AttributeError):
        return None


def snapshot(values):
    """The contents of all arguments."""
    return [contents(value) for value in values]


def state_of_numpy():
    """Save the state that calls may not change: treatment of errors, and the global random numbers."""
    return np.geterr(), str(np.random.get_state())  # noqa: NPY002


def our_own(error):
    """Whether an error was raised by a line of the package, and not by a library that it calls."""
    frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    return Path(frames[-1]).is_relative_to(HERE) or any("sklearn" in name for name in frames)  # its checks are ours


def attempt(call, *arguments):
    """Call; return the result or None for an error in words. Everything else is a `DefectError`."""
    before, states = snapshot(arguments), state_of_numpy()
    start = time.perf_counter()
    result = None
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            result = call(*arguments)
        except (ValueError, TypeError) as error:
            if not our_own(error):
                raise DefectError(f"{type(error).__name__} from inside: {error}") from error
            if len(str(error)) < 15:
                raise DefectError(f"an error without words: {error!r}") from error
        except Exception as error:
            raise DefectError(f"{type(error).__name__}: {error}") from error
    if time.perf_counter() - start > SECONDS:
        raise DefectError(f"more than {SECONDS} s")
    strange = [w for w in warned if not issubclass(w.category, es.EnergyStatsWarning) and "sklearn" not in w.filename]
    if strange:
        raise DefectError(f"{strange[0].category.__name__} from inside: {strange[0].message}")
    if snapshot(arguments) != before:
        raise DefectError("an argument was changed")
    if state_of_numpy() != states:
        raise DefectError("the state of numpy was changed")
    if result is not None:
        check(result)
    return result


def check(result):
    """Invariants of whatever came back."""
    if isinstance(result, Result):
        check_result(result)
    elif isinstance(result, float | np.ndarray) and not np.isfinite(result).all():
        raise DefectError(f"a value that is not finite: {result}")


def check_result(result):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = result.summary()
        result.to_frame()
        html = result._repr_html_()
    if not text.strip() or html.count("<b>") != html.count("</b>"):
        raise DefectError("an empty summary, or markup that was not escaped")
    p = getattr(result, "pvalue", None)
    if p is not None and not 0 < p <= 1:
        raise DefectError(f"p = {p}")
    for name in ("statistic", "within", "between", "total", "effect_size", "bound", "constant", "min_eigenvalue"):
        value = getattr(result, name, None)
        perfect = name == "statistic" and isinstance(result, es.DiscoResult)  # F of groups that explain everything
        if isinstance(value, float) and not np.isfinite(value) and not (perfect and value > 0):
            raise DefectError(f"{name} = {value}")
    parts = [getattr(result, name, None) for name in ("within", "between", "total")]
    if all(isinstance(part, float) for part in parts):
        within, between, total = parts
        if abs(within + between - total) > 1e-9 * max(abs(within), abs(between), abs(total)):
            raise DefectError(f"W + S = {within} + {between} is not T = {total}")
    if isinstance(result, es.Partition):
        sizes = np.bincount(result.labels, minlength=len(result.sizes))
        if tuple(sizes.tolist()) != tuple(result.sizes) or min(result.sizes) < 1:
            raise DefectError(f"labels and sizes disagree: {sizes} and {result.sizes}")
