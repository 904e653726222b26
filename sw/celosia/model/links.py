"""Links between chips as the model sees them: queues of messages without a bound."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.faults import LinkFault
from celosia.arch.isa import DmaFormat, RecvOp
from celosia.arch.messages import MessageCommand
from celosia.arch.vector import ReduceOp
from celosia.model.checks import Stop
from celosia.model.dma import to_elements, to_lanes
from celosia.model.lanes import JOINS

__all__ = ["LinkMessage", "MessagePorts", "Unconnected", "receive", "send"]


@dataclass(frozen=True)
class LinkMessage:
    """Rows under way: what its header says, and elements as they are in external memory; when the
    last of them is there, by the clock of the chip that sent them.
    """

    fmt: DmaFormat
    tag: int
    rows: NDArray
    comes: int = 0


class MessagePorts(Protocol):
    """What a chip knows of its links.

    Attributes
    ----------
    chip, chips
        The chip's number, and how many run together.
    """

    chip: int
    chips: int

    def inbox(self, port: int) -> deque[LinkMessage] | None:
        """Return what has arrived at a port; None if no chip is there."""
        ...

    def outbox(self, port: int) -> deque[LinkMessage] | None:
        """Return what is under way from a port; None if no chip is there."""
        ...


class Unconnected:
    """The ports of a chip that is alone."""

    def __init__(self) -> None:
        self.chip, self.chips = 0, 1

    def inbox(self, port: int) -> None:
        """Return nothing."""

    def outbox(self, port: int) -> None:
        """Return nothing."""


def send(command: MessageCommand, ports: MessagePorts, memory: NDArray, comes: int = 0) -> None:
    """Put rows of ``memory``, which the command names, into a link; Stop where there is none."""
    queue = ports.outbox(command.port)
    if queue is None:
        raise Stop(LinkFault.LINK_DOWN, command.port)
    rows = to_elements(command, memory[command.rows.index()])
    queue.append(LinkMessage(command.fmt, command.tag, np.array(rows), comes))


def receive(config: TpuConfig, command: MessageCommand, ports: MessagePorts,
            memory: NDArray) -> None:
    """Take a message, which must have arrived, into rows of ``memory``; Stop where it is wrong."""
    queue = ports.inbox(command.port)
    if queue is None:
        raise Stop(LinkFault.LINK_DOWN, command.port)
    message = queue.popleft()
    if (message.fmt, len(message.rows), message.tag) != (
            command.fmt, command.rows.length, command.tag):
        raise Stop(LinkFault.LINK_MISMATCH, message.tag | message.fmt << 12
                   | (len(message.rows) & 0xFFFF) << 16)
    arrived = to_lanes(command, message.rows, memory.dtype)
    index = command.rows.index()
    if command.op in (None, RecvOp.SET):
        memory[index] = arrived
        return
    join = JOINS[ReduceOp[command.op.name]]
    if isinstance(index, slice) or len(np.unique(index)) == len(index):
        memory[index] = join(arrived, memory[index])
        return
    for row, new in zip(index, arrived, strict=True):  # a row may come again
        memory[row] = join(new, memory[row])
