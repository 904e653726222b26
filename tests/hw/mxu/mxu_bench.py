"""A bench of the matrix unit: memories beside it, and a reference."""

import functools
import random
from dataclasses import dataclass, field

import numpy as np
from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.lib import wiring

from celosia.arch import numerics
from celosia.arch.config import TpuConfig
from celosia.arch.registers import Activity
from celosia_hw.commands import matmul_layout
from celosia_hw.memory.ports import READ_LATENCY
from celosia_hw.mxu.unit import MatrixUnit
from hw.simulation import World


def config(dim, *, int8=True, bf16=False, lanes=None):
    return TpuConfig("bench", dim=dim, int8=int8, bf16=bf16, ub_rows=256, acc_rows=64, bus_bytes=4,
                     lanes=lanes or dim)


def linear(base):
    return {"base": base, "linear": 1, "s0": 0, "s1": 0, "s2": 0}


def matmul(acc, acts, w=None, *, rows=1, counts=None, fmt=0, accumulate=0, transpose=0, wrows=0,
           w_step=1):
    """Fields of a command; ``acc`` and ``acts`` are a base or a stream; no ``w``: keep the tile."""
    stream = [x if isinstance(x, dict) else linear(x) for x in (acc, acts)]
    n = counts or (rows, 1, 1)
    return {
        "fmt": fmt, "accumulate": accumulate, "wload": int(w is not None), "transpose": transpose,
        "acc": stream[0], "acts": stream[1], "w_base": w or 0, "w_step": w_step if w is not None
        else 0, "wrows": wrows, "counts": dict(zip(("n0", "n1", "n2"), n, strict=True)),
    }


def addresses(stream, counts):
    n0, n1, n2 = counts["n0"], counts["n1"], counts["n2"]
    if stream["linear"]:
        return [stream["base"] + i for i in range(n0 * n1 * n2)]
    return [stream["base"] + i0 * stream["s0"] + i1 * stream["s1"] + i2 * stream["s2"]
            for i2 in range(n2) for i1 in range(n1) for i0 in range(n0)]


class Reference:
    """What the commands mean. ``ub``: uint16 lanes; ``acc``: uint32 words."""

    def __init__(self, dim, ub, acc):
        self.dim, self.ub, self.acc = dim, ub.copy(), acc.copy()
        self.tile = np.zeros((dim, dim), np.uint16)

    def run(self, command):
        if command["wload"]:
            stored = np.zeros((self.dim, self.dim), np.uint16)
            for k in range(command["wrows"]):
                stored[k] = self.ub[command["w_base"] + k * command["w_step"]]
            self.tile = stored.T.copy() if command["transpose"] else stored
        rows = zip(addresses(command["acts"], command["counts"]),
                   addresses(command["acc"], command["counts"]), strict=True)
        for act_row, acc_row in rows:
            total = self.sums(self.ub[act_row], command["fmt"])
            if command["accumulate"]:
                old = self.acc[acc_row]
                total = numerics.f32_add(old, total) if command["fmt"] else old + total
            self.acc[acc_row] = total

    def sums(self, acts, fmt):
        total = np.zeros(self.dim, np.uint32)
        for k in range(self.dim):
            if fmt:
                product = numerics.f32_mul(numerics.bf16_to_f32(acts[k]),
                                           numerics.bf16_to_f32(self.tile[k]))
                total = numerics.f32_add(total, product)
            else:
                low = self.tile[k].astype(np.int8).astype(np.int32)
                total = total + (low * np.int32(acts[k].astype(np.int8))).view(np.uint32)
        return total


def pack(row, bits):
    return sum(int(x) << (bits * i) for i, x in enumerate(row))


def unpack(value, bits, dim, dtype):
    return np.array([(value >> (bits * i)) & ((1 << bits) - 1) for i in range(dim)], dtype)


@dataclass
class Trace:
    """Cycle numbers: of each acts row granted, of each row written, of each ``done``."""

    started: list[int] = field(default_factory=list)
    written: list[int] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    activity: list[Activity] = field(default_factory=list)
    acc: np.ndarray | None = None


class Bench(wiring.Component):
    """The unit, with a reset."""

    def __init__(self, cfg: TpuConfig):
        super().__init__({})
        self.unit, self.reset = MatrixUnit(cfg), Signal()

    def elaborate(self, platform):
        m = Module()
        m.submodules.unit = ResetInserter(self.reset)(self.unit)
        return m


@functools.cache
def world(cfg: TpuConfig) -> World:
    """The bench of a configuration, made once."""
    return World(Bench(cfg))


def simulate(cfg, commands, ub, acc, *, hold_back=0.0, reset_at=None, seed=0, limit=20_000,
             written=(range(0), range(0))):
    """Run ``commands``; the unified buffer refuses weights in the bank of activations;
    ``hold_back``: chance that the next command is not offered yet; ``reset_at``: cycle of a reset,
    after which everything starts again, with ``acc`` as it was given; ``written``: ranges of rows
    of ``ub`` that hold something else until a load writes them, a row after the other at random,
    those of the first one before those of the second.
    """
    dut, reset = world(cfg).component.unit, world(cfg).component.reset
    rng = random.Random(seed)
    lane, dim = cfg.lane_bits, cfg.dim
    layout = matmul_layout(cfg)
    trace = Trace()
    first_acc = acc
    acc = acc.copy()

    async def bench(ctx):
        pending = list(commands)
        offered = False
        left = [*written]
        pipes: dict[str, list[int | None]] = {
            port: [None] * READ_LATENCY for port in ("acts", "weights", "acc_read")}
        # What is set and seen in every cycle: its names cost more.
        ports = {name: (port.data, port.addr, port.valid) for name, port in (
            (name, getattr(dut, name)) for name in pipes)}
        offer, write = dut.port.command, dut.acc_write
        taken, ended, activity = offer.ready, dut.port.done, dut.port.activity
        written_row, told = write.valid, None
        for cycle in range(limit):
            ctx.set(reset, cycle == reset_at)
            if reset_at is not None and cycle == reset_at + 1:
                pending, offered = list(commands), False
                acc[:] = first_acc
                trace.done.clear()
            for name, pipe in pipes.items():
                bits = dim * (32 if name == "acc_read" else lane)
                data = pipe.pop(0)
                ctx.set(ports[name][0], rng.getrandbits(bits) if data is None else data)
            if left != told:
                told = list(left)
                for i, rows in enumerate(left):
                    ctx.set(dut.coming[i], {"valid": bool(rows), "low": rows.start,
                                            "high": max(rows.stop - 1, 0)})
            missing = {row for rows in left for row in rows}
            offered = bool(pending) and (offered or rng.random() >= hold_back)
            ctx.set(offer.valid, offered)
            if offered:
                ctx.set(offer.payload, layout.const(pending[0]))
            if offered and ctx.get(taken):
                pending.pop(0)
                offered = False
            for name, pipe in pipes.items():
                _, addr, valid = ports[name]
                granted, row = ctx.get(valid), ctx.get(addr)
                if name == "weights" and ctx.get(dut.acts.valid):
                    granted = granted and row % cfg.banks != ctx.get(dut.acts.addr) % cfg.banks
                if name == "acc_read":
                    pipe.append(pack(acc[row], 32) if granted else None)
                else:
                    pipe.append(pack(ub[row], lane) if granted and row not in missing else None)
                if name == "acts" and granted:
                    trace.started.append(cycle)
            if ctx.get(written_row):
                acc[ctx.get(write.addr)] = unpack(ctx.get(write.data), 32, dim, np.uint32)
                trace.written.append(cycle)
            loading = next((i for i, rows in enumerate(left) if rows), 0)
            if rng.random() < 0.3:
                left[loading] = left[loading][1:]
            trace.activity.append(Activity(ctx.get(activity)))
            if len(trace.done) == len(commands):  # the last row is written a cycle later
                break
            if ctx.get(ended):
                trace.done.append(cycle)
            await ctx.tick()
        else:
            raise AssertionError(f"{len(trace.done)} of {len(commands)} commands in {limit} cycles")

    world(cfg).run(bench)
    trace.acc = acc
    return trace
