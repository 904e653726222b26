"""``celosia.compile``: from a program of some framework to one of the chip."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.arch.config import TpuConfig, preset
from celosia.compiled.artifact import Compiled
from celosia.compiled.observed import note_graph
from celosia.compiled.parts import Argument, Place, WorkInfo
from celosia.compiled.steps import ChipStep, HostStep, ProgramStep
from celosia.compiler import cache as programs
from celosia.compiler.arena import Arena
from celosia.compiler.errors import CompileError, MemoryTooSmall
from celosia.compiler.overlap import link_rows
from celosia.compiler.passes.calls import calls_apart
from celosia.compiler.passes.pairs import in_pairs
from celosia.compiler.passes.shares import shares
from celosia.compiler.pipeline import canonical
from celosia.compiler.split import (
    GraphPart,
    host_nodes,
    on_chip,
    place_whole,
    split,
    written_out,
)
from celosia.compiler.spmd import partition
from celosia.compiler.ways import Way, ways_out
from celosia.frontend import import_stablehlo
from celosia.graph import DType, Graph, GraphError, Node, Trait, Value, fingerprint, having
from celosia.graph.operations.collective import COLLECTIVES
from celosia.storage.uncollected import uncollected

if TYPE_CHECKING:
    from celosia.compiler.lowered import Tensor

__all__ = ["check_formats", "check_places", "chosen", "compile", "graph_of"]

#: Operations that move words and do not look at them.
_MOVES = frozenset({
    "select", *having(Trait.STORED), *having(Trait.VIEW), *having(Trait.CONTROL),
    *(having(Trait.MOVEMENT) - having(Trait.ORDERING))})


def compile(source: str | bytes | Path | Graph, config: str | TpuConfig = "core", *,
            strict: bool = False, fast: bool = False, name: str | None = None,
            filename: str | None = None, cache: bool = True,
            options: Mapping[str, object] | None = None) -> Compiled:
    """Compile a program for a chip.

    Parameters
    ----------
    source
        StableHLO: text, MLIR bytecode, a portable artifact, or the path of a file with any of
        them; or a graph.
    config
        The chip: the name of a preset, or a configuration.
    strict
        Refuse operations that the chip does not have; else the host runs them, between programs
        of the chip.
    fast
        Functions may be less exact than docs/numerics.md bounds them, where that is shorter, and
        sums and products round otherwise: the table of `celosia.compiler.selection`.
    name
        What to call the program; None: as the graph is called.
    filename
        What to call the source in errors.
    cache
        Use programs that were compiled before, and keep this one.
    options
        For `celosia.compiler.build.build`; a ``fast`` among them counts, not the argument.

    Raises
    ------
    FrontendError
        If the source is no StableHLO, or has what the graph cannot express (dynamic shapes, 64-bit
        and complex elements, unknown operations): one error that lists everything.
    CompileError
        If the chip cannot run it: formats that it lacks, operations of the host where
        ``strict``, memory on chip that is too small.
    ValueError
        If an argument is wrong.
    """
    config = chosen(config)
    graph = graph_of(source, filename)
    name = name or graph.name
    options = {"fast": fast, **(options or {})}

    def make() -> Compiled:
        with uncollected():
            level = _level(graph, config)
            check_formats(level, config, name)
            if strict:
                check_places(level, name)
            try:
                return _made(graph, level, config, name, options)
            except MemoryTooSmall as error:
                names = {f"arg{i}": value.node.attrs["name"]
                         for i, value in enumerate(graph.params) if value.node.attrs["name"]}
                raise MemoryTooSmall(error.demand.renamed(names), _ways_out(
                    graph, config, name, options)) from None

    made = make() if not cache else programs.fetch(
        programs.key_of(graph, config, options), programs.places_of(graph), make)
    if strict and made.on_chip is None:
        check_places(_level(graph, config), name)
    found = made.renamed(name, config, (value.node.attrs["name"] for value in graph.params))
    note_graph(found, graph, options)
    return found


def _ways_out(graph: Graph, config: TpuConfig, name: str, options: Mapping[str, object]
              ) -> list[Way]:
    """Return what a program that memory is too small for fits with."""
    from celosia.compiler.build import arena_bytes

    def trial(other: Graph) -> int | None:
        try:
            level = _level(other, config)
            if on_chip(level):
                return arena_bytes(in_pairs(level), config, options)
            return _made(other, level, config, name, options).arena_bytes
        except (CompileError, GraphError):
            return None

    return ways_out(graph, trial, more_devices=not any(
        node.op in COLLECTIVES for node in graph.walk()))


def chosen(config: str | TpuConfig) -> TpuConfig:
    """Return a configuration, given by itself or by the name of a preset."""
    if isinstance(config, str):
        return preset(config)
    if not isinstance(config, TpuConfig):
        raise ValueError(f"config must be a preset's name or a TpuConfig, not {config!r}")
    return config


def graph_of(source: str | bytes | Path | Graph, filename: str | None = None) -> Graph:
    """Return what each device runs of a program in any of its forms; errors as of `compile`."""
    if isinstance(source, Graph):
        return partition(source).graph
    if not isinstance(source, (str, bytes, Path)):
        raise ValueError(f"source must be StableHLO (text, bytes or a pathlib.Path) or a Graph, "
                         f"not {source!r}")
    if isinstance(source, str) and "\n" not in source and Path(source).suffix in (
            ".mlir", ".mlirbc", ".stablehlo"):
        raise ValueError(f"source must be the text of a program, not the name of a file: write "
                         f"Path({source!r})")
    return partition(import_stablehlo(source, filename=filename)).graph


def check_formats(graph: Graph, config: TpuConfig, name: str) -> None:
    """Raise CompileError if a canonical graph needs a format that the chip does not have."""
    problems = dict.fromkeys(
        f"{node.source}: {_what(node)}: {problem}" for node in graph.walk()
        if (problem := _lacks(node, config)))
    if problems:
        formats = ", ".join(config.formats)
        raise CompileError("\n  ".join((
            f"{name} needs formats that {config.name} does not have (it has {formats}):",
            *problems)))


def _what(node: Node) -> str:
    name = node.attrs["name"] if node.op == "parameter" else ""
    return f"{node.op} {name}" if name else node.op


def _lacks(node: Node, config: TpuConfig) -> str:
    types = [*(value.type for value in node.operands), *node.types]
    if not config.bf16:
        for type in types:
            if type.dtype is DType.BF16:
                return f"elements must not be bf16 on an int8 chip, as those of {type}"
            if type.dtype.is_float and node.op not in _MOVES:
                return f"arithmetic must be of integers on an int8 chip, not of {type}"
    return ""


def check_places(graph: Graph, name: str) -> None:
    """Raise CompileError if a canonical graph has operations that the chip does not run."""
    problems = dict.fromkeys(f"{node.source}: {node.op}: {reason}"
                             for node, reason in host_nodes(graph))
    if problems:
        raise CompileError("\n  ".join((
            f"{name}: strict=True allows no operation on the host, there would be:", *problems)))


def _level(graph: Graph, config: TpuConfig) -> Graph:
    """Return the canonical graph; what the host does between steps is in no loop of the chip, if
    that can be. What links bring a chip that has some is in one piece.
    """
    level = canonical(graph)
    written = written_out(calls_apart(level))
    if config.ports:
        written = shares(written)
    return level if written is level else canonical(written)


def _made(graph: Graph, level: Graph, config: TpuConfig, name: str,
          options: Mapping[str, object]) -> Compiled:
    """Compile a canonical graph: one step of the chip, or several, with what is for the host."""
    inputs, outputs = graph.params, graph.outputs
    if on_chip(level):
        return Compiled.of_chip(_chip_step(level, range(len(inputs)), config, options), config,
                                name, fingerprint(graph))
    parts, gives = split(level, overlap=bool(config.ports))
    steps = _steps(parts, gives, len(inputs), config, options)
    return Compiled(steps, gives, config, _arguments("arg", inputs),
                    _arguments("result", outputs), name, fingerprint(graph))


def _steps(parts: Sequence[GraphPart], gives: Iterable[int], count: int, config: TpuConfig,
           options: Mapping[str, object]) -> Iterator[ProgramStep]:
    """Yield the steps of a program of ``count`` parameters; those of the chip have one arena."""
    arena = Arena()
    last = {number: i for i, part in enumerate(parts) for number in part.takes}
    last |= dict.fromkeys(gives, len(parts))
    for i, part in enumerate(parts):
        if part.where == "chip":
            level = canonical(part.graph)
            needed = {number for number, end in last.items() if end > i}
            # Links may be at what comes before meanwhile, in rows of their own.
            beside = i > 0 and parts[i - 1].where == "link" and all(
                number < count - len(parts[i - 1].graph.outputs) for number in part.takes)
            rest = options, arena.places(level, part.takes, needed), arena.end
            step = _with_rows_left(level, part.takes, config, *rest) if beside else None
            step = step or _chip_step(level, part.takes, config, *rest)
            arena.add(step, count)
            yield step
        else:
            yield HostStep(part.takes, part.graph, tuple(
                _host_work(node) for node in part.graph.nodes if node.op != "parameter"))
        count += len(part.graph.outputs)


def _with_rows_left(level: Graph, takes: Iterable[int], config: TpuConfig,
                    *rest: Any) -> ChipStep | None:
    """Return a step that leaves accumulators for links; None: it needs them."""
    if not (left := link_rows(config)):
        return None
    with suppress(CompileError):
        step = _chip_step(level, takes, replace(config, acc_rows=config.acc_rows - left), *rest)
        return replace(step, program=replace(step.program, fingerprint=config.fingerprint))
    return None


def _arguments(what: str, values: Iterable[Value]) -> Iterator[Argument]:
    return (Argument(f"{what}{i}", value.type) for i, value in enumerate(values))


def _host_work(node: Node) -> WorkInfo:
    read = sum(value.type.nbytes for value in node.operands)
    return WorkInfo(node.op, str(node.source), (node.op,), *place_whole(node),
                    bytes=read + sum(type.nbytes for type in node.types), bytes_read=read)


def _chip_step(level: Graph, takes: Iterable[int], config: TpuConfig,
               options: Mapping[str, object], places: Sequence[int | None] | None = None,
               begin: int = 0) -> ChipStep:
    from celosia.compiler.build import build
    built = build(in_pairs(level), config, options, places=places, begin=begin)
    lie = tuple(_place(tensor, life, config) for tensor, life in built.tensors.items())
    # The driver looks at pairs as what they are of.
    inputs, outputs = (
        tuple(replace(each, type=value.type) if value.dtype.pair_of else each
              for each, value in zip(arguments, values, strict=True))
        for arguments, values in ((built.inputs, level.params), (built.outputs, level.outputs)))
    return ChipStep(tuple(takes), built.program, inputs, outputs, built.works, lie,
                    built.proofs, built.apart)


def _place(tensor: Tensor, life: tuple[int, int], config: TpuConfig) -> Place:
    from celosia.compiler.layout import Layout
    from celosia.compiler.lowered import External
    from celosia.graph import TensorType
    type = TensorType(tensor.dtype, tensor.shape)
    if isinstance(tensor.home, External):
        return Place(tensor.name, type, "external", tensor.home.offset, tensor.nbytes,
                     *life)
    assert tensor.home is not None
    return Place(tensor.name, type, tensor.home.mem.name.lower(), tensor.home.row,
                 Layout.of(tensor, config.dim).size, *life)
