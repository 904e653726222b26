from dataclasses import replace

import pytest

from celosia.arch.config import preset
from celosia.collectives import Topology
from celosia.pjrt.errors import ErrorCode, PjrtError
from celosia.pjrt.settings import Settings


def test_without_anything_it_is_one_model_of_the_core_preset():
    assert Settings.read({}) == Settings("model", preset("core"), False, False, 1)


def test_all_of_it():
    found = Settings.read({"CELOSIA_BACKEND": "rtl", "CELOSIA_PRESET": "nano",
                           "CELOSIA_STRICT": "1", "CELOSIA_DEVICES": "4"})
    assert found == Settings("rtl", preset("nano"), True, False, 4)
    assert Settings.read({"CELOSIA_FAST": "Yes"}).fast


@pytest.mark.parametrize("name", ["STRICT", "FAST"])
@pytest.mark.parametrize(("text", "value"), [
    ("", False), ("0", False), ("false", False), ("No", False),
    ("1", True), ("TRUE", True), ("yes", True)])
def test_switches_are_on_or_off(name, text, value):
    assert getattr(Settings.read({f"CELOSIA_{name}": text}), name.lower()) is value


def test_what_is_empty_is_not_said():
    names = "BACKEND", "PRESET", "STRICT", "FAST", "DEVICES", "TOPOLOGY", "BOARDS"
    assert Settings.read({f"CELOSIA_{name}": "" for name in names}) == Settings.read({})


def test_there_may_be_64_chips_in_as_many_processes():
    most = {"CELOSIA_DEVICES": "64", "CELOSIA_TOPOLOGY": "4x4x4", "CELOSIA_BOARDS": "64",
            "CELOSIA_BACKEND": "rtl"}
    found = Settings.read(most)
    assert (found.devices, found.boards, found.topology) == (64, 64, Topology((4, 4, 4)))
    assert found.config == replace(preset("core"), ports=6)
    for name in ("DEVICES", "BOARDS"):
        with pytest.raises(PjrtError, match=f"CELOSIA_{name} must be a number from 1 to 64, "
                                            f"not '65'"):
            Settings.read(most | {f"CELOSIA_{name}": "65"})


@pytest.mark.parametrize("name", ["DEVICES", "BOARDS"])
def test_numbers_are_those_of_ascii(name):
    with pytest.raises(PjrtError, match=f"^CELOSIA_{name} must be a number from 1 to 64, not '٢'$"):
        Settings.read({"CELOSIA_DEVICES": "2", f"CELOSIA_{name}": "٢"})


def test_links_give_the_chip_ports():
    found = Settings.read({"CELOSIA_DEVICES": "8", "CELOSIA_TOPOLOGY": "2x4"})
    assert (found.topology, found.config) == (Topology((2, 4)), replace(preset("core"), ports=4))
    assert found.boards == 1
    assert Settings.read({"CELOSIA_DEVICES": "8", "CELOSIA_TOPOLOGY": "2x4", "CELOSIA_BOARDS": "3",
                          "CELOSIA_BACKEND": "rtl"}).boards == 3


@pytest.mark.parametrize(("settings", "message"), [
    ({"TOPOLOGY": "4y"}, ("CELOSIA_TOPOLOGY must be chips along each dimension, such as 8 or 2x4, "
                         "not '4y'")),
    ({"TOPOLOGY": "4"}, "CELOSIA_TOPOLOGY must be of the 1 chips of CELOSIA_DEVICES, not '4'"),
    ({"TOPOLOGY": "2x1x1x1", "DEVICES": "2"},
     "CELOSIA_TOPOLOGY must be of 3 dimensions at most, not '2x1x1x1'"),
    ({"TOPOLOGY": "2", "DEVICES": "2", "BACKEND": "twin"},
     ("CELOSIA_TOPOLOGY must be left out where CELOSIA_BACKEND is twin: pods are of model or rtl "
     "chips, not '2'")),
])
def test_topologies_that_cannot_be(settings, message):
    with pytest.raises(PjrtError) as error:
        Settings.read({f"CELOSIA_{name}": value for name, value in settings.items()})
    assert str(error.value) == message


@pytest.mark.parametrize(("settings", "message"), [
    ({"TOPOLOGY": "2"}, ("CELOSIA_TOPOLOGY must be of the 4 chips of CELOSIA_DEVICES in 2 "
                         "processes, not '2'")),
    ({"BACKEND": "model"}, (
        "CELOSIA_TOPOLOGY must be left out in 2 processes where CELOSIA_BACKEND is model: links "
        "lead from one to another for rtl chips only, not '2x2'")),
    ({"BOARDS": "2"}, ("CELOSIA_BOARDS must be 1 or left out in 2 processes, of which each is one, "
                       "not '2'")),
])
def test_pods_of_several_processes_that_cannot_be(settings, message):
    well = {"CELOSIA_DEVICES": "2", "CELOSIA_TOPOLOGY": "2x2", "CELOSIA_BACKEND": "rtl"}
    assert Settings.read(well, processes=2).topology == Topology((2, 2))
    with pytest.raises(PjrtError) as error:
        Settings.read(well | {f"CELOSIA_{name}": value for name, value in settings.items()},
                      processes=2)
    assert str(error.value) == message


@pytest.mark.parametrize(("settings", "message"), [
    ({"BOARDS": "0"}, "CELOSIA_BOARDS must be a number from 1 to 64, not '0'"),
    ({"BOARDS": "two"}, "CELOSIA_BOARDS must be a number from 1 to 64, not 'two'"),
    ({"BOARDS": "3"}, "CELOSIA_BOARDS must be at most the 2 chips of CELOSIA_DEVICES, not '3'"),
    ({"BOARDS": "2", "TOPOLOGY": ""}, ("CELOSIA_BOARDS must be 1 or left out without "
                                       "CELOSIA_TOPOLOGY and CELOSIA_BACKEND=rtl, not '2'")),
    ({"BOARDS": "2", "BACKEND": "model"}, ("CELOSIA_BOARDS must be 1 or left out without "
                                           "CELOSIA_TOPOLOGY and CELOSIA_BACKEND=rtl, not '2'")),
])
def test_boards_that_cannot_be(settings, message):
    with pytest.raises(PjrtError) as error:
        Settings.read({f"CELOSIA_{name}": value for name, value in {
            "DEVICES": "2", "TOPOLOGY": "2", "BACKEND": "rtl", **settings}.items()})
    assert str(error.value) == message


@pytest.mark.parametrize(("name", "value", "message"), [
    ("CELOSIA_BACKEND", "tpu",
     "CELOSIA_BACKEND must be one of model, rtl, twin, cocotb, not 'tpu'"),
    ("CELOSIA_PRESET", "big", ("CELOSIA_PRESET must be one of pico, nano, edge, core4, core, v2, "
                               "v1, not 'big'")),
    ("CELOSIA_STRICT", "perhaps", "CELOSIA_STRICT must be 0 or 1, not 'perhaps'"),
    ("CELOSIA_FAST", "2", "CELOSIA_FAST must be 0 or 1, not '2'"),
    ("CELOSIA_DEVICES", "0", "CELOSIA_DEVICES must be a number from 1 to 64, not '0'"),
    ("CELOSIA_DEVICES", "-1", "CELOSIA_DEVICES must be a number from 1 to 64, not '-1'"),
    ("CELOSIA_DEVICES", "1000", "CELOSIA_DEVICES must be a number from 1 to 64, not '1000'"),
    ("CELOSIA_DEVICES", "two", "CELOSIA_DEVICES must be a number from 1 to 64, not 'two'"),
])
def test_bad_values(name, value, message):
    with pytest.raises(PjrtError) as error:
        Settings.read({name: value})
    assert str(error.value) == message
    assert error.value.code == ErrorCode.INVALID_ARGUMENT


def test_all_bad_values_are_named():
    with pytest.raises(PjrtError) as error:
        Settings.read({"CELOSIA_BACKEND": "tpu", "CELOSIA_DEVICES": "many"})
    assert str(error.value) == (
        "CELOSIA_BACKEND must be one of model, rtl, twin, cocotb, not 'tpu'; "
        "CELOSIA_DEVICES must be a number from 1 to 64, not 'many'")
