"""Compiled programs whose devices meet by links of chips: one program of each chip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Imm, Insn, insn
from celosia.arch.isa import DmaFormat, OperandType, RecvOp
from celosia.collectives.interconnect import group_of
from celosia.collectives.schedule.emit import Exchange
from celosia.collectives.schedule.moves import Payload, copies
from celosia.collectives.topology import Topology
from celosia.collectives.weave import beside_links, woven
from celosia.compiled.arguments import encode
from celosia.compiled.artifact import Compiled
from celosia.compiled.parts import Argument
from celosia.compiled.steps import ChipStep, HostStep, ProgramStep
from celosia.compiler.lowered import buffer_dtype
from celosia.compiler.overlap import link_rows
from celosia.graph import DType, Graph, Node, TensorType, Value, interpret
from celosia.model.timing.straight import StraightInsn
from celosia.program import DTYPES, Buffer, Program

__all__ = ["linked"]

_ALIGNMENT = 64
_FORMATS = {"int8": DmaFormat.I8, "int32": DmaFormat.W32, "float32": DmaFormat.W32,
            "bfloat16": DmaFormat.BF16}
#: How links join elements, by the reducer; what is not here the host joins.
_FLOATS = {"add": RecvOp.SUM_F, "maximum": RecvOp.MAX_F, "minimum": RecvOp.MIN_F}
_EXTREMES = {"maximum": RecvOp.MAX_I, "minimum": RecvOp.MIN_I}
_BITS = {"and": RecvOp.AND, "or": RecvOp.OR}
_JOINS: dict[DType, Mapping[str, RecvOp]] = {
    DType.F32: _FLOATS, DType.BF16: _FLOATS, DType.BOOL: _BITS,
    DType.I32: {"add": RecvOp.SUM_I} | _EXTREMES | _BITS,
    DType.U32: {"add": RecvOp.SUM_I} | _BITS,
    **dict.fromkeys((DType.I8, DType.I16, DType.U8, DType.U16), _EXTREMES | _BITS),
}
_REDUCING = ("all_reduce", "reduce_scatter")
#: Of these, all that are waited for at once are one exchange.
_TOGETHER = (*_REDUCING, "all_gather")


def linked(compiled: Compiled, topology: Topology, device: int,
           chips: Sequence[int] | None = None) -> Compiled:
    """Return a program that exchanges arrays by the links of its chip, as far as these can.

    What stood between two exchanges, and these, are one program of the chip. Joins that links do
    not have stay steps of the host.

    Parameters
    ----------
    compiled
        For a chip with the topology's ports.
    topology
        Of all chips.
    device
        Which of the devices that run the program together.
    chips
        The chip of each of them; None: as they are counted.

    Raises
    ------
    ValueError
        If no links connect the devices of an exchange alone.
    """
    if not any(isinstance(step, HostStep) and step.where == "link" for step in compiled.steps):
        return compiled
    chips = range(topology.chips) if chips is None else chips
    return _Linker(compiled, _Place(topology, tuple(chips), device)).made()


@dataclass(frozen=True)
class _Place:
    """Where a device is among others."""

    topology: Topology
    chips: tuple[int, ...]
    device: int

    def exchange(self, node: Node) -> tuple[Topology, int, tuple[int, ...]]:
        """Return the topology of those that take part in an operation, the chip's number there and
        the dimensions of its links.
        """
        devices = (tuple(range(len(self.chips))) if node.op == "collective_permute"
                   else group_of(node, self.device))
        if max(devices) >= len(self.chips):
            raise ValueError(f"{node.source}: {node.op} must be run on {max(devices) + 1} devices "
                             f"or more, not on {len(self.chips)}")
        group = [self.chips[each] for each in devices]
        try:
            return (self.topology.within(group), devices.index(self.device),
                    self.topology.dims_of(group))
        except ValueError as error:
            raise ValueError(f"{node.source}: {node.op}: {error}") from None


def _can_link(node: Node) -> bool:
    """Whether links do what an operation wants, or it is none of them."""
    if node.op in _REDUCING and node.attrs["reducer"] not in _JOINS.get(node.types[0].dtype, {}):
        return False
    return _flat(node) and not any(type.dtype.pair_of for type in node.types)


def _flat(node: Node) -> bool:
    """Whether parts follow each other in memory."""
    attrs = node.attrs
    if node.op not in ("all_gather", "reduce_scatter", "all_to_all"):
        return True
    cut, joined = attrs.get("split", attrs.get("dim", 0)), attrs.get("concat", attrs.get("dim", 0))
    before = 1 if node.op == "all_gather" else prod(node.operands[0].shape[:cut])
    behind = 1 if node.op == "reduce_scatter" else prod(node.result.type.shape[:joined])
    return before == behind == 1


@dataclass
class _Code:
    """A program that grows: all of its steps have one arena."""

    config: TpuConfig
    end: int
    insns: list[Insn] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    relocations: list[tuple[int, int]] = field(default_factory=list)
    constants: list[tuple[Buffer, NDArray]] = field(default_factory=list)

    def add(self, program: Program) -> None:
        """Add a step, which goes on behind where it halted."""
        first, last = len(self.insns), len(program.insns) - 1
        for i, each in enumerate(program.insns):
            if each.instruction.mnemonic == "halt":
                if i != last:
                    self.insns.append(insn("jump", target=first + last))
                continue
            self.insns.append(replace(each, operands=tuple(
                Imm(operand.value + first) if isinstance(operand, Imm)
                and described.type is OperandType.TARGET else operand
                for operand, described in zip(each.operands, each.instruction.operands,
                                              strict=True))))
        self.relocations += [(i + first, operand) for i, operand in program.relocations]
        sources = program.sources or ("",) * len(program.insns)
        self.sources += [source for source, each in zip(sources, program.insns, strict=True)
                         if each.instruction.mnemonic != "halt"
                         or each is not program.insns[last]]

    def straight(self, insns: Sequence[StraightInsn]) -> None:
        """Add instructions without control flow."""
        for _, made, source, relocations in insns:
            self.relocations += [(len(self.insns), operand) for operand in relocations]
            self.insns.append(made)
            self.sources.append(source)

    def moves(self, insns: Sequence[Insn], source: str) -> None:
        """Add instructions whose addresses are in the arena."""
        self.straight([StraightInsn(0, each, source, _addresses(each)) for each in insns])

    def copy(self, source: Buffer, target: Buffer, why: str) -> None:
        """Copy a tensor."""
        self.moves(list(copies(self.config, _payload(source), _payload(target), _count(source))),
                   why)

    def room(self, type: TensorType, name: str) -> Buffer:
        """Return a place of its own for a tensor."""
        offset = -(-self.end // _ALIGNMENT) * _ALIGNMENT
        dtype = buffer_dtype(self.config, type.dtype)
        made = Buffer(name, offset, type.shape, dtype, "scratch")
        self.end = offset + max(1, made.nbytes)
        return made


def _payload(buffer: Buffer) -> Payload:
    return Payload(buffer.offset, _FORMATS[buffer.dtype])


def _count(buffer: Buffer) -> int:
    return buffer.nbytes // DTYPES[buffer.dtype].itemsize


#: A step of the links, and the number of its first value.
_Numbered = tuple[HostStep, int]


class _NoRoom(Exception):
    """The accumulators have no room for an exchange beside a part of the chip."""


def _addresses(made: Insn) -> tuple[int, ...]:
    """Return which operands of what moves a tensor are addresses in the arena."""
    return (1,) if made.instruction.mnemonic in ("load", "store") else ()


class _Linker:
    """Makes one program."""

    def __init__(self, compiled: Compiled, place: _Place):
        self.compiled, self.place = compiled, place
        self.numbers = {i: i for i in range(len(compiled.inputs))}  # new ones of values by the old
        self.steps: list[ProgramStep] = []
        self.end = compiled.arena_bytes

    def made(self) -> Compiled:
        """Return the program."""
        old = self.compiled
        first = len(old.inputs)
        count, group = first, []  # values so far; steps that become one, with their first values
        for step in old.steps:
            if isinstance(step, ChipStep) or (
                    step.where == "link" and all(map(_can_link, _meetings(step.graph)))):
                group.append((step, first))
            else:
                count = self._group(group, count)
                group = []
                count = self._number(range(first, first + step.gives), count)
                self.steps.append(self._renumbered(step))
            first += step.gives
        self._group(group, count)
        return Compiled(self.steps, [self.numbers[number] for number in old.gives], old.config,
                        old.inputs, old.outputs, old.name, old.graph)

    def _number(self, values: Sequence[int], count: int) -> int:
        self.numbers.update({old: count + i for i, old in enumerate(values)})
        return count + len(values)

    def _renumbered(self, step: ProgramStep) -> ProgramStep:
        return replace(step, takes=tuple(self.numbers[number] for number in step.takes))

    def _group(self, group: Sequence[tuple[ProgramStep, int]], count: int) -> int:
        """Add steps that follow each other as one; return the number of the next value."""
        if not group:
            return count
        begin, end = group[0][1], group[-1][1] + group[-1][0].gives
        inside = {id(step) for step, _ in group}
        wanted = {*self.compiled.gives, *(number for step in self.compiled.steps
                                          if id(step) not in inside for number in step.takes)}
        gives = [number for number in range(begin, end) if number in wanted]
        takes = list(dict.fromkeys(number for step, _ in group for number in step.takes
                                   if number < begin))
        if len(group) == 1 and isinstance(group[0][0], ChipStep):
            gives = list(range(begin, end))
            self.steps.append(self._renumbered(group[0][0]))
        else:
            made = _Fused(self.compiled, self.place, [step for step, _ in group], begin, self.end)
            step = made.step(takes, gives, len(self.steps))
            self.end = step.program.arena_bytes
            self.steps.append(self._renumbered(step))
        return self._number(gives, count)


def _meetings(graph: Graph) -> list[Node]:
    """Return the nodes of a step in which devices meet; the others make constants."""
    return [node for node in graph.nodes if node.op in (*_REDUCING, "all_gather", "all_to_all",
                                                        "collective_permute", "device_id")]


class _Fused:
    """Steps of chip and links that become one program.

    Attributes
    ----------
    homes
        Where each value is, by its number.
    """

    def __init__(self, compiled: Compiled, place: _Place, steps: Sequence[ProgramStep],
                 begin: int, end: int):
        self.compiled, self.place, self.steps, self.begin = compiled, place, steps, begin
        self.code = _Code(compiled.config, end)
        self.homes: dict[int, Buffer] = {}
        self.given: dict[int, Argument] = {}
        self._tag = 0
        #: Where steps of the chip want what they take: a value is made there if it can be.
        self._wanted: dict[int, Buffer] = {}
        for step in steps:
            if isinstance(step, ChipStep):
                for number, each in zip(step.takes, step.inputs, strict=True):
                    self._wanted.setdefault(number, step.program.buffer(each.name))

    def step(self, takes: Sequence[int], gives: Sequence[int], number: int) -> ChipStep:
        """Return the step that takes and gives some values."""
        for value in takes:
            self._home(value, self._type(value))
        # Also a chip that has nothing to send begins with the others.
        self.code.moves([insn("chip", rd=0)], "")
        first = self.begin
        waits: _Numbered | None = None
        for step in self.steps:
            if isinstance(step, ChipStep):
                if waits is None or not self._beside(step, waits):
                    self._links(waits)
                    self._chip(step)
                self.homes.update({first + i: step.program.buffer(each.name)
                                   for i, each in enumerate(step.outputs)})
                waits = None
            else:
                self._links(waits)
                waits = step, first
            first += step.gives
        self._links(waits)
        code, config = self.code, self.compiled.config
        code.insns.append(insn("halt"))
        code.sources.append("")
        inputs, outputs = (tuple(
            Argument(f"{what}{i}.{number}", self._type(value)) for i, value in enumerate(values))
            for what, values in (("taken", takes), ("given", gives)))
        buffers = [*(replace(self.homes[value], name=each.name, kind=kind)
                     for arguments, values, kind in ((inputs, takes, "input"),
                                                     (outputs, gives, "output"))
                     for value, each in zip(values, arguments, strict=True))]
        constants = {}
        for i, (buffer, array) in enumerate(code.constants):
            buffers.append(replace(buffer, name=f"constant{i}.{number}", kind="constant"))
            constants[buffers[-1].name] = array
        program = Program(config.fingerprint, tuple(code.insns), self.compiled.name,
                          tuple(code.sources), code.end, tuple(buffers), constants,
                          tuple(code.relocations))
        return ChipStep(tuple(takes), program, inputs, outputs,
                        sum((step.works for step in self.steps), ()))

    def _type(self, value: int) -> TensorType:
        """Return the type of a value."""
        count = len(self.compiled.inputs)
        if value < count:
            return self.compiled.inputs[value].type
        for step in self.compiled.steps:
            if value < count + step.gives:
                return (step.outputs[value - count].type if isinstance(step, ChipStep)
                        else step.graph.outputs[value - count].type)
            count += step.gives
        raise AssertionError(value)

    def _home(self, value: int, type: TensorType) -> Buffer:
        """Return where a value is, or is to be."""
        if value not in self.homes:
            self.homes[value] = self._wanted.get(value) or self.code.room(type, f"value{value}")
        return self.homes[value]

    def _chip(self, step: ChipStep, code: list[StraightInsn] | None = None) -> None:
        """Add a step of the chip; ``code``: what there is instead of its program's."""
        for number, each in zip(step.takes, step.inputs, strict=True):
            buffer = step.program.buffer(each.name)
            if buffer.offset != self.homes[number].offset:
                self.code.copy(self.homes[number], buffer, "copy")
        for buffer in step.program.buffers:
            if buffer.kind == "constant":
                self.code.constants.append((buffer, step.program.constants[buffer.name]))
        if code is None:
            self.code.add(step.program)
        else:
            self.code.straight(code)

    def _beside(self, step: ChipStep, waits: _Numbered) -> bool:
        """Add a step of the chip and one of the links side by side; False: it cannot be."""
        links, first = waits
        if any(first <= value < first + links.gives for value in step.takes):
            return False
        code = beside_links(step.program, self.compiled.config)
        if code is None:
            return False
        try:
            moves = self._moves(links, first, beside=True)
        except _NoRoom:
            return False
        self._chip(step, woven(code, moves, self.compiled.config))
        return True

    def _links(self, waits: _Numbered | None) -> None:
        """Add the exchanges of a step of the links."""
        if waits is not None:
            self.code.straight(self._moves(*waits))

    def _moves(self, step: HostStep, first: int, *, beside: bool = False) -> list[StraightInsn]:
        """Return the exchanges of a step of the links, one behind the other.

        ``beside``: a part of the chip; then they have few rows (`link_rows`), from the first on.
        """
        graph = step.graph
        places: dict[Value, Buffer] = {
            value: self.homes[number] for value, number in zip(graph.params, step.takes,
                                                               strict=True)}
        results = {value: first + i for i, value in enumerate(graph.outputs)}
        waiting, moves = _meetings(graph), []
        while waiting:
            ready = [node for node in waiting if all(
                value.node not in waiting for value in node.operands)]
            alike = [node for node in ready if node.op in _TOGETHER and
                     _likeness(node) == _likeness(ready[0])] or ready[:1]
            for node in alike:
                waiting.remove(node)
                for value in node.operands:
                    if value not in places:
                        places[value] = self._constant(value)
                places[node.result] = (
                    self._home(results[node.result], node.result.type) if node.result in results
                    else self.code.room(node.result.type, node.op))
            try:
                exchanges = [self._exchange(alike, places, beside)]
            except (ValueError, _NoRoom):
                if len(alike) == 1:
                    raise
                # Together they need more rows than one after the other.
                exchanges = [self._exchange([node], places, beside) for node in alike]
            for exchange in exchanges:
                begin = moves[-1].time if moves else 0
                moves += [each._replace(time=begin + each.time) for each in exchange]
        for value, number in results.items():
            if value not in places:
                places[value] = self._constant(value)
            self.homes[number] = places[value]
        return moves

    def _constant(self, value: Value) -> Buffer:
        """Return the place of a value that nothing has to be known for."""
        [array] = interpret(Graph("constant", [], [value]), [])
        return self._kept(np.asarray(array), value.type)

    def _kept(self, array: NDArray, type: TensorType) -> Buffer:
        buffer = self.code.room(type, f"constant{len(self.code.constants)}")
        self.code.constants.append((buffer, encode(array, DTYPES[buffer.dtype], buffer.shape)))
        return buffer

    def _exchange(self, nodes: Sequence[Node], places: Mapping[Value, Buffer],
                  beside: bool) -> list[StraightInsn]:
        """Return what brings the results of operations that are alike to their places."""
        node, code = nodes[0], self.code
        source = node.source.told(node.op)
        if node.op == "device_id":
            number = self._kept(np.array(self.place.device, np.uint32), node.result.type)
            code.copy(number, places[node.result], source)
            return []
        topology, chip, dims = self.place.exchange(node)
        pairs = tuple(node.attrs["pairs"]) if node.op == "collective_permute" else ()
        if node.op == "collective_permute" and all(b != self.place.device for _, b in pairs):
            zeros = self._kept(np.zeros(node.result.type.shape, node.result.type.dtype.numpy),
                               node.result.type)
            code.copy(zeros, places[node.result], source)
        given = [places[each.operands[0]] for each in nodes]
        got = [places[each.result] for each in nodes]
        op = (_JOINS[node.types[0].dtype][node.attrs["reducer"]] if node.op in _REDUCING
              else RecvOp.SET)
        exchange = Exchange(node.op, topology, tuple(map(_count, given)), pairs,
                            beside)
        config = (replace(code.config, acc_rows=link_rows(code.config)) if beside
                  else code.config)
        try:
            timed = exchange.timed(config, chip, op, list(map(_payload, given)),
                                   list(map(_payload, got)), tag=self._tag, dims=dims)
        except ValueError as error:
            if beside:
                raise _NoRoom from error
            raise
        self._tag += 64
        return [StraightInsn(time, each, source, _addresses(each)) for time, each in timed]


def _likeness(node: Node) -> tuple[object, ...]:
    return node.op, node.attrs.get("groups"), (
        _JOINS[node.types[0].dtype][node.attrs["reducer"]] if node.op in _REDUCING
        else node.types[0].dtype)
