"""Random vector instructions: every operation, source, second stage, reduction and movement."""

from __future__ import annotations

from celosia.arch.commands import DST_MEM, SRC_MEM
from celosia.arch.encoding import Reg
from celosia.arch.isa import Mem, Opcode
from celosia.arch.legality import allowed
from celosia.arch.vector import (
    FLOAT_OPS,
    FLOAT_REDUCES,
    INDEXED_OPS,
    LANE_BITS_LSB,
    LANE_ROW_SRCS,
    LANE_SRCS,
    MEMORY_SRCS,
    MOVEMENT_OPS,
    PARAM_POSTS,
    SOURCES,
    STREAM_SRCS,
    VECTOR_OPERANDS,
    Dst,
    Post,
    Reduce,
    ReduceOp,
    Src,
    operand_names,
)
from celosia.arch.vector import VectorOp as Op
from celosia_sim.randbuild import Counts, ProgramBuilder, RowRegion

__all__ = ["SPECIAL_WORDS", "VectorBuilder"]

#: Numbers at the edges of fp32, most of them with a lower half that no bf16 has, and of int32.
SPECIAL_WORDS = (
    0x7F800001, 0xFF800001, 0x7F80FFFF, 0x7FC00001, 0xFFFFFFFF, 0x7FFFFFFF, 0xFFC12345,  # NaN
    0x7FC00000, 0xFF810000,
    0x7F800000, 0xFF800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F7F8000,
    0x00000001, 0x80000001, 0x0000FFFF, 0x007FFFFF, 0x807FFFFF, 0x00008000, 0x00010000,  # subnormal
    0x00800000, 0x80800001, 0x00FFFFFF, 0x00000000, 0x80000000,
    0x3F800001, 0x3F7FFFFF, 0xBF80FFFF, 0x3F808000, 0x3F818000, 0x4EFFFFFF, 0x4F000000, 0xCF000001,
)

Fields = dict[str, int | Reg]


class VectorBuilder(ProgramBuilder):
    """Emits legal vector instructions."""

    def vector(self) -> None:
        """Emit a vector instruction, at times in place; gather and scatter with their indices."""
        rng, config = self.rng, self.config
        movement = rng.random() < 0.25
        op = rng.choice([o for o in Op if (config.bf16 or o not in FLOAT_OPS)
                         and (o in MOVEMENT_OPS) == movement])
        if not movement and rng.random() < 0.15:
            op = rng.choice([o for o in Op if VECTOR_OPERANDS[o] == 3
                             and (config.bf16 or o not in FLOAT_OPS)])
        if op in INDEXED_OPS:
            self._indexed(op)
            return
        counts = self.counts()
        if op == Op.TRANSPOSE:
            counts = (config.dim * rng.choice((1, 1, 2, 3)), rng.choice((1, 1, 2, 4)), 1)
        fields = self._second(op)
        counts = self._reduction(fields, counts)
        names = operand_names(op, Post(fields["post"]))
        kinds = self._kinds(op, len(names))
        kind = self._destination()
        target = DST_MEM[kind]
        grouped = fields.get("reduce", 0) in (Reduce.ROWS, Reduce.COLLECT)
        in_place = any(src in STREAM_SRCS and SRC_MEM[src] == target for src in kinds)
        below, above = self._split(target, in_place)
        if in_place and not grouped and rng.random() < 0.4:
            counts = (counts[0], 1, 1)
            below = above = self.regions[target]
        dst, xdst = self.stream((1, counts[1], counts[2]) if grouped else counts, below)
        step = 1 if xdst == 0 else self._strides[xdst][0]
        same = below == above and in_place
        if same and step == 0:
            below, above = self._split(target, True)
            dst, xdst = self.stream(counts, below)
            same = False
        fields |= {"xdst": xdst, "dst": self.value(dst)}
        for name, src in zip(names, kinds, strict=True):
            if same and src in STREAM_SRCS and SRC_MEM[src] == target:
                fields |= {f"{name}_kind": src, f"x{name}": xdst,
                           name: self.value(dst | self._lane(src))}
            else:
                fields |= self._source(name, src, counts, above if src in STREAM_SRCS and
                                       SRC_MEM[src] == target else None)
        if op == Op.REQUANT or fields["post"] in PARAM_POSTS:
            fields["param"] = self.value(rng.getrandbits(32))
        self.emit("vector", op=op, dst_kind=kind, n2=counts[2],
                  counts=self.value(counts[0] | counts[1] << 16), **fields)

    def unknown(self, size: int, base: int = 0, shift: int = 0) -> Reg:
        """Read a lane and return a register with base + (below ``size``, a power of two) << shift.

        Nobody knows what it holds, so it is good for what is legal whatever that is.
        """
        rng, rd = self.rng, self.register()
        self.emit("read", rd=rd, row=self.value(rng.randrange(*self.regions[Mem.ACC])),
                  lane=self.value(rng.randrange(self.config.dim)))
        self._known.pop(rd, None)
        self._used_registers.add(rd)
        if size < 1 << 32:
            self.emit("and", rd=rd, a=Reg(rd), b=size - 1)
        if shift:
            self.emit("shl", rd=rd, a=Reg(rd), b=shift)
        if base:
            self.emit("add", rd=rd, a=Reg(rd), b=base)
        return Reg(rd)

    def _has(self, src: Src) -> bool:
        fmt = SOURCES[src].fmt
        return fmt is None or getattr(self.config, fmt)

    def _destination(self) -> Dst:
        return self.rng.choice([Dst.ACC] + [Dst.UB_I8] * self.config.int8
                               + [Dst.UB_BF16] * self.config.bf16)

    def _second(self, op: Op) -> Fields:
        legal = allowed(self.config, Opcode.VECTOR, "post", {"op": op})
        posts = [post for post in Post if legal is None or post in legal]
        rng = self.rng
        none = len(posts) == 1 or rng.random() < 0.3
        return {"post": Post.NONE if none else rng.choice(posts)}

    def _reduction(self, fields: Fields, counts: Counts) -> Counts:
        """Add a reduction, or none; return counts that it takes."""
        rng = self.rng
        if rng.random() < 0.65:
            return counts
        reduce = rng.choice((Reduce.ROWS, Reduce.LANES, Reduce.COLLECT))
        fields |= {"reduce": reduce, "reduce_op": rng.choice(
            [join for join in ReduceOp if self.config.bf16 or join not in FLOAT_REDUCES])}
        if reduce == Reduce.COLLECT and counts[0] > self.config.dim:
            return self.config.dim, counts[1], counts[2]
        return counts

    def _kinds(self, op: Op, count: int) -> list[Src]:
        """Return ``count`` sources of an operation, with at most two streams."""
        rng = self.rng
        kinds = [src for src in Src if src != Src.NONE and self._has(src)]
        flat = [src for src in kinds if src not in STREAM_SRCS]
        streams = [src for src in kinds if src in STREAM_SRCS]
        whole = [src for src in streams if src not in LANE_SRCS]
        if op in MOVEMENT_OPS:
            legal = [allowed(self.config, Opcode.VECTOR, f"{name}_kind", {"op": op}) or ()
                     for name in "ab"[:count]]
            return [rng.choice(found) if len(found) > 1 else found[0] for each in legal
                    if (found := [src for src in kinds if src in each])]
        taken = [rng.choice(rng.choice((whole, streams, kinds, kinds)))
                 for _ in range(count)]
        if len(taken) == 3 and all(src in STREAM_SRCS for src in taken):
            taken[rng.randrange(3)] = rng.choice(flat)
        return taken

    def _lane(self, src: Src) -> int:
        """Return a lane where it belongs in an operand, 0 for a source without one."""
        if src in LANE_SRCS | LANE_ROW_SRCS:
            return self.rng.randrange(self.config.dim) << LANE_BITS_LSB
        return 0

    def _source(self, name: str, src: Src, counts: Counts, region: RowRegion | None) -> Fields:
        """Return the fields of a source; its rows are in ``region``, or where its memory's are."""
        rng = self.rng
        fields: Fields = {f"{name}_kind": src}
        if src not in MEMORY_SRCS:
            fields[name] = self.unknown(1 << 32) if rng.random() < 0.04 else self.value(rng.choice((
                rng.getrandbits(32), rng.randrange(256), rng.randrange(256), 0, 0xFFFFFFFF,
                0x3F800000, 0xBF000000, 0x7F800000, rng.getrandbits(16) << 16,
                rng.choice(SPECIAL_WORDS), rng.getrandbits(16) | rng.randrange(64) << 16)))
            return fields
        low, high = self.regions[SRC_MEM[src]] if region is None else region
        if src in STREAM_SRCS:
            base, fields[f"x{name}"] = self.stream(counts, (low, high))
            fields[name] = self.value(base | self._lane(src))
            return fields
        row = rng.randrange(low, high)
        if rng.random() > 0.04:
            fields[name] = self.value(row | self._lane(src))
        elif src in LANE_ROW_SRCS:
            fields[name] = self.unknown(self.config.dim, row, LANE_BITS_LSB)
        else:
            fields[name] = self.unknown(4, min(row, high - 4))
        return fields

    def _indexed(self, op: Op) -> None:
        """Emit gathers or scatters, and before them what makes their index rows legal."""
        rng = self.rng
        n0, n1, n2 = self.counts()
        counts, groups = (min(n0, self.config.dim), n1, n2), (1, n1, n2)
        kind = self._destination()
        target = DST_MEM[kind]
        below, above = self._split(target, True)
        inside = above if target == Mem.ACC else self.regions[Mem.ACC]
        index, xb = self.stream(groups, inside)
        steps = self._strides.get(xb)
        again = rng.choice((1, 1, 2))
        sources = [rng.choice(self._kinds(op, 1)[:1]) for _ in range(again)]
        tables = [below if op == Op.SCATTER else
                  above if SRC_MEM[src] == target else self.regions[SRC_MEM[src]]
                  for src in sources]
        low = min(high - low for low, high in tables)
        rows = rng.choice((1, low, rng.randrange(1, low + 1)))
        self._make_indices(rows, groups, index, xb, inside)
        for src, table in zip(sources, tables, strict=True):
            more = rng.randrange(rows, table[1] - table[0] + 1)
            param = rng.choice((rows, more))
            fields = self._second(op)
            base = rng.randrange(table[0], table[1] - param + 1)
            if op == Op.GATHER:
                counts = self._reduction(fields, counts)
                grouped = fields.get("reduce", 0) in (Reduce.ROWS, Reduce.COLLECT)
                dst, fields["xdst"] = self.stream(groups if grouped else counts, below)
                fields |= {"a_kind": src, "a": self.value(base), "dst": self.value(dst)}
            else:
                fields |= {"dst": self.value(base)}
                fields |= self._source("a", src, counts, above if SRC_MEM[src] == target else None)
            # A stride that was made for these may have taken the place of that of the indices.
            if steps is not None and self._strides.get(xb) != steps:
                xb = self._stride(steps)
            self.emit("vector", op=op, dst_kind=kind, b_kind=Src.ACC, b=self.value(index), xb=xb,
                      n2=n2, counts=self.value(counts[0] | n1 << 16), param=self.value(param),
                      **fields)

    def _make_indices(self, rows: int, groups: Counts, index: int, xb: int,
                      inside: RowRegion) -> None:
        """Emit what writes numbers below ``rows`` into the index rows."""
        rng = self.rng
        low, high = self.regions[Mem.ACC]
        free = (low, inside[0]) if inside[0] > low else (inside[1], high)
        kinds = [src for src in Src if src != Src.NONE and self._has(src)
                 and not (src in STREAM_SRCS and SRC_MEM[src] == Mem.ACC and free[1] <= free[0])]
        src = rng.choice(kinds)
        # Data are large: without a mask most indices would be the first or the last.
        mask = rng.choice((rows - 1, (1 << rows.bit_length()) - 1, 0xFFFFFFFF))
        fields = self._source("a", src, groups, free if src in STREAM_SRCS and
                              SRC_MEM[src] == Mem.ACC else None)
        self.emit("vector", op=Op.AND, post=Post.CLAMP_I, dst_kind=Dst.ACC, dst=self.value(index),
                  xdst=xb, b_kind=Src.SCALAR, b=self.value(mask), param=(rows - 1) << 16,
                  n2=groups[2], counts=self.value(groups[0] | groups[1] << 16), **fields)

    def _split(self, mem: Mem, split: bool) -> tuple[RowRegion, RowRegion]:
        """Return regions of the destination and of sources in the same memory."""
        low, high = self.regions[mem]
        if not split:
            return (low, high), (low, high)
        middle = self.rng.randrange(low + 4, high - 3)
        halves = [(low, middle), (middle, high)]
        self.rng.shuffle(halves)
        return halves[0], halves[1]
