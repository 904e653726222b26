"""Kernels on arrays, on a device."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, Mem
from celosia.arch.words import ceil_div
from celosia.compiler.codegen.assemble import assemble
from celosia.compiler.codegen.nodes import Loop, Node, load, store
from celosia.kernels.trace import Input, Kernel
from celosia.ops.arena import Arena
from celosia.ops.emit import Place, Scalars, lay_out
from celosia.program import Program

if TYPE_CHECKING:
    from celosia.driver import Device

__all__ = ["apply", "program"]

#: Rows of a tile where there is room: long enough that an instruction's start does not count.
TILE_ROWS = 128
#: Parts of a tile that take turns in the vector unit.
_PARTS = 2


class _Tiles:
    """The on-chip places of one set of tiles, and the instructions that work on it."""

    def __init__(self, kernel: Kernel, rows: int, base: int, single: dict[str, list[Place]]):
        self.kernel, self.rows = kernel, rows
        at = base
        self.inputs: dict[str, list[Place]] = dict(single)
        self.outputs: dict[str, list[Place]] = {}
        for places, arrays in ((self.inputs, kernel.inputs), (self.outputs, kernel.outputs)):
            for array in arrays:
                if not array.one_row:
                    places[array.name] = [Place(at + g * rows) for g in range(len(array.tiles))]
                    at += rows * len(array.tiles)
        self.layout = lay_out(kernel, self.inputs, self.outputs)
        self.temporaries = at
        self.end = at + self.layout.temporary_rows(rows)


class _Matrices:
    """The arrays of a kernel in external memory, and the instructions for some of their rows."""

    def __init__(self, config: TpuConfig, kernel: Kernel, rows: int, scalars: Scalars):
        self.kernel, self.scalars = kernel, scalars
        self.columns = config.dim if kernel.columns is None else kernel.columns
        self.arena = Arena()
        self.offsets = [
            {array.name: self.arena.add(
                f"{side}.{array.name}", (1 if array.one_row else rows, self.width(array)),
                "int32" if array.name in kernel.integers else "float32", kind)
             for array in arrays}
            for side, kind, arrays in (("in", "input", kernel.inputs),
                                       ("out", "output", kernel.outputs))]

    def width(self, array: Input) -> int:
        """Return the columns of an array."""
        return 1 if array.per_row else self.columns

    def single_rows(self, places: dict[str, list[Place]]) -> list[Node]:
        """Load the arrays of one row."""
        return [load(Mem.ACC, DmaFormat.W32, rows[0].row, self.offsets[0][name], 1, self.columns,
                     4 * self.columns, group_step=1, source=f"{self.kernel.name}: load {name}")
                for name, rows in places.items()]

    def loads(self, tiles: _Tiles, first: int, rows: int) -> list[Node]:
        """Load ``rows`` rows from row ``first`` on."""
        pitch = 4 * self.columns
        return [load(Mem.ACC, DmaFormat.W32, tiles.inputs[array.name][0].row,
                     self.offsets[0][array.name] + first * pitch, rows, self.columns, pitch,
                     group_step=tiles.rows, source=f"{self.kernel.name}: load {array.name}")
                for array in self.kernel.inputs if not array.one_row]

    def results(self, tiles: _Tiles, first: int, rows: int) -> list[Node]:
        """Run the kernel on rows that are loaded, and store the results."""
        nodes: list[Node] = [*tiles.layout.emit(rows, tiles.temporaries, self.scalars, first,
                                                parts=_PARTS)]
        nodes += [store(Mem.ACC, DmaFormat.W32, tiles.outputs[array.name][0].row,
                        self.offsets[1][array.name] + first * 4 * self.width(array), rows,
                        self.width(array), 4 * self.width(array), group_step=tiles.rows,
                        source=f"{self.kernel.name}: store {array.name}")
                  for array in self.kernel.outputs]
        return nodes


def _sets(config: TpuConfig, kernel: Kernel, total: int,
          single: dict[str, list[Place]]) -> list[_Tiles]:
    """Return sets of tiles, each as high as fits."""
    rows = min(TILE_ROWS, total)
    begin = sum(map(len, single.values()))
    while True:
        first = _Tiles(kernel, rows, begin, single)
        second = _Tiles(kernel, rows, first.end, single)
        if second.end <= config.acc_rows:
            return [first, second]
        if rows == 1:
            raise ValueError(f"kernel {kernel.name} must fit {config.acc_rows} accumulator rows, "
                             f"not take {second.end}")
        rows //= 2


def program(config: TpuConfig, kernel: Kernel, rows: int,
            scalars: Scalars | None = None) -> Program:
    """Return a program that runs a kernel over matrices in external memory.

    Two sets of tiles take turns, so that loads and stores of one overlap the work on the other.

    Parameters
    ----------
    config
        The chip; kernels with floating point need one with bf16.
    kernel
        What to run. Its inputs and outputs are the program's buffers "in.NAME" and "out.NAME":
        [rows, columns], or [rows, D] where the kernel has no columns; [1, columns] for an input of
        one row, [rows, 1] for an output of one element a row. Outputs have as many rows as the
        inputs.
    rows
        Rows of the matrices.
    scalars
        What each of `Kernel.scalars` is: a float for its fp32, an int for its bits.

    Raises
    ------
    ValueError
        If the kernel is not for this chip, or does not fit it.
    """
    if kernel.needs_bf16 and not config.bf16:
        raise ValueError(f"kernel {kernel.name} must have a chip with bf16, not {config.name}")
    if kernel.dim not in (None, config.dim):
        raise ValueError(f"kernel {kernel.name} must have a chip of {kernel.dim} lanes, not "
                         f"{config.name} of {config.dim}")
    if rows < 1:
        raise ValueError(f"rows must be at least 1, not {rows!r}")
    if single := [output.name for output in kernel.outputs if output.one_row]:
        raise ValueError(f"outputs of {kernel.name} must have as many rows as its inputs, not one "
                         f"({', '.join(single)})")
    matrices = _Matrices(config, kernel, rows, scalars or {})
    places: dict[str, list[Place]] = {}
    at = 0
    for array in kernel.inputs:
        if array.one_row:
            places[array.name] = [Place(at + g) for g in range(len(array.tiles))]
            at += len(array.tiles)
    sets = _sets(config, kernel, rows, places)
    height = sets[0].rows
    period = len(sets) * height

    def turn(first: int) -> tuple[Node, ...]:
        return tuple(node for work in (matrices.loads, matrices.results)
                     for i, tiles in enumerate(sets)
                     for node in work(tiles, first + i * height, height))

    nodes = matrices.single_rows(places)
    turns = rows // period
    if turns:
        body = turn(0)
        after = turn(period)
        steps = tuple(b - a for x, y in zip(body, after, strict=True)
                      for a, b in zip(x.varying, y.varying, strict=True))
        nodes += [Loop(turns, body, steps)] if turns > 1 else body
    for i, first in enumerate(range(turns * period, rows, height)):
        for work in (matrices.loads, matrices.results):
            nodes += work(sets[i], first, min(height, rows - first))
    code, arena = assemble(nodes), matrices.arena
    return Program(config.fingerprint, tuple(code.insns), kernel.name, tuple(code.sources),
                   arena.size, tuple(arena.buffers), arena.constants, tuple(code.relocations))


def _dtype(kernel: Kernel, name: str) -> np.dtype:
    return np.dtype(np.int32 if name in kernel.integers else np.float32)


def _words(kernel: Kernel, name: str, array: ArrayLike) -> NDArray:
    wanted = _dtype(kernel, name)
    made = np.asarray(array)
    if made.dtype == np.uint32 and wanted == np.int32:
        made = made.view(np.int32)
    if made.dtype != wanted:
        raise TypeError(f"{name} must be {wanted}, not {made.dtype}")
    return made


def _matrix(array: NDArray, rows: int, columns: int) -> NDArray:
    """Return an array as rows of ``columns`` elements, zeros after its end."""
    if array.size > rows * columns:
        raise ValueError(f"an array for one row must have {columns} elements, not {array.size}")
    return np.pad(array.reshape(-1), (0, rows * columns - array.size)).reshape(rows, columns)


def apply(device: Device, kernel: Kernel, *arrays: ArrayLike,
          shape: tuple[int, ...] | None = None,
          **scalars: float | int) -> NDArray | dict[str, NDArray]:
    """Run a kernel on arrays of the host.

    Parameters
    ----------
    device
        The chip.
    kernel
        What to run.
    arrays
        float32, or int32 or uint32 where the kernel takes integers; one for each input. All of one
        shape; of two axes, the second `Kernel.columns`, where the kernel has columns; of one axis
        for an input of one row.
    shape
        Shape of the outputs, for a kernel that has no inputs.
    scalars
        Values by name: a float for its fp32, an int for its bits.

    Returns
    -------
    NDArray or dict
        The output, or the outputs by name where there are several; float32 or int32, of the shape
        of the inputs (without its last axis where the output is one element a row).

    Raises
    ------
    TypeError, ValueError
        If the arrays do not fit the kernel, or the kernel does not fit the chip.
    """
    if len(arrays) != len(kernel.inputs):
        raise ValueError(f"{kernel.name} must have {len(kernel.inputs)} arrays, "
                         f"not {len(arrays)}")
    if set(scalars) != set(kernel.scalars):
        raise ValueError(f"scalars of {kernel.name} must be "
                         f"{', '.join(kernel.scalars) or '(none)'}, "
                         f"not {', '.join(scalars) or '(none)'}")
    words = {array.name: _words(kernel, array.name, given)
             for array, given in zip(kernel.inputs, arrays, strict=True)}
    shapes = {words[array.name].shape for array in kernel.inputs if not array.one_row}
    if shape is not None:
        if any(size < 0 for size in shape):
            raise ValueError(f"shape must hold sizes of at least 0, not {list(shape)}")
        shapes.add(tuple(shape))
    if len(shapes) != 1:
        raise ValueError(f"arrays of {kernel.name} must have one shape, "
                         f"not {sorted(map(list, shapes))}")
    (shape,) = shapes
    if kernel.columns is not None and (len(shape) != 2 or shape[1] != kernel.columns):
        raise ValueError(f"arrays of {kernel.name} must have two axes, the second of "
                         f"{kernel.columns}, not shape {list(shape)}")
    columns = device.config.dim if kernel.columns is None else kernel.columns
    rows = ceil_div(math.prod(shape), columns)
    if rows == 0:
        found = {output.name: np.zeros((0, columns), _dtype(kernel, output.name))
                 for output in kernel.outputs}
    else:
        inputs = {f"in.{array.name}": _matrix(words[array.name], 1 if array.one_row else rows,
                                              columns) for array in kernel.inputs}
        result = device.run(program(device.config, kernel, rows, scalars), inputs)
        found = {output.name: result[f"out.{output.name}"] for output in kernel.outputs}
    results = {output.name: found[output.name].reshape(-1)[:rows].reshape(shape[:-1])
               if output.per_row else
               found[output.name].reshape(-1)[:math.prod(shape)].reshape(shape)
               for output in kernel.outputs}
    return results if len(results) > 1 else next(iter(results.values()))
