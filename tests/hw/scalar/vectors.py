"""Random vector instructions near the edge of what is legal, for the tests of the scalar unit."""

import random

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Imm, Insn, insn
from celosia.arch.vector import (
    DIV_OPS,
    FLOAT_OPS,
    FLOAT_POSTS,
    FLOAT_REDUCES,
    INDEXED_OPS,
    LANE_ROW_SRCS,
    LANE_SRCS,
    MEMORY_SRCS,
    MOVEMENT_OPS,
    PARAM_POSTS,
    ROW_SRCS,
    STREAM_SRCS,
    Dst,
    Post,
    Reduce,
    ReduceOp,
    Src,
    VectorOp,
    operand_names,
)

__all__ = ["changed", "random_vector"]



def _has(config: TpuConfig, kind: Src | Dst) -> bool:
    """Whether the chip has the format of a source or destination."""
    return not (("I8" in kind.name and not config.int8)
                or ("BF16" in kind.name and not config.bf16))


def _kinds(config: TpuConfig, rng: random.Random, op: VectorOp, post: Post) -> list[Src]:
    """Sources of a, b, c that the decoder takes."""
    kinds = [kind for kind in Src if kind != Src.NONE and _has(config, kind)]
    streams = [kind for kind in kinds if kind in STREAM_SRCS]
    others = [kind for kind in kinds if kind not in STREAM_SRCS]
    if op in MOVEMENT_OPS:
        plain = [kind for kind in streams if kind not in LANE_SRCS]
        second = {VectorOp.TRANSPOSE: Src.NONE, VectorOp.ROTATE: Src.SCALAR}
        return [rng.choice(plain), second.get(op, Src.ACC), Src.NONE]
    names = operand_names(op, post)
    taken = {name: rng.choice(rng.choice((streams, others))) for name in names}
    if len(taken) == 3 and all(kind in STREAM_SRCS for kind in taken.values()):
        taken[rng.choice(names)] = rng.choice(others)
    return [taken.get(name, Src.NONE) for name in "abc"]


def random_vector(config: TpuConfig, rng: random.Random) -> Insn:
    """Return a vector instruction that the decoder of ``config`` takes.

    Its rows leave the memories, overlap one another, and its counts and lanes are out of range
    often enough to see each fault. Every operand is an immediate.
    """
    op = rng.choice([item for item in VectorOp if config.bf16 or item not in FLOAT_OPS])
    reduce = rng.choice(list(Reduce))
    if rng.random() < 0.3:
        op = rng.choice(sorted(MOVEMENT_OPS))
    if op == VectorOp.SCATTER:
        reduce = Reduce.NONE
    posts = [item for item in Post if (config.bf16 or item not in FLOAT_POSTS)
             and not (op in INDEXED_OPS and item in PARAM_POSTS)
             and (item != Post.DIV or op in DIV_OPS)]
    post = Post.NONE if op == VectorOp.REQUANT else rng.choice(posts)
    kinds = _kinds(config, rng, op, post)
    dst_kind = rng.choice([kind for kind in Dst if _has(config, kind)])
    n0, n1, n2 = (rng.choice((1, 1, 2, 3, 4, 5, 8)) for _ in range(3))
    if rng.random() < 0.5:
        n1 = n2 = 1
    if op == VectorOp.TRANSPOSE and rng.random() < 0.9:
        n0 = config.dim * rng.choice((1, 2))
    elif (op in INDEXED_OPS or reduce == Reduce.COLLECT) and rng.random() < 0.9:
        n0 = rng.randrange(1, config.dim + 1)
    if rng.random() < 0.03:
        n0, n1, n2 = rng.sample((0, n0, n1 + 0xFFF0), 3)
        n2 = n2 & 1023
    fields = {"op": op, "post": post, "dst_kind": dst_kind, "n2": n2, "counts": n1 << 16 | n0,
              "reduce": reduce}
    if reduce != Reduce.NONE:
        fields["reduce_op"] = rng.choice([item for item in ReduceOp
                                          if config.bf16 or item not in FLOAT_REDUCES])

    near = rng.randrange(config.acc_rows)

    def row() -> int:
        if rng.random() < 0.4:
            return near
        if rng.random() < 0.03:
            return rng.choice((config.acc_rows, config.ub_rows, 1 << 24, 0xFFFFFFFF))
        return rng.randrange(config.ub_rows if rng.random() < 0.2 else config.acc_rows)

    bad_lanes = rng.random() < 0.1
    stride = rng.choice((0, 0, rng.randrange(8)))
    fields["dst"], fields["xdst"] = row(), stride * (op != VectorOp.SCATTER)
    for name, kind in zip("abc", kinds, strict=True):
        fields[f"{name}_kind"] = kind
        if kind in STREAM_SRCS and not (op == VectorOp.GATHER and name == "a"):
            fields[f"x{name}"] = stride if rng.random() < 0.5 else rng.randrange(8)
        if kind in LANE_SRCS | LANE_ROW_SRCS:
            lane = rng.randrange(config.dim)
            if bad_lanes and rng.random() < 0.7:
                lane = rng.choice((config.dim, 255, rng.randrange(config.dim, 256)))
            fields[name] = row() & 0xFFFFFF | lane << 24
        elif kind in MEMORY_SRCS | ROW_SRCS:
            fields[name] = row()
        elif kind != Src.NONE:
            fields[name] = rng.getrandbits(32)
    if op in INDEXED_OPS:
        fields["param"] = rng.choice((1, rng.randrange(1, 20), rng.randrange(1, 20), 0, 65535,
                                      65536) if rng.random() < 0.2 else (rng.randrange(1, 20),))
    elif op == VectorOp.REQUANT or post in PARAM_POSTS:
        fields["param"] = rng.getrandbits(32)
    return insn("vector", **fields)


def changed(instruction: Insn, rng: random.Random) -> Insn:
    """Return the instruction with a field changed, as likely as not to an illegal value."""
    field = rng.choice(instruction.instruction.fields)
    fields = {**instruction.fields, field.name: rng.getrandbits(field.width)}
    if field.enum is not None and rng.random() < 0.8:
        fields[field.name] = rng.choice(list(field.enum))
    operands = list(instruction.operands)
    if rng.random() < 0.3:
        operands[rng.randrange(len(operands))] = Imm(rng.choice((0, 1)))
    return Insn(instruction.instruction, fields, tuple(operands))
