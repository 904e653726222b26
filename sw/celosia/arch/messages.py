"""Sends and receives with their operands: rows that a link takes, or brings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from celosia.arch.config import COUNT_BITS, COUNT_MAX
from celosia.arch.isa import DmaFormat, Mem, RecvOp
from celosia.arch.streams import Stream, Strides

__all__ = ["MessageCommand"]


@dataclass(frozen=True)
class MessageCommand:
    """A send, or a receive whose rows are set or joined.

    Attributes
    ----------
    port, tag
        Where it goes or comes from, and its name.
    mem, fmt, rows
        What is sent, or where it goes.
    op
        None: it is a send.
    """

    port: int
    tag: int
    mem: Mem
    fmt: DmaFormat
    rows: Stream
    op: RecvOp | None

    @staticmethod
    def of(fields: Mapping[str, Any], words: Sequence[int],
           registers: Sequence[Strides]) -> MessageCommand:
        """Return the command of an instruction; arguments as of `celosia.arch.commands.unpack`."""
        row, counts = words
        shape = counts & COUNT_MAX, counts >> COUNT_BITS, 1
        xrow = fields["xrow"]
        return MessageCommand(
            fields["port"], fields["tag"], fields["mem"], fields["fmt"],
            Stream(row, shape, registers[xrow]) if xrow else Stream.linear(row, shape),
            fields.get("op"))
