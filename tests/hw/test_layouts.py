"""What goes from one part of the chip to the next: flags of one bit, and numbers."""

import importlib
import inspect
import pkgutil

from amaranth.hdl import Shape
from amaranth.lib import data

import celosia_hw
from celosia.arch.config import TpuConfig

#: A chip most of whose numbers have three bits and more, and those that have two.
CHIP = TpuConfig("wide", dim=16, int8=True, bf16=True, ub_rows=1024, acc_rows=1024, bus_bytes=16,
                 ports=6)
NUMBERS = {"bus.axi.read_layout: resp", "dma.rows.stored_layout: tail",
           "dma.split.rows_layout: tail", "ici.sender.sent_word_layout: size",
           "scalar.sums.summed_layout: index"}


def layouts():
    """Yield every layout of a module's, with its name."""
    given = {"config": CHIP, "bus_bytes": 16, "ports": 6, "tag": 5}
    for info in pkgutil.walk_packages(celosia_hw.__path__, "celosia_hw."):
        module = importlib.import_module(info.name)
        for name, function in vars(module).items():
            if not name.endswith("_layout") or not inspect.isfunction(function) or (
                    function.__module__ != info.name):
                continue
            wanted = inspect.signature(function).parameters
            if wanted.keys() <= given.keys():
                yield info.name.removeprefix("celosia_hw."), name, function(
                    **{key: given[key] for key in wanted})


def members(layout, name=""):
    """Yield the members of a layout that are no enumerations, with their widths."""
    if isinstance(layout, data.ArrayLayout):
        yield from members(layout.elem_shape, name)
    elif isinstance(layout, data.Layout):
        for key, field in layout:
            yield from members(field.shape, key)
    elif not inspect.isclass(layout):
        yield name, Shape.cast(layout).width


def test_a_flag_has_one_bit_and_a_number_those_that_it_needs():
    """A bit that is always 0 makes no difference, but for the wires that it takes."""
    widths = {f"{module}.{function}: {name}": width for module, function, layout in layouts()
              for name, width in members(layout)}
    assert {name for name, width in widths.items() if width == 2} == NUMBERS
    # None is as large as a word but words, and what is of the bus, a row, or an instruction.
    large = {name: width for name, width in widths.items() if width > 32}
    assert {name.split(": ")[1]: width for name, width in large.items()} == {
        "data": 128, "lanes": 512, "fields": 52, "header": 40}
    # Rows have 10 bits, counts 16; tags 12, and bytes of a row in external memory 18.
    assert set(widths.values()) - {*range(10)} - set(large.values()) == {10, 12, 16, 18, 32}
    assert len(widths) > 200
