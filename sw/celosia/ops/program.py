"""Chains of matrix products as programs: places in the arena, then plan, schedule, assemble."""

from __future__ import annotations

from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.codegen.assemble import assemble
from celosia.codegen.nodes import Node, size, unrolled
from celosia.codegen.roll import roll
from celosia.ops.plan import plan
from celosia.ops.schedule import schedule
from celosia.ops.stages import Chain
from celosia.program import DTYPES, Buffer, Program

__all__ = ["Arena", "build", "compile_chains"]

#: Buffers begin at multiples of this: rows of the widest bus do not straddle beats.
ALIGNMENT = 128
#: Programs of more operations than this are rolled into loops.
UNROLLED_LIMIT = 512


class Arena:
    """Buffers of a program, one after another."""

    def __init__(self) -> None:
        self.buffers: list[Buffer] = []
        self.constants: dict[str, NDArray] = {}
        self.size = 0

    def add(self, name: str, shape: tuple[int, ...], dtype: str, kind: str) -> int:
        """Place a buffer; return its offset."""
        buffer = Buffer(name, self.size, shape, dtype, kind)
        self.buffers.append(buffer)
        self.size += -(-buffer.nbytes // ALIGNMENT) * ALIGNMENT
        return buffer.offset

    def constant(self, name: str, value: NDArray) -> int:
        """Place a constant; return its offset."""
        dtype = next(key for key, known in DTYPES.items() if known == value.dtype)
        self.constants[name] = value
        return self.add(name, value.shape, dtype, "constant")


def compile_chains(config: TpuConfig, chains: list[Chain],
                   unrolled_limit: int = UNROLLED_LIMIT) -> list[Node]:
    """Plan and schedule chains, one after another; roll what is long."""
    nodes: list[Node] = []
    for chain in chains:
        nodes += schedule(config, chain, plan(config, chain))
    if sum(map(size, nodes)) <= unrolled_limit:
        return [*unrolled(nodes)]
    return roll(nodes)


def build(config: TpuConfig, chains: list[Chain], arena: Arena, name: str,
          unrolled_limit: int = UNROLLED_LIMIT) -> Program:
    """Return the program of chains whose buffers are in the arena.

    Raises
    ------
    ValueError
        If the buffers do not fit 32-bit addresses, or a block does not fit the on-chip memories.
    """
    if arena.size >= 1 << 32:
        raise ValueError(f"operands and results of {name} must fit {(1 << 32) - 1} bytes of "
                         f"external memory, not take {arena.size}")
    code = assemble(compile_chains(config, chains, unrolled_limit))
    return Program(config.fingerprint, tuple(code.insns), name, tuple(code.sources), arena.size,
                   tuple(arena.buffers), arena.constants, tuple(code.relocations))
