"""Chips that wait for a message: which instruction, on which port, for whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.arch.encoding import decode
from celosia.arch.isa import BY_MNEMONIC, INSTRUCTION_BYTES, OPCODE_BITS
from celosia.arch.registers import LINK_STATUS, Status, link_register
from celosia_sim.pod.options import End

__all__ = ["PortWait", "said", "waiting"]

#: Instructions behind the oldest one that is under way at which a chip may be.
_AHEAD = 64


class PortWait(NamedTuple):
    """A chip waits: for a message, or (``sends``) for room for its own."""

    chip: int
    pc: int
    port: int
    sends: bool


def _field(status: int, name: str) -> int:
    first, bits = LINK_STATUS[name]
    return status >> first & (1 << bits) - 1


def _at(code: NDArray[np.uint8], pc: int, wanted: tuple[str, int, int]) -> int | None:
    """Return the oldest instruction like this that may be under way when a chip is at ``pc``."""
    mnemonic, port, tag = wanted
    alike = np.flatnonzero(code[:, 0] % (1 << OPCODE_BITS) == BY_MNEMONIC[mnemonic].opcode).tolist()
    fields = [decode(code[i].tobytes()).fields for i in alike]
    found = [i for i, each in zip(alike, fields, strict=True)
             if each["port"] == port and each["tag"] == tag]
    near = [i for i in found if pc - _AHEAD <= i <= pc]
    return min(near or found, default=None)


def waiting(read: Callable[[str], Sequence[int]],
            memory: Callable[[int, int, int], NDArray[np.uint8]], ports: int) -> list[PortWait]:
    """Return what chips wait for at their ports that are in the middle of a program.

    Parameters
    ----------
    read
        Returns a register of each chip.
    memory
        Returns bytes of a chip, from an address on.
    ports
        Of each chip.
    """
    state, at, program, length = map(read, ("STATUS", "PC", "PROGRAM", "LENGTH"))
    status = [read(link_register(port, "status")) for port in range(ports)]
    found = []
    for chip, now in enumerate(state):
        if now != Status.RUNNING:
            continue
        code = memory(chip, program[chip], length[chip] * INSTRUCTION_BYTES).reshape(
            -1, INSTRUCTION_BYTES)
        for port in range(ports):
            for flag, tag, mnemonic in (("receiving", "recv_tag", "recv"),
                                        ("sending", "send_tag", "send")):
                pc = _at(code, at[chip], (mnemonic, port, _field(status[port][chip], tag)))
                if _field(status[port][chip], flag) and pc is not None:
                    found.append(PortWait(chip, pc, port, mnemonic == "send"))
    return found


def said(waits: Sequence[PortWait], peers: Mapping[End, End], ended: Mapping[int, str]) -> str:
    """Say who waits for whom.

    Parameters
    ----------
    waits
        What `waiting` returned.
    peers
        The other end of each one.
    ended
        How chips ended that are not in the middle of a program.
    """
    lines = []
    for chip, pc, port, sends in waits:
        peer, other = peers.get((chip, port), (None, None))
        verb, what = ("send", "to") if sends else ("recv", "for")
        whom = "no chip" if peer is None else (
            f"chip {peer}, port {other}, which {ended.get(peer, 'waits, too')}")
        lines.append(f"chip {chip} waits at instruction {pc}, {verb} on port {port}, {what} {whom}")
    return "; ".join(lines)
