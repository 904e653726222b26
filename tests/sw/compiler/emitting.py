"""What is emitted for a piece of work, in a few numbers."""

from zlib import crc32

from celosia.arch.isa import Mem
from celosia.compiler.codegen.blocks import Emitted

__all__ = ["summary"]


def summary(emitted: Emitted) -> str:
    """Say how many operations there are and in how many runs of blocks, and a checksum of all:
    where each is, its words, its strides, and what it says that it is of.
    """
    stages = [("before", emitted.before), ("after", emitted.after)]
    for number, run in enumerate(emitted.runs):
        for turn in range(run.count):
            stages += [(f"{number} {i}", stage) for i, stage in enumerate(run.block(turn).stages)]
    lines = []
    for place, ops in stages:
        for op in ops:
            streams = {} if op.mnemonic == "stride" else op.command.streams
            lines.append(f"{place} {op.mnemonic} {op.words} "
                         f"{[stream.triple for stream in streams.values()]} {op.source} {op.reach}")
    if emitted.private is not None:
        lines += [f"{mem.name} {emitted.private[mem]}" for mem in Mem]
    return f"{emitted.size} in {len(emitted.runs)}: {crc32(repr(lines).encode()):08x}"
