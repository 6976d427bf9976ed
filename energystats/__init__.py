"""Energy-distance tests and clustering, with honest significance of the clusters found.

Names are imported on first use, as `__init__.pyi` lists them, so that ``import energystats`` costs next to nothing.
"""

import lazy_loader as _lazy

from energystats._core.locks import loading as _loading

_load, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from energystats.versions import find_version

        found: object = find_version()
        globals()[name] = found
        return found
    if name not in __all__:
        raise AttributeError(f"module 'energystats' has no attribute {name!r}")
    with _loading():  # the estimator's module imports scikit-learn
        found = globals()[name] = _load(name)
    return found
