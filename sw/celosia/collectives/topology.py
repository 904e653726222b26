"""Chips in a ring or torus, and the ports of their links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

__all__ = ["Topology"]


@dataclass(frozen=True)
class Topology:
    """Chips in a torus of one or more dimensions; of one, it is a ring.

    Chips are counted along the last dimension first, as elements of an array are. Port 2 d of a
    chip leads up dimension d, to port 2 d + 1 of the next chip there, and round at the end. Two
    chips in a dimension have two links.

    Attributes
    ----------
    extents
        Chips along each dimension; a dimension of one chip has no links.
    """

    extents: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.extents or not all(isinstance(n, int) and n > 0 for n in self.extents):
            raise ValueError(f"topology must be one or more positive numbers of chips, "
                             f"not {self.extents!r}")

    @classmethod
    def ring(cls, chips: int) -> Topology:
        """Return a ring of chips."""
        return cls((chips,))

    @classmethod
    def parse(cls, text: str) -> Topology:
        """Return what a text such as ``8`` or ``4x4`` names.

        Raises
        ------
        ValueError
            If it is no such text.
        """
        if not all(each.isdecimal() and int(each) for each in text.split("x")):
            raise ValueError(f"topology must be chips along each dimension, such as 8 or 4x4, "
                             f"not {text!r}")
        return cls(tuple(map(int, text.split("x"))))

    def __str__(self) -> str:
        return "x".join(map(str, self.extents))

    @property
    def chips(self) -> int:
        """Number of chips."""
        return prod(self.extents)

    @property
    def ports(self) -> int:
        """Number of ports of each chip, those of dimensions of one chip too."""
        return 2 * len(self.extents)

    def coordinates(self, chip: int) -> tuple[int, ...]:
        """Return where a chip stands in each dimension."""
        if not 0 <= chip < self.chips:
            raise ValueError(f"chip must be 0 to {self.chips - 1} of {self}, not {chip!r}")
        found = []
        for extent in reversed(self.extents):
            chip, at = divmod(chip, extent)
            found.append(at)
        return tuple(reversed(found))

    def chip(self, coordinates: Sequence[int]) -> int:
        """Return the chip that stands at coordinates, which go round at the ends."""
        number = 0
        for extent, at in zip(self.extents, coordinates, strict=True):
            number = number * extent + at % extent
        return number

    def peer(self, chip: int, port: int) -> tuple[int, int]:
        """Return the chip and its port that the link of a port leads to."""
        dim, down = divmod(port, 2)
        if not 0 <= dim < len(self.extents) or self.extents[dim] == 1:
            raise ValueError(f"port must be one with a link of {self}, not {port!r}")
        at = list(self.coordinates(chip))
        at[dim] += -1 if down else 1
        return self.chip(at), port ^ 1

    @property
    def links(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Every link once: for its end that leads up, a chip and its port, the other end."""
        return {(chip, 2 * dim): self.peer(chip, 2 * dim)
                for dim, extent in enumerate(self.extents) if extent > 1
                for chip in range(self.chips)}

    def dims_of(self, chips: Sequence[int]) -> tuple[int, ...]:
        """Return the dimensions along which chips differ, those of `within`."""
        places = [self.coordinates(chip) for chip in chips]
        return tuple(dim for dim in range(len(self.extents))
                     if len({each[dim] for each in places}) > 1)

    def within(self, devices: Sequence[int]) -> Topology:
        """Return the topology of some chips: a line along one or more whole dimensions.

        Raises
        ------
        ValueError
            If they are no such line in its order: no links connect them alone.
        """
        places = [self.coordinates(device) for device in devices]
        extents = tuple(extent if len({each[dim] for each in places}) > 1 else 1
                        for dim, extent in enumerate(self.extents))
        line = Topology(extents)
        wanted = [self.chip([a if extent > 1 else b for a, b, extent in zip(
            line.coordinates(i), places[0], extents, strict=True)]) for i in range(line.chips)]
        if wanted != list(devices):
            raise ValueError(f"group must be all chips along dimensions of {self}, in their "
                             f"order, not {list(devices)}")
        return Topology(tuple(n for n in extents if n > 1) or (1,))
