"""What is wrong, as JAX is told."""

import pytest

import celosia
from celosia.compiled import Loaded
from celosia.compiler.build import Options
from celosia.driver import OutOfDeviceMemory, open
from celosia.pjrt.chips import PjrtChip
from celosia.pjrt.errors import ErrorCode, as_error
from celosia.pjrt.settings import Settings

LARGE = """module @large {
func.func public @main(%x: tensor<5x1073741824xi8>) -> tensor<5x1073741824xi8> {
 return %x : tensor<5x1073741824xi8>
}
}"""


def test_a_program_that_memory_does_not_hold():
    with pytest.raises(celosia.CompileError) as caught:
        celosia.compile(LARGE, "core", cache=False)
    error = as_error(caught.value)
    assert error.code is ErrorCode.RESOURCE_EXHAUSTED
    assert error.message == (
        "the program must fit 4294963200 bytes of external memory, not need 5368709120: "
        "5368709120 for arguments, results and constants, 0 for what lies between; most is "
        "needed for\n"
        "   5,368,709,120  arg0 i8[5, 1073741824]\n"
        "it fits with a batch of 2 in place of 5: 2147483648 bytes\n"
        "it fits with argument 0 cut over 2 devices each along its largest dimension "
        "(jax.sharding.NamedSharding): 2684354560 bytes")


@pytest.mark.parametrize(("error", "code"), [
    (celosia.CompileError("no"), ErrorCode.UNIMPLEMENTED), (OutOfDeviceMemory("no"), 8),
    (MemoryError("no"), 8), (celosia.DeviceError("no"), ErrorCode.INTERNAL), (ValueError("no"), 3)])
def test_kinds(error, code):
    assert as_error(error).code == code
    assert as_error(error).message == "no"


def test_the_limit_is_the_compilers():
    chip = PjrtChip(0, Settings.read({}))
    assert (chip.bytes_limit, chip.bytes_in_use) == (0, 0)
    with open("model", config=chip.settings.config) as device:
        chip._loaded = Loaded(lambda: device)
        assert chip._loaded.device is device
        assert (chip.bytes_limit, chip.bytes_in_use) == (Options().memory, 0)
        device.alloc(4096, "int8")
        assert chip.bytes_in_use == 4096
