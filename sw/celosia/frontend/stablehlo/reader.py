"""StableHLO text, bytecode and portable artifacts as MLIR modules, by jaxlib alone."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from celosia.frontend.errors import FrontendError
from celosia.frontend.frameworks import is_framework
from celosia.graph import Source

__all__ = ["aliases_of", "called", "chain_collectives", "fix_shapes", "legalise_chlo",
           "operations_of", "read_module", "restore_chlo", "set_replicas", "source_of"]

#: First bytes of MLIR bytecode, and the producer that follows them in a portable artifact.
_BYTECODE, _PORTABLE = b"ML\xefR", b"StableHLO_v"
_CALL = "stablehlo.custom_call"
_COLLECTIVES = frozenset(f"stablehlo.{name}" for name in (
    "all_gather", "all_reduce", "all_to_all", "collective_permute", "reduce_scatter"))
#: A place, with the name of the function that it is in, where the location has one.
_FRAME = re.compile(r'(?:"((?:[^"\\]|\\.)*)"\()?"((?:[^"\\]|\\.)*)":(\d+):(\d+)')
#: How the framework's name of an operation begins that has those of all calls.
_WHOLE = "jit("
_LINE = re.compile(r".*?:\d+")
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
    # What TensorFlow leaves of XLA's own dialect, `mhlo.copy` and `mhlo.erf`, has translators all
    # the same.
    context.allow_unregistered_dialects = True
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


def aliases_of(module: Any) -> dict[int, int]:
    """Return which results may take the place of which parameters, by the parameters' numbers.

    As XLA says it of programs that write over their parameters, those of TensorFlow.
    """
    attributes = module.operation.attributes
    if "mhlo.input_output_alias" not in attributes:
        return {}
    found = {}
    for each in attributes["mhlo.input_output_alias"]:
        output = list(each["output_index"])
        found[int(each["alias"]["parameter_number"].value)] = int(output[0]) if output else 0
    return found


def set_replicas(module: Any, count: int) -> None:
    """Have a module say how many devices run it."""
    from jaxlib.mlir import ir
    with module.context:
        number = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), count)
    module.operation.attributes["mhlo.num_replicas"] = number


def chain_collectives(module: Any) -> None:
    """Have each operation that devices do together wait for the one before it, in place.

    Devices of one program meet in the order that its compilation leads to. Devices whose programs
    differ, in the rows that they get, have only the order of the module in common.
    """
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    before: dict[Any, Any] = {}
    for op in list(operations_of(module.operation)):
        if op.name not in _COLLECTIVES or not op.operands:
            continue
        if (last := before.get(op.block)) is not None:
            with ir.InsertionPoint(op), op.location:
                barrier = stablehlo.OptimizationBarrierOp([op.operands[0], last])
                op.operands[0] = barrier.operation.results[0]
        before[op.block] = op.results[0]


def operations_of(op: Any) -> Iterator[Any]:
    """Yield what is inside an operation, each before what is inside of it."""
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation
                yield from operations_of(inner.operation)


def legalise_chlo(module: Any, kept: Collection[str] = ()) -> None:
    """Replace operations of the client dialect by StableHLO's, in place.

    Parameters
    ----------
    module
        The module.
    kept
        Operations, without attributes, that stay.
    """
    from jaxlib.mlir import ir, passmanager
    _register_passes()
    with module.context:
        # The pass knows no exceptions, but it leaves calls alone.
        for op in tuple(operations_of(module.operation)):
            if op.name in kept:
                _replace(op, _CALL, call_target_name=ir.StringAttr.get(op.name))
        manager = passmanager.PassManager.parse(
            "builtin.module(func.func(chlo-legalize-to-stablehlo))")
        manager.run(module.operation)
        _put_back(module, _CALL, "call_target_name", kept)


def fix_shapes(module: Any) -> None:
    """Replace operations whose shapes are operands, where these are constants, in place."""
    from jaxlib.mlir import ir, passmanager
    _register_passes()
    manager = "builtin.module(func.func(stablehlo-canonicalize-dynamism))"
    # What it cannot make stays, and is refused.
    with module.context, contextlib.suppress(ir.MLIRError):
        passmanager.PassManager.parse(manager).run(module.operation)


def restore_chlo(module: Any, names: Collection[str]) -> None:
    """Replace composites by the operations of the client dialect that they are named after.

    So those operations come through where that dialect may not: see `celosia.pjrt.special`.

    Parameters
    ----------
    module
        The module, which is changed in place.
    names
        Operations on one array that give one of its type, without attributes.
    """
    with module.context:
        _put_back(module, "stablehlo.composite", "name", names)


def _put_back(module: Any, name: str, attribute: str, names: Collection[str]) -> None:
    for op in tuple(operations_of(module.operation)):
        if (op.name == name and op.attributes[attribute].value in names
                and [x.type for x in op.operands] == [x.type for x in op.results]
                and len(op.results) == 1):
            _replace(op, op.attributes[attribute].value)


def _replace(op: Any, name: str, **attributes: Any) -> None:
    from jaxlib.mlir import ir
    with ir.InsertionPoint(op):
        new = ir.Operation.create(name, [x.type for x in op.results], list(op.operands),
                                  attributes, loc=op.location)
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    op.erase()


@lru_cache(maxsize=1)
def _register_passes() -> None:
    from jaxlib.mlir.dialects import stablehlo
    stablehlo.register_stablehlo_passes()


@lru_cache(maxsize=4096)
def _source(text: str, filename: str) -> Source:
    name = _NAME.match(text)
    # The first place is the innermost: callers come after.
    frames = [(function, filename if file == "-" else file, int(line), int(column))
              for function, file, line, column in _FRAME.findall(text)]
    if not frames:
        return Source(filename, name=name[1] if name else "")
    own = [frame for frame in frames if not is_framework(frame[1])] or frames[:1]
    callers = tuple(f"{file}:{line}" + (f" in {function}" if function else "")
                    for function, file, line, _ in own[1:])
    return Source(*own[0][1:], name[1] if name else "", callers)


def source_of(location: Any, filename: str) -> Source:
    """Return a location of MLIR: the innermost place that is in no framework, and its callers.

    What has no place is in ``filename``.
    """
    return _source(str(location), filename)


def called(source: Source, caller: Source) -> Source:
    """Return where an operation of a function or region is, for one place that calls it.

    What is in no file of the user's is where the call is. A location has the calls within a
    function, and may have those that led to it; its name may begin with the call's.
    """
    if source.name and caller.name and not source.name.startswith(_WHOLE):
        source = replace(source, name=f"{caller.name}/{source.name}")
    if not caller.line:
        return source
    if not source.line or is_framework(source.file):
        return replace(caller, name=source.name)
    own = [_place(each) for each in (source.place, *source.callers)]
    outer = (f"{caller.file}:{caller.line}", *caller.callers)
    if own[-len(outer):] == [_place(each) for each in outer]:
        return source
    return replace(source, callers=(*source.callers, *outer))


def _place(text: str) -> str:
    """Return file and line of a call."""
    found = _LINE.match(text)
    return found[0] if found else text
