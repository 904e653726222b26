"""What a program needs of external memory: how much, when, for which tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

__all__ = ["Alive", "Demand"]

#: Tensors that are named, the largest.
_MOST = 8


@dataclass(frozen=True)
class Alive:
    """A tensor that is needed when most is.

    Attributes
    ----------
    name, type
        As in ``w f32[784, 512]``.
    nbytes
        In external memory.
    source
        The place of what makes it; "" of arguments and constants.
    """

    name: str
    type: str
    nbytes: int
    source: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.type}{self.source and f' of {self.source}'}"


@dataclass(frozen=True)
class Demand:
    """More than there is.

    Attributes
    ----------
    limit, needed
        Bytes that there are, and that are needed.
    fixed
        Bytes of what is needed from beginning to end: arguments, results and constants.
    place
        Where most is needed.
    held
        What is needed there, the largest first.
    history
        Each piece of work in the order in which they run: its place, and the bytes that are needed
        while it runs. The arena may be larger than the most of these: by gaps between tensors.
    """

    limit: int
    needed: int
    fixed: int
    place: str
    held: tuple[Alive, ...]
    history: tuple[tuple[str, int], ...]

    def renamed(self, names: Mapping[str, str]) -> Demand:
        """Return it with other names of some tensors."""
        return replace(self, held=tuple(replace(each, name=names.get(each.name, each.name))
                                        for each in self.held))

    def __str__(self) -> str:
        left = self.held[_MOST:]
        said = (f"the program must fit {self.limit} bytes of external memory, not need "
                f"{self.needed}: {self.fixed} for arguments, results and constants, "
                f"{self.needed - self.fixed} for what lies between; most is needed "
                f"{self.place and f'at {self.place} '}for")
        return "\n".join((
            said,
            *(f"  {each.nbytes:>14,}  {each}" for each in self.held[:_MOST]),
            *([f"  {sum(each.nbytes for each in left):>14,}  {len(left)} more"] if left else [])))
