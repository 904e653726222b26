"""StableHLO text, bytecode and portable artifacts as MLIR modules, by jaxlib alone."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from celosia.frontend.errors import FrontendError
from celosia.graph import Source

__all__ = ["legalise_chlo", "read_module", "source_of"]

#: First bytes of MLIR bytecode, and the producer that follows them in a portable artifact.
_BYTECODE, _PORTABLE = b"ML\xefR", b"StableHLO_v"
_FILE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')
_NAME = re.compile(r'loc\("((?:[^"\\]|\\.)*)"(?!:)')


@lru_cache(maxsize=1)
def _context() -> Any:
    try:
        from jaxlib.mlir import ir
        from jaxlib.mlir._mlir_libs import _jax_mlir_ext
        from jaxlib.mlir.dialects import chlo, sdy, stablehlo
    except ImportError as error:
        raise FrontendError("reading StableHLO needs jaxlib: pip install 'celosia[jax]'",
                            [str(error)]) from error
    registry = ir.DialectRegistry()
    # A bare context lacks the dialect of functions.
    _jax_mlir_ext.register_dialects(registry)
    context = ir.Context()
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for dialect in (stablehlo, chlo, sdy):
        dialect.register_dialect(context)
    return context


def read_module(program: str | bytes, filename: str) -> Any:
    """Return the module that text, bytecode or a portable artifact is.

    Raises
    ------
    FrontendError
        If it is none of them, with what MLIR says; or if jaxlib is not installed.
    """
    context = _context()
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    try:
        if isinstance(program, bytes) and program.startswith(_BYTECODE):
            if _PORTABLE in program[:32]:
                return stablehlo.deserialize_portable_artifact(context, program)
        elif isinstance(program, bytes):
            program = program.decode()
        with context:
            return ir.Module.parse(program)
    except UnicodeDecodeError:
        start = repr(program[:8])
        raise FrontendError(f"{filename} must be StableHLO", [
            f"bytes must be MLIR text, bytecode or a portable artifact, not {start}..."]) from None
    except (ir.MLIRError, ValueError) as error:
        lines = str(error).replace('"-":', f"{filename}:").splitlines()
        raise FrontendError(f"{filename} must be StableHLO", lines) from None


def legalise_chlo(module: Any) -> None:
    """Replace operations of the client dialect by StableHLO's, in place."""
    from jaxlib.mlir import passmanager
    _register_passes()
    with module.context:
        manager = passmanager.PassManager.parse(
            "builtin.module(func.func(chlo-legalize-to-stablehlo))")
        manager.run(module.operation)


@lru_cache(maxsize=1)
def _register_passes() -> None:
    from jaxlib.mlir.dialects import stablehlo
    stablehlo.register_stablehlo_passes()


@lru_cache(maxsize=4096)
def _source(text: str, filename: str) -> Source:
    name = _NAME.match(text)
    # The first place is the innermost: callers come after.
    place = _FILE.search(text)
    if place is None:
        return Source(filename, name=name[1] if name else "")
    file = filename if place[1] == "-" else place[1]
    return Source(file, int(place[2]), int(place[3]), name[1] if name else "")


def source_of(location: Any, filename: str) -> Source:
    """Return a location of MLIR; what has no place is in ``filename``."""
    return _source(str(location), filename)
