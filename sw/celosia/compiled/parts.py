"""What a compiled program says of itself: arguments, work, and where tensors lie."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.graph import TensorType

__all__ = ["Apart", "Argument", "Place", "WorkInfo"]


@dataclass(frozen=True)
class Argument:
    """A parameter or result of a graph, and the buffer of the program that holds it.

    Attributes
    ----------
    name
        Name of the buffer.
    type
        Elements and shape as the graph has them; the buffer may hold them in wider elements.
    label
        What to call it in messages.
    """

    name: str
    type: TensorType
    label: str = ""


@dataclass(frozen=True)
class WorkInfo:
    """A piece of work: operations that run together.

    Attributes
    ----------
    kind
        "dot", "convolution", "map", "move", "gather", "while" and so on.
    source
        Where it came from, as in `celosia.Program.sources`.
    operations
        Names of the graph operations in it.
    where, reason
        "chip" or "host", and why there.
    macs
        Products of the array that the operations ask for.
    vector_rows
        Rows that the vector unit goes through.
    bytes, bytes_read
        What it moves to and from external memory; what it reads of it.
    origins
        Where its operations came from, each as ``source``: its instructions say one of these or
        ``source``.
    """

    kind: str
    source: str
    operations: tuple[str, ...]
    where: str
    reason: str
    macs: int = 0
    vector_rows: int = 0
    bytes: int = 0
    bytes_read: int = 0
    origins: tuple[str, ...] = ()


@dataclass(frozen=True)
class Apart:
    """Operations that do not run together although ``consumer`` needs what ``producer`` makes.

    Both are names of operations and where they came from.
    """

    producer: str
    consumer: str
    reason: str


@dataclass(frozen=True)
class Place:
    """Where a tensor lies.

    Attributes
    ----------
    memory
        "external", "ub" or "acc".
    first, size
        Bytes from the beginning of the arena, or rows of the memory on chip.
    begin, end
        Numbers of the first and the last piece of work of the step that has the tensor; elsewhere
        in time its place may be another's.
    """

    name: str
    type: TensorType
    memory: str
    first: int
    size: int
    begin: int = 0
    end: int = 0
