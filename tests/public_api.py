"""Every public name with its parameters, and every result with its attributes, as text.

`python -m tests.public_api` writes `tests/public_api.txt`, after a change that was meant and is in the changelog.
"""

import dataclasses
import inspect
from pathlib import Path

import energystats as es
from energystats.display.result import Result
from energystats.distribution_tests import results as method_results

FILE = Path(__file__).with_suffix(".txt")


class Shown:
    """A default that is no plain value, by the name of its class: its address would change."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"<{getattr(self.value, '__name__', type(self.value).__name__)}>"


def signature(function):
    """Parameters with their defaults; their types are the business of the stubs."""
    found = inspect.signature(function)
    shown = []
    for p in found.parameters.values():
        plain = p.default is p.empty or isinstance(p.default, str | float | int | tuple | None)
        shown.append(p.replace(annotation=p.empty, default=p.default if plain else Shown(p.default)))
    return str(inspect.Signature(shown))


def lines_of(name, thing):
    """What a user may write: the call, and of classes their attributes and methods."""
    if not inspect.isclass(thing):
        return [f"{name}{signature(thing)}" if callable(thing) else name]
    if issubclass(thing, Warning):
        return [name]
    made_by_users = not issubclass(thing, Result)
    lines = [f"{name}{signature(thing) if made_by_users and not inspect.isabstract(thing) else ''}"]
    members = {field.name for field in dataclasses.fields(thing)} if dataclasses.is_dataclass(thing) else set()
    if issubclass(thing, es.metrics.Metric):
        offered = {"kernel", "negative_type", *inspect.signature(thing).parameters} - {"args", "kwargs"}
    else:
        offered = members | set(dir(thing))
    for member in sorted(offered):
        home = next((base.__module__ for base in thing.__mro__ if member in vars(base)), "")
        if member.startswith("_") or home.startswith("sklearn") or member.endswith("_request"):
            continue  # what scikit-learn gives its estimators is its own promise
        value = inspect.getattr_static(thing, member, None)
        function = getattr(value, "__func__", value)
        called = inspect.isfunction(function)
        lines.append(f"{name}.{member}{signature(function) if called else ''}")
    return lines


def public_api():
    """All lines, in order."""
    named = [(name, getattr(es, name)) for name in sorted(es.__all__) if not inspect.ismodule(getattr(es, name))]
    for module in ("datasets", "metrics"):
        home = getattr(es, module)
        named += [(f"{module}.{name}", getattr(home, name)) for name in sorted(home.__all__)]
    named.append(("report.cluster_report", es.report.cluster_report))
    named += [
        (f"distribution_tests.results.{name}", getattr(method_results, name))
        for name in method_results.__all__
        if name.endswith("Result") and name not in es.__all__
    ]
    return [line for name, thing in named for line in lines_of(name, thing)]


if __name__ == "__main__":
    FILE.write_text("\n".join(public_api()) + "\n", encoding="utf-8")
