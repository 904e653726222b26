"""Names of a package that are imported when they are first used."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

__all__ = ["on_demand"]


def on_demand(package: str, names: Mapping[str, Sequence[str]],
              ) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a package's ``__getattr__``, which imports a name that is asked for, and its
    ``__dir__``: names that have been imported, and those that can be.

    Parameters
    ----------
    package
        Its name.
    names
        The names of each of its modules.
    """
    places = {name: module for module, each in names.items() for name in each}

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{package}.{places[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return get, lambda: sorted({*vars(sys.modules[package]), *places})
