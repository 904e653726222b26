"""Which instructions are legal, as data: rules that need an instruction's bits alone.

What the tables of `celosia.arch.isa` say is not repeated: every field has one of its values, fields
and operands that there are not are zero. Of what an operand is to be, a rule can only say that it
must be an immediate 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem, Opcode, RecvOp
from celosia.arch.vector import (
    BF16_SRCS,
    DIV_OPS,
    FLOAT_OPS,
    FLOAT_POSTS,
    FLOAT_REDUCES,
    INDEXED_OPS,
    INT8_SRCS,
    OPERATIONS,
    PARAM_POSTS,
    STREAM_SRCS,
    TARGETS,
    Dst,
    Post,
    Reduce,
    ReduceOp,
    SourceSet,
    Src,
    VectorOp,
)

__all__ = ["RULES", "LegalityRule", "allowed", "rules"]


class LegalityRule(NamedTuple):
    """Where all of ``when`` hold, ``field`` must be one of ``values``.

    Parameters
    ----------
    when
        Values by name of a field.
    field
        Name of a field or of an operand.
    wanted
        The rule as a sentence for an instruction that breaks it; names of fields stand in braces,
        ``taken`` for the operands that the operation takes, ``what`` for it and its second stage.
    lacks
        The rule is one of chips without this format, "" of all chips.
    """

    when: Mapping[str, frozenset[int]]
    field: str
    values: frozenset[int]
    wanted: str
    lacks: str = ""


_ZERO = frozenset({0})
_NONE = frozenset({Src.NONE})
_SOME = frozenset(Src) - _NONE
_FLAT = frozenset(Src) - STREAM_SRCS


def _when(**fields: Iterable[int]) -> dict[str, frozenset[int]]:
    return {name: frozenset(values) for name, values in fields.items()}


def _except(enum: type[isa.IntEnum], *members: Iterable[int]) -> frozenset[int]:
    return frozenset(enum).difference(*members)


def _needs(when: Mapping[str, frozenset[int]], field: str, values: frozenset[int], what: str,
           fmt: str) -> LegalityRule:
    return LegalityRule(when, field, values, f"{what} needs a chip with {fmt}", fmt)


def _dma() -> Iterator[LegalityRule]:
    for fmt, member in (("int8", DmaFormat.I8), ("bf16", DmaFormat.BF16)):
        yield _needs({}, "fmt", _except(DmaFormat, {member}), "fmt {fmt}", fmt)
    yield _needs(_when(mem={Mem.UB}), "fmt", _except(DmaFormat, {DmaFormat.W32}),
                 "fmt {fmt} of the unified buffer", "bf16")


def _matmul() -> Iterator[LegalityRule]:
    for fmt, member in (("int8", MatmulFormat.INT8), ("bf16", MatmulFormat.BF16)):
        yield _needs({}, "fmt", _except(MatmulFormat, {member}), "fmt {fmt}", fmt)
    for name in ("w", "wrows", "xw", "transpose"):
        yield LegalityRule(_when(wload=_ZERO), name, _ZERO,
                           "w, wrows, xw and transpose must be 0 where wload is")


def _operands() -> Iterator[LegalityRule]:
    """What is taken, what must be zero beside it, and how many streams there may be."""
    yield LegalityRule(_when(op=_except(VectorOp, DIV_OPS)), "post", _except(Post, {Post.DIV}),
                       "post of {op} must not be div: c is not free, or words move")
    for i, name in enumerate("abc"):
        kind, takes = f"{name}_kind", [op for op, each in OPERATIONS.items() if each.operands > i]
        wrong = f"{{what}} must take {{taken}}, and {name} is {{{kind}}}"
        leaves = _when(op=_except(VectorOp, takes))
        yield LegalityRule(_when(op=takes), kind, _SOME, wrong)
        if name == "c":
            yield LegalityRule(_when(post={Post.DIV}), kind, _SOME, wrong)
            leaves |= _when(post=_except(Post, {Post.DIV}))
        if leaves["op"]:  # every operation takes a
            yield LegalityRule(leaves, kind, _NONE, wrong)
        yield LegalityRule({kind: _NONE}, name, _ZERO, f"{name} must be 0 where it is none")
        yield LegalityRule({kind: _FLAT}, f"x{name}", _ZERO,
                           f"x{name} must be 0 where {name} is no stream but {{{kind}}}")
    yield LegalityRule(_when(a_kind=STREAM_SRCS, b_kind=STREAM_SRCS), "c_kind", _FLAT,
                       "at most two of a, b, c may be streams, not three")


def _movement() -> Iterator[LegalityRule]:
    for name in "ab":
        sets: dict[SourceSet, list[VectorOp]] = {}
        for op, each in OPERATIONS.items():
            if (wanted := getattr(each, name)) is not None:
                sets.setdefault(wanted, []).append(op)
        for wanted, ops in sets.items():
            yield LegalityRule(_when(op=ops), f"{name}_kind", wanted.sources,
                               f"{name} of {{op}} must be {wanted.text}, not {{{name}_kind}}")
    for op, name in ((VectorOp.GATHER, "xa"), (VectorOp.SCATTER, "xdst")):
        yield LegalityRule(_when(op={op}), name, _ZERO,
                           f"{name} of {{op}} must be 0: the table's rows are consecutive, not "
                           f"x{{{name}}}")
    yield LegalityRule(_when(op={VectorOp.SCATTER}), "reduce", frozenset({Reduce.NONE}),
                       "reduce of scatter must be none, not {reduce}")


def _second() -> Iterator[LegalityRule]:
    """Second stage, reduction and their parameters."""
    yield LegalityRule(_when(op=(op for op, each in OPERATIONS.items() if each.final)), "post",
                       frozenset({Post.NONE}), "post of {op} must be none, not {post}")
    yield LegalityRule(_when(op=INDEXED_OPS), "post", _except(Post, PARAM_POSTS),
                       "post of {op} must not be {post}: both use param")
    yield LegalityRule(
        _when(op=(op for op, each in OPERATIONS.items() if not each.takes_param),
              post=_except(Post, PARAM_POSTS)), "param", _ZERO,
        "param must be 0 with {op} and post {post}, which do not use it")
    yield LegalityRule(_when(reduce={Reduce.NONE}), "reduce_op", frozenset({ReduceOp.SUM_I}),
                       "reduce_op must be sum_i where reduce is none, not {reduce_op}")


def _formats() -> Iterator[LegalityRule]:
    for fmt, sources in (("int8", INT8_SRCS), ("bf16", BF16_SRCS)):
        for name in "abc":
            kind = f"{name}_kind"
            yield _needs({}, kind, _except(Src, sources), f"{name} from {{{kind}}}", fmt)
        if fmt == "bf16":
            for field, enum, floating in (("op", VectorOp, FLOAT_OPS), ("post", Post, FLOAT_POSTS),
                                          ("reduce_op", ReduceOp, FLOAT_REDUCES)):
                yield _needs({}, field, _except(enum, floating), f"{{{field}}}", fmt)
        targets = {dst for dst, each in TARGETS.items() if each.fmt == fmt}
        yield _needs({}, "dst_kind", _except(Dst, targets), "dst {dst_kind}", fmt)


def _recv() -> Iterator[LegalityRule]:
    yield from _dma()
    joins = frozenset(RecvOp) - {RecvOp.SET}
    yield LegalityRule(_when(op=joins), "mem", frozenset({Mem.ACC}),
                       "mem of recv {op} must be acc, not {mem}")
    floating = {RecvOp[op.name] for op in FLOAT_REDUCES}
    yield _needs({}, "op", _except(RecvOp, floating), "op {op}", "bf16")


#: Rules of each instruction that has any, in the order in which an instruction is told of them.
RULES: dict[Opcode, tuple[LegalityRule, ...]] = {
    Opcode.STRIDE: (LegalityRule({}, "x", frozenset(range(1, isa.NUM_STRIDES)),
                                 "x must be 1 to 7, not 0"),),
    Opcode.LOAD: tuple(_dma()),
    Opcode.STORE: tuple(_dma()),
    Opcode.MATMUL: tuple(_matmul()),
    Opcode.VECTOR: (*_operands(), *_movement(), *_second(), *_formats()),
    Opcode.SEND: tuple(_dma()),
    Opcode.RECV: tuple(_recv()),
}


@cache
def rules(config: TpuConfig, opcode: Opcode) -> tuple[LegalityRule, ...]:
    """Return the rules of an instruction on a chip; one is that it has the port."""
    found = tuple(rule for rule in RULES.get(opcode, ())
                  if not (rule.lacks and getattr(config, rule.lacks)))
    if opcode not in (Opcode.SEND, Opcode.RECV):
        return found
    return (LegalityRule({}, "port", frozenset(range(config.ports)),
                         f"port must be below the chip's {config.ports}, not {{port}}"), *found)


def allowed(config: TpuConfig, opcode: Opcode, field: str,
            known: Mapping[str, int]) -> frozenset[int] | None:
    """Return the values of a field that no rule forbids beside others that are known.

    None: any will do.
    """
    found: frozenset[int] | None = None
    for rule in rules(config, opcode):
        if rule.field == field and all(known.get(name) in values
                                       for name, values in rule.when.items()):
            found = rule.values if found is None else found & rule.values
    return found
