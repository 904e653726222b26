"""Python imports this at its start, where it is on PYTHONPATH: notes each function's first entry.

The loader of the project's packages puts one call at the head of each function and module. That
costs next to nothing, where tracing lines makes tests of hardware two to three times as long
(Python 3.11). Each entry is written at once, so that processes that are killed or that fork lose
nothing; child processes inherit the environment and are measured, too.
"""

import ast
import builtins
import importlib.abc
import importlib.machinery
import os
import sys

from mutation.scopes import MODULE, defs, own_body

ROOT = os.path.join(os.environ["MUTATION_ROOT"], "")
PACKAGES = tuple(os.environ["MUTATION_PACKAGES"].split(","))

_seen = set()
_file = os.open(os.environ["MUTATION_ENTERED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def _entered(name):
    if name not in _seen:
        _seen.add(name)
        os.write(_file, f"{name}\n".encode())


class _Loader(importlib.machinery.SourceFileLoader):
    """Puts the calls in; what it compiles is kept as usual, under PYTHONPYCACHEPREFIX."""

    def source_to_code(self, data, path, *, _optimize=-1):
        tree = ast.parse(data)
        place = os.fspath(path)[len(ROOT):]
        for scope, name in [(tree, MODULE), *defs(tree)]:
            call = ast.parse(f"_mutation_entered({f'{place}::{name}'!r})").body[0]
            index = own_body(scope)
            line = scope.body[min(index, len(scope.body) - 1)].lineno if scope.body else 1
            ast.increment_lineno(call, line - 1)
            scope.body.insert(index, call)
        return compile(tree, path, "exec", dont_inherit=True, optimize=_optimize)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path, target=None):
        if fullname.partition(".")[0] not in PACKAGES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin and spec.origin.startswith(ROOT) and isinstance(
                spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


setattr(builtins, "_mutation_entered", _entered)  # noqa: B010 (pyright knows no such attribute)
sys.meta_path.insert(0, _Finder())
