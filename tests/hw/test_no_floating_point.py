"""A chip without bf16 is built without any part of the floating-point library."""

import gc
import importlib
import pkgutil
import warnings
from types import FunctionType

import pytest
from amaranth.hdl import Fragment

import celosia_hw
from celosia.arch.config import PRESETS, TpuConfig
from celosia_hw.top import Celosia

TINY = {"name": "tiny", "dim": 2, "ub_rows": 64, "acc_rows": 32, "bus_bytes": 4, "window": 2,
        "ibuf": 16}


class FloatingPoint(Exception):
    pass


@pytest.fixture
def forbidden(monkeypatch):
    """Make every function of floating point raise, under whatever name a module has it."""
    def raises(name):
        def call(*args, **kwargs):
            raise FloatingPoint(name)
        return call

    found = set()
    for info in pkgutil.walk_packages(celosia_hw.__path__, "celosia_hw."):
        module = importlib.import_module(info.name)
        for name, value in list(vars(module).items()):
            home = value.__module__ if isinstance(value, FunctionType) else ""
            # What multiplies and adds does so in int8, too, and calls on floating point itself.
            if (home.startswith(("celosia_hw.fp.", "celosia_hw.vpu.special"))
                    and home != "celosia_hw.fp.wire" and name not in ("factor", "multiply_add")):
                found.add(value.__name__)
                monkeypatch.setattr(module, name, raises(f"{info.name}.{name}"))
    assert {"f32_add", "f32_max", "normalise", "f32_to_bf16", "look_up"} <= found


def elaborate(config):
    """Make every part of a chip."""
    return Fragment.get(Celosia(config), None)


@pytest.mark.usefixtures("forbidden")
def test_a_chip_of_int8_alone_has_no_floating_point():
    config = TpuConfig(int8=True, bf16=False, **TINY)
    assert elaborate(config).subfragments


@pytest.mark.usefixtures("forbidden")
def test_a_chip_with_bf16_has_floating_point():
    config = TpuConfig(int8=False, bf16=True, **TINY)
    with warnings.catch_warnings():  # of the components that are not used any more
        warnings.simplefilter("ignore")
        with pytest.raises(FloatingPoint):
            elaborate(config)
        gc.collect()


def test_the_presets_of_integers_are_those_without_bf16():
    integers = [name for name, config in PRESETS.items() if not config.bf16]
    assert integers == ["pico", "nano", "edge", "v1"]
