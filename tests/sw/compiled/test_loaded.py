"""Programs that share a device's memory: the least recently used makes room."""

import numpy as np
import pytest

import celosia
from celosia import DeviceError, OutOfDeviceMemory
from celosia.compiled.loaded import Loaded
from celosia.graph import parse

pytestmark = pytest.mark.usefixtures("copying")
MEMORY = 1 << 16


def program(rows, name="pass"):
    """A program that copies: about 32 bytes of memory for each row."""
    return celosia.compile(parse(
        f'graph {name}(\n  %0: f32[{rows},4] "x"\n) {{\n  return %0\n}}\n'), name=name)


def opener(opened, **opening):
    def make():
        opened.append(celosia.open("model", "core", **{"memory_bytes": MEMORY, **opening}))
        return opened[-1]
    return make


def check(loaded, compiled):
    x = np.arange(compiled.inputs[0].type.size, dtype=np.float32).reshape(-1, 4)
    np.testing.assert_array_equal(loaded.get(compiled)(x)[0], x)


def test_a_program_is_loaded_once():
    opened = []
    loaded, compiled = Loaded(opener(opened)), program(4)
    assert loaded.opened is None
    assert not opened
    executable = loaded.get(compiled)
    assert loaded.get(compiled) is executable
    assert (loaded.opened, executable.device) == (opened[0], opened[0])
    assert compiled in loaded
    assert program(4) not in loaded
    loaded.forget(compiled)
    assert not executable.usable
    assert len(loaded) == 0
    loaded.forget(compiled)
    loaded.close()


def test_the_least_recently_used_makes_room():
    opened, left = [], []
    loaded = Loaded(opener(opened), leaving=lambda each: left.append(
        (each.compiled.name, each.usable)))
    first, second, third = (program(500, name) for name in ("first", "second", "third"))
    for each in (first, second, third, first):
        check(loaded, each)
    assert not left
    large = program(1500, "large")
    check(loaded, large)  # takes two away
    assert left == [("second", True), ("third", True)]
    assert [each in loaded for each in (first, second, third, large)] == [True, False, False, True]
    check(loaded, first)
    check(loaded, third)
    assert left[2:] == [("large", True)]
    assert len(opened) == 1
    loaded.close()
    assert len(left) == 3  # nobody is asked whose device is closed


def test_a_program_that_never_fits():
    loaded = Loaded(opener([]))
    small, large = program(4), program(2500, "large")
    check(loaded, small)
    with pytest.raises(OutOfDeviceMemory, match="large wants 80,000 bytes; its largest tensors"):
        loaded.get(large)
    assert large not in loaded
    check(loaded, small)
    loaded.close()


def test_memory_that_somebody_else_has():
    opened = []
    loaded = Loaded(opener(opened))
    check(loaded, program(4))
    handle = opened[0].alloc(opened[0].free_bytes // 2, "int8")
    with pytest.raises(OutOfDeviceMemory):
        loaded.get(program(1500))
    handle.free()
    check(loaded, program(1500))
    loaded.close()


@pytest.mark.parametrize("lose", ["reset", "close"])
def test_programs_are_loaded_again_after(lose):
    opened, left = [], []
    loaded, one, other = Loaded(opener(opened), leaving=left.append), program(1200), program(1201)
    check(loaded, one)
    getattr(opened[0], lose)()
    check(loaded, other)
    check(loaded, one)
    assert len(opened) == (1 if lose == "reset" else 2)
    assert [each.compiled for each in left] == [other]  # what is gone has nothing to bring away
    loaded.close()
    assert opened[-1].closed


def test_a_device_of_somebody_else_stays_open():
    opened = []
    device = opener(opened)()
    before = device.free_bytes
    loaded = Loaded(lambda: device, owner=False)
    check(loaded, program(4))
    assert device.free_bytes < before
    loaded.close()
    assert device.free_bytes == before
    assert not device.closed
    check(loaded, program(4))
    device.close()
    loaded.close()


def test_errors_of_opening():
    def make():
        raise DeviceError("nobody is there")

    loaded = Loaded(make)
    with pytest.raises(DeviceError, match="nobody is there"):
        loaded.get(program(4))
    assert loaded.opened is None
    loaded.close()
