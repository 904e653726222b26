"""The way from a canonical graph to a program."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from celosia.arch import registers
from celosia.arch.config import TpuConfig
from celosia.compiled.parts import Apart, Argument, WorkInfo
from celosia.compiler.codegen.blocks import Item
from celosia.compiler.codegen.generate import generate
from celosia.compiler.emit.emitter import Emitter
from celosia.compiler.fusion import Halves, NotFused
from celosia.compiler.groups import is_fused
from celosia.compiler.lowered import Cluster, External, Tensor, Work, buffer_dtype
from celosia.compiler.lowering import Lowered, lower
from celosia.compiler.lowering.again import again
from celosia.compiler.lowering.scope import source_text
from celosia.compiler.memory import Life, lives, numbered, plan_arena
from celosia.compiler.pipeline import prepared
from celosia.compiler.residency import plan_on_chip, regions
from celosia.compiler.selection import SelectionOptions
from celosia.compiler.selection.bounded import Bounded
from celosia.compiler.selection.uses import Uses
from celosia.compiler.verify import enabled
from celosia.compiler.verify.blocks import check_items
from celosia.compiler.verify.homes import check_homes
from celosia.graph import DType, Graph
from celosia.program import Buffer, Program

__all__ = ["Built", "Options", "arena_bytes", "build", "emitted"]

#: Accumulator rows that control flow reads its words from.
_CONTROL_ROWS = 4


@dataclass(frozen=True)
class Options:
    """How to compile.

    Attributes
    ----------
    fast
        Whether functions may be less exact where that is shorter
        (`celosia.compiler.selection.SelectionOptions`).
    merge
        Whether operations may be merged that then round less often; without it, and without
        ``fast``, each operation gives the bits of docs/isa.md and docs/numerics.md.
    memory
        Bytes of external memory that the program may need.
    resident
        Whether tensors may stay on chip between pieces of work.
    """

    fast: bool = False
    merge: bool = True
    memory: int = registers.MOST_MEMORY
    resident: bool = True

    @property
    def selection(self) -> SelectionOptions:
        """How vector instructions are selected."""
        return SelectionOptions(self.fast, self.merge)


@dataclass(frozen=True)
class Built:
    """A program and what it was made of.

    Attributes
    ----------
    inputs, outputs
        In the order of the graph's parameters and results. A result may name the buffer of a
        parameter, or of another result.
    works
        In the order in which they run.
    tensors
        All that have a home, each with the numbers of the first and the last of ``works`` that
        have it.
    proofs
        Why functions that have a short form keep their bounds: sentences.
    apart
        What was not fused, and why.
    """

    program: Program
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    works: tuple[WorkInfo, ...]
    tensors: Mapping[Tensor, tuple[int, int]]
    graph: Graph
    proofs: tuple[str, ...] = ()
    apart: tuple[Apart, ...] = ()


def _buffers(config: TpuConfig, lowered: Lowered) -> tuple[list[Buffer], dict[str, np.ndarray]]:
    buffers: list[Buffer] = []
    constants: dict[str, np.ndarray] = {}
    known: set[Tensor] = set()
    kinds = [*((tensor, "input") for tensor in lowered.inputs),
             *((tensor, "output") for tensor in lowered.outputs),
             *((tensor, "constant") for tensor in lowered.constants)]
    for tensor, kind in kinds:
        if tensor in known:
            continue
        known.add(tensor)
        assert isinstance(tensor.home, External)
        dtype = buffer_dtype(config, tensor.dtype)
        buffers.append(Buffer(tensor.name, tensor.home.offset, tensor.shape, dtype, kind))
        if kind == "constant":
            array = lowered.constants[tensor]
            if tensor.dtype is DType.BOOL:
                array = -array.astype(np.int8)
            if tensor.dtype is DType.U32:
                array = array.view(np.int32)
            elif dtype in ("int8", "int32") or tensor.dtype is DType.F16:
                array = array.astype(dtype)
            constants[tensor.name] = array
    return buffers, constants


def _options(options: Mapping[str, Any]) -> Options:
    known = [each.name for each in fields(Options)]
    if unknown := sorted(set(options) - set(known)):
        raise ValueError(f"options must be some of {', '.join(known)}, not {', '.join(unknown)}")
    return Options(**options)


def emitted(config: TpuConfig, works: Sequence[Work], placed: Mapping[Tensor, Life],
            options: Options | None = None) -> list[Item]:
    """Return the operations of lowered work whose tensors have homes, those on chip ``placed``."""
    emitter = Emitter(config, (options or Options()).selection,
                      regions(config, works, placed, _CONTROL_ROWS))
    items = emitter.items(works)
    for _, error in emitter.too_large:
        raise error
    return items


def _bytes(tensor: Tensor) -> tuple[int, int]:
    """First byte, and what follows the last, of a tensor in external memory."""
    assert isinstance(tensor.home, External)
    return tensor.home.offset, tensor.home.offset + tensor.nbytes


def _halves(graph: Graph, work: Work) -> Halves | None:
    """Return two parts of the nodes that run together in a piece of work; None if it is one node.

    Nodes that lowering makes are in no part: it makes others the next time.
    """
    if not isinstance(work, Cluster):
        return None
    known = {node for node in graph.walk() if is_fused(node)}
    first = () if work.result is None else (work.result.node,)
    nodes = [node for node in (*first, *work.nodes) if node in known]
    middle = len(nodes) // 2
    return (frozenset(nodes[:middle]), frozenset(nodes[middle:])) if middle else None


def _homes(config: TpuConfig, lowered: Lowered, fixed: Sequence[Tensor], options: Options,
           places: Sequence[int | None], begin: int) -> tuple[int, Mapping[Tensor, Life]]:
    """Give homes to all tensors; return the bytes of the arena, and the lives of those on chip."""
    for i, tensor in enumerate(lowered.outputs):
        if tensor not in lowered.inputs:
            tensor.name = f"result{i}"
    placed = plan_on_chip(config, lowered.works, fixed) if options.resident else {}
    for tensor, place in zip(lowered.inputs, places, strict=True):
        tensor.home = None if place is None else External(place)
    return plan_arena(lowered.works, fixed, options.memory, begin), placed


def arena_bytes(graph: Graph, config: TpuConfig, options: Mapping[str, Any] | None = None) -> int:
    """Return the bytes of external memory that a program needs, without its instructions.

    Parameters and errors as of `build`.
    """
    graph, late = again(config, prepared(graph, config))
    lowered = lower(config, graph, late, [])
    return _homes(config, lowered, [*lowered.inputs, *lowered.outputs, *lowered.constants],
                  _options(options or {}), [None] * len(graph.params), 0)[0]


def _fitting(config: TpuConfig, graph: Graph, options: Options, places: Sequence[int | None],
             begin: int) -> tuple[Lowered, int, Emitter, list[Item]]:
    """Return the work of a graph, the bytes of its arena, and its operations.

    Parameters lie at ``places`` where that says so, all else from ``begin`` on.

    Fusion guesses what fits the memories on chip: a group that does not is cut in two, and what
    cannot be cut has no tensors on chip beside it.
    """
    graph, late = again(config, graph)
    halves: list[Halves] = []
    resident = options.resident
    while True:
        lowered = lower(config, graph, late, halves)
        fixed = [*lowered.inputs, *lowered.outputs, *lowered.constants]
        size, placed = _homes(config, lowered, fixed, replace(options, resident=resident), places,
                              begin)
        found = regions(config, lowered.works, placed, _CONTROL_ROWS)
        if enabled():
            check_homes(config, lowered.works, fixed, size, found, _CONTROL_ROWS)
        emitter = Emitter(config, options.selection, found, Bounded(Uses(graph)))
        items = emitter.items(lowered.works)
        if not emitter.too_large:
            if enabled():
                check_items(config, items, size,
                            [*map(_bytes, (*lowered.inputs, *lowered.constants))],
                            {tensor.name: _bytes(tensor) for tensor in lowered.outputs})
            return lowered, size, emitter, items
        cuts = [_halves(graph, work) for work, _ in emitter.too_large]
        halves += filter(None, cuts)
        if None in cuts:
            if not resident:
                raise emitter.too_large[cuts.index(None)][1]
            resident = False


def _lives(lowered: Lowered, emitter: Emitter) -> dict[Tensor, tuple[int, int]]:
    """Return the first and the last piece of work that has each tensor with a home."""
    places = {work: place for place, work in enumerate(emitter.noted)}
    # What is not emitted, as the condition of a counted loop, is of the work before it.
    begins = sorted((begin, places[work]) for begin, _, work in numbered(lowered.works)
                    if work in places)
    found = lives(lowered.works)

    def place(number: int) -> int:
        return begins[max(bisect_right(begins, (number, len(places))) - 1, 0)][1]

    return {tensor: (place(life.first), place(life.last)) if life is not None and begins
            else (0, max(len(places) - 1, 0))
            for tensor in lowered.tensors if tensor.home is not None
            for life in (found.get(tensor),)}


def _apart(each: NotFused) -> Apart:
    return Apart(source_text(each.producer), source_text(each.consumer), each.reason)


def build(graph: Graph, config: TpuConfig, options: Mapping[str, Any] | None = None, *,
          places: Sequence[int | None] | None = None, begin: int = 0,
          trace: Callable[[str], None] | None = None) -> Built:
    """Compile a graph.

    Parameters
    ----------
    graph
        Canonical (`celosia.compiler.canonical`).
    config
        The chip.
    options
        Fields of `Options`.
    places
        Where parameters lie in the arena, before ``begin``; None: the compiler's choice.
    begin
        First byte of the arena for all else.
    trace
        Called with a line for each step; `print` is one.

    Raises
    ------
    GraphError
        If the graph is not canonical.
    CompileError
        If the chip cannot run it, or memory is too small.
    ValueError
        If there is no such option.
    """
    chosen = _options(options or {})
    say = trace or (lambda line: None)
    graph = prepared(graph, config, trace=trace)
    lowered, size, emitter, items = _fitting(
        config, graph, chosen, places or [None] * len(graph.params), begin)
    say(f"{graph.name}: lowering: {len(lowered.works)} pieces of work, {size} bytes of memory")
    code = generate(config, items)
    say(f"{graph.name}: emission: {len(code.insns)} instructions")
    buffers, constants = _buffers(config, lowered)
    program = Program(config.fingerprint, tuple(code.insns), graph.name, tuple(code.sources), size,
                      tuple(buffers), constants, tuple(code.relocations))
    return Built(
        program,
        tuple(Argument(tensor.name, value.type)
              for tensor, value in zip(lowered.inputs, graph.params, strict=True)),
        tuple(Argument(tensor.name, value.type)
              for tensor, value in zip(lowered.outputs, graph.outputs, strict=True)),
        tuple(emitter.infos), _lives(lowered, emitter), graph,
        tuple(dict.fromkeys(emitter.bounded.proofs.values())),
        tuple(dict.fromkeys(map(_apart, lowered.apart))))
