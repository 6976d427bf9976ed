"""Numbers and p-values as text."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "holds_chances",
    "interval_text",
    "number",
    "numbers",
    "p_text",
    "probability",
    "proportion",
    "rounded",
    "write_table_numbers",
]


SETTINGS = ("confidence_level", "confidence")  # columns that hold what a user gave
SMALLEST_P = 2.2e-16  # smaller ones are rounding of the distribution that they come from
ROUNDING = 1e-12  # of the largest number of a column
PLACES_SHOWN = 8  # decimals beyond which a column has exponents
LARGEST_SHOWN = 1e10  # from which on it has them too


# ---------------------------------------------------------------- numbers


def number(value: float) -> str:
    """Format a number with six significant digits; an exponent only for very small and very large ones, "-" for NaN."""
    value = float(value)
    if math.isnan(value):
        return "-"
    if 999999.5 <= abs(value) < LARGEST_SHOWN:  # what rounds to 1e6 too
        return f"{value:.0f}"
    text = f"{value:.6g}"
    return "0" if float(text) == 0 else text


def numbers(values: Iterable[float], digits: int = 6) -> list[str]:
    """Format a column of numbers with equally many decimals, the largest with `digits` significant digits.

    It has more if the smallest number would have fewer than two; what lies below the largest by twelve digits is 0 to
    rounding.
    """
    column = [float(value) for value in values]
    sizes = [abs(value) for value in column if math.isfinite(value)]
    largest = max(sizes, default=0.0)
    column = [0.0 if abs(value) <= ROUNDING * largest else value for value in column]
    if all(value.is_integer() for value in column if math.isfinite(value)) and largest < LARGEST_SHOWN:
        return ["-" if math.isnan(value) else f"{value:.0f}" for value in column]
    # the smallest number of a column gets two digits at least, if four more decimals are enough
    smallest = min(abs(value) for value in column if value and math.isfinite(value))
    places = max(0, digits - 1 - math.floor(math.log10(largest)))
    places = max(places, min(places + 4, 1 - math.floor(math.log10(smallest))))
    if places > PLACES_SHOWN or largest >= LARGEST_SHOWN:
        return ["-" if math.isnan(value) else f"{value:.{digits - 1}e}" if value else "0" for value in column]
    return ["-" if math.isnan(value) else f"{value + 0.0:.{places}f}" for value in column]


def probability(value: float) -> str:
    """Format a p-value with four decimals, or two digits if small; never "0", and "1" only for 1."""
    value = float(value)
    if math.isnan(value):
        return "-"
    if value < SMALLEST_P:
        return f"<{SMALLEST_P:g}"
    if value < 1e-4:
        return f"{value:.1e}"
    if value < 1e-3:
        return f"{value:.5f}"
    return ">0.9999" if 0.99995 <= value < 1 else f"{value:.4f}"


def p_text(value: float, *, short: bool = False) -> str:
    """Format a p-value as 'p = 0.0123', 'p > 0.9999' or 'p < 2.2e-16'; with two digits if `short`."""
    text = probability(value)
    if short and text[0] not in "<>-":
        text = f"{value:.2g}"
        text = ">0.99" if text == "1" and value < 1 else text
    return f"p {text[0]} {text[1:]}" if text[0] in "<>" else f"p = {text}"


def proportion(value: float) -> str:
    """Format a share such as S/T with four decimals; "0" and "1" only for 0 and 1 within rounding."""
    value = float(value)
    if math.isnan(value):
        return "-"
    if abs(value) <= ROUNDING:
        return "0"
    if abs(value - 1) <= ROUNDING:
        return "1"
    if abs(value) < 5e-5:
        return "<0.0001" if value > 0 else f"{value:.1e}"
    return ">0.9999" if 0.99995 <= value < 1 else f"{value:.4f}"


def interval_text(interval: tuple[float, float]) -> str:
    """Format the interval of a p-value as '0.0400 to 0.0688', or as 'below 0.0037' if it begins at 0."""
    low, high = interval
    return (
        f"below {proportion(high).removeprefix('<')}" if low <= ROUNDING else f"{proportion(low)} to {proportion(high)}"
    )


def write_table_numbers(frame: pd.DataFrame, names: Collection[object] | None = None) -> pd.DataFrame:
    """Format the floats of a data frame as text, "-" for missing values; other values stay as they are.

    With `names`, in these columns only.
    """
    import pandas as pd

    def write(column: pd.Series[Any]) -> pd.Series[Any]:
        if names is not None and column.name not in names:
            return column
        if not pd.api.types.is_float_dtype(column.dtype):
            return column.astype(object).where(column.notna(), "-") if column.isna().any() else column
        values = column.to_numpy(dtype=float, na_value=math.nan)
        if column.name in SETTINGS:
            texts = [f"{value:g}" for value in values]
        else:
            texts = list(map(probability, values)) if holds_chances(column.name) else numbers(values)
        return pd.Series(texts, index=frame.index, dtype=object)

    return frame.apply(write)


def holds_chances(name: object) -> bool:
    """Return whether a table column holds p-values or significance levels, judged by its name."""
    return "pvalue" in str(name) or name in ("level", "p") or str(name).startswith("p ")


def rounded(value: float) -> str:
    """Format a number with one significant digit, without an exponent from 1e-6 on."""
    text = f"{value:.1g}"
    return f"{float(text):f}".rstrip("0").rstrip(".") if value >= 1e-6 else text
