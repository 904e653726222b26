"""Programs come and go, without JAX."""

import gc
import time

import numpy as np
import pytest

from celosia.driver import Device
from celosia.pjrt.buffers import PjrtBuffer
from celosia.pjrt.client import Client
from celosia.pjrt.programs import Programs
from celosia.pjrt.protobuf import CompileOptions
from celosia.pjrt.settings import Settings

OPTIONS = CompileOptions(1, 1, ())
TEXT = """module @plus {{
func.func public @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {{
 %c = stablehlo.constant dense<{0}.0> : tensor<16x64xf32>
 %y = stablehlo.add %x, %c : tensor<16x64xf32>
 return %y : tensor<16x64xf32>
}}
}}"""


@pytest.fixture
def client(monkeypatch, tmp_path):
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path))
    made = Client(Settings.read({}))
    yield made
    made.close()


def module(number):
    return TEXT.format(number).encode()


def run(client, executable, array):
    (chip,) = client.chips
    ((result,),), (event,) = client.execute(executable, [[PjrtBuffer.of(chip, array)]], (),
                                            client.chips)
    event.wait()
    assert event.error is None
    return result


def settle(chip, wanted):
    """Wait until what was freed is free."""
    gc.collect()
    end = time.monotonic() + 10
    while chip.bytes_in_use != wanted and time.monotonic() < end:
        time.sleep(0.001)
    assert chip.bytes_in_use == wanted


def test_fast_is_chosen_by_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path))
    text = module(0).replace(b"stablehlo.add %x, %c", b"stablehlo.exponential %x")
    sizes = [len(Programs(Settings.read(environment)).get(text).compiled.program.insns)
             for environment in ({}, {"CELOSIA_FAST": "1"}, {})]
    assert sizes[1] < sizes[0] == sizes[2]


def test_a_program_that_nobody_has_leaves_the_chip(client):
    (chip,) = client.chips
    x = np.ones((16, 64), np.float32)
    first = client.compile(module(1), OPTIONS)
    kept = run(client, first, x)
    size = chip.bytes_in_use
    assert size > 2 * x.nbytes
    for number in range(2, 6):
        run(client, client.compile(module(number), OPTIONS), x)
    settle(chip, size)
    del first
    settle(chip, 0)
    assert kept.resident is None
    np.testing.assert_array_equal(kept.host, x + 1)
    assert len(chip._loaded) == len(client.programs._known) == 0


def test_an_argument_that_is_given_again_is_there(client, monkeypatch):
    executable = client.compile(module(1), OPTIONS)
    (chip,) = client.chips
    puts = []
    put = Device.put
    monkeypatch.setattr(Device, "put", lambda self, array, **to: (
        puts.append(np.shape(array)), put(self, array, **to))[1])
    same, other = (PjrtBuffer.of(chip, np.full((16, 64), value, np.float32)) for value in (1, 5))
    for buffer, count in ((same, 1), (same, 1), (other, 2), (same, 3)):
        ((result,),), _ = client.execute(executable, [[buffer]], (), client.chips)
        np.testing.assert_array_equal(result.read(), buffer.read() + 1)
        assert len(puts) == count


def test_a_program_that_somebody_has_is_known(client):
    one, two = (client.compile(module(1), OPTIONS) for _ in range(2))
    assert one.program is two.program
    assert client.programs.compiled == 1


def test_a_program_that_cannot_be_unloaded_ends_no_thread(client, monkeypatch):
    (chip,) = client.chips
    x = np.ones((16, 64), np.float32)

    def fail(compiled):
        raise RuntimeError("no answer")

    run(client, client.compile(module(1), OPTIONS), x)
    settle(chip, 0)
    monkeypatch.setattr(chip._loaded, "forget", fail)
    run(client, client.compile(module(2), OPTIONS), x)
    gc.collect()
    np.testing.assert_array_equal(
        run(client, client.compile(module(3), OPTIONS), x).fetch(), x + 3)
