import contextlib
import re

import ml_dtypes
import numpy as np
import pytest

import celosia
from celosia import ChipFault, Device, OutOfDeviceMemory, RunTimeout, StaleHandle
from celosia.arch.config import preset
from celosia.arch.faults import Fault
from celosia.arch.registers import BY_NAME, Status
from celosia.driver.model import ModelTransport
from celosia.program.asm import assemble

EDGE = preset("edge")
MATMUL = """
        .chip edge
        .name product
        .buffer x, int8[8, 8], input
        .buffer w, int8[8, 8], input
        .buffer y, int32[8, 8], output
        .source "dot a.py:7"
        load    ub[0], @x, fmt=i8, rows=8, cols=8, pitch=8
        load    ub[8], @w, fmt=i8, rows=8, cols=8, pitch=8
        matmul  acc[0], ub[0], ub[8], fmt=int8, n0=8, wrows=8
        .source "result"
        store   acc[0], @y, fmt=w32, rows=8, cols=8, pitch=32
        halt
"""


def exactly(text: str) -> str:
    return f"^{re.escape(text)}$"


@pytest.fixture
def device():
    with celosia.open("model", "edge", memory_bytes=1 << 20) as device:
        yield device


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    return rng.integers(-128, 128, (2, 8, 8), dtype=np.int8)


def edge(text: str) -> celosia.Program:
    return assemble(text, EDGE)


def test_run_of_a_program(device, data):
    x, w = data
    free = device.free_bytes
    result = device.run(edge(MATMUL), {"x": x, "w": w})
    np.testing.assert_array_equal(result["y"], x.astype(np.int32) @ w.astype(np.int32))
    assert list(result.outputs) == ["y"]
    assert result.instructions == 5
    assert result.cycles == device.counters()["cycles"] > 0
    assert device.counters()["bytes_read"] == 128
    assert device.free_bytes == free


def test_loaded_program_keeps_inputs_that_are_left_out(device, data):
    x, w = data
    loaded = device.load(edge(MATMUL))
    with pytest.raises(ValueError, match=exactly("inputs must hold x, w, which were never "
                                                 "filled")):
        device.run(loaded)
    device.put(w, into=loaded.array("w"))
    first = device.run(loaded, {"x": device.put(x)})
    second = device.run(loaded, {"x": w}, outputs=["y", "w"])
    np.testing.assert_array_equal(first["y"], x.astype(np.int32) @ w.astype(np.int32))
    np.testing.assert_array_equal(second["y"], w.astype(np.int32) @ w.astype(np.int32))
    np.testing.assert_array_equal(second["w"], w)
    np.testing.assert_array_equal(loaded.array("y").numpy(), second["y"])


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.float32, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3, 4)])
def test_arrays_come_back_as_they_went(device, dtype, shape):
    array = (np.arange(np.prod(shape, dtype=int)) - 5).reshape(shape).astype(dtype)
    handle = device.put(array)
    assert (handle.shape, handle.dtype, handle.nbytes) == (shape, array.dtype, array.nbytes)
    back = device.get(handle)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)
    back[...] = 1  # a copy, and writable


@pytest.mark.parametrize("words", [0, 1, 7, 8, 13, 8 * 512, 8 * 1024 + 3, 3 * 8 * 512 + 8 * 5])
def test_the_chip_copies_all_bits_of_words(device, words):
    bits = np.random.default_rng(words).integers(0, 1 << 32, words, dtype=np.uint32).view(np.int32)
    source, other = device.put(bits), device.put(bits[::-1].view(np.float32))
    into, second, behind = (device.alloc(words, np.int32), device.alloc((words,), np.float32),
                            device.put(np.int32([5])))
    before, counters = device.free_bytes, device.counters()
    copied = device.copy([(source, into), (other, second)])
    assert copied.get("bytes_written", 0) == 2 * bits.nbytes
    assert (device.get(into) == bits).all()
    assert (device.get(second).view(np.int32) == bits[::-1]).all()
    assert device.get(behind) == 5
    assert (device.get(source) == bits).all()
    assert (device.free_bytes, device.counters()) == (before, counters)


def test_copies_that_do_not_fit(device):
    a, b, c = (device.alloc(size, dtype) for size, dtype in ((4, "int32"), (4, "float32"),
                                                             (7, "int8")))
    with pytest.raises(ValueError, match=exactly(
            f"{b!r} must have the 16 bytes of int32 that {a!r} has")):
        device.copy([(a, b)])
    with pytest.raises(ValueError, match=exactly(
            f"{c!r} must have a multiple of 4 bytes to be copied, not 7")):
        device.copy([(c, c)])


def test_arrays_that_are_not_contiguous_are_copied(device):
    array = np.arange(24, dtype=np.int32).reshape(4, 6)
    for view in (array.T, array[::2, 1::3], array[::-1]):
        np.testing.assert_array_equal(device.put(view).numpy(), view)


def test_wrong_arrays(device):
    names = "int8, int32, float32, bfloat16"
    with pytest.raises(ValueError, match=exactly(
            f"dtype must be one of {names}, not 'float64'")):
        device.put(np.zeros(3))
    with pytest.raises(ValueError, match=exactly(f"dtype must be one of {names}, not '>i4'")):
        device.put(np.zeros(3, ">i4"))
    with pytest.raises(ValueError, match=exactly("shape must hold sizes of at least 0, "
                                                 "not (2, -1)")):
        device.alloc((2, -1), np.int8)
    handle = device.alloc((2, 2), "bfloat16")
    with pytest.raises(ValueError, match=exactly("array must be bfloat16[2, 2], not int8[4]")):
        device.put(np.zeros(4, np.int8), into=handle)
    with pytest.raises(celosia.OutOfDeviceMemory, match=exactly(
            "device memory must have 4194304 bytes in one piece, not 1048448 (1048448 of 1048576 "
            "bytes are free in all)")):
        device.alloc(1 << 20, np.int32)
    loaded = device.load(edge(MATMUL))
    with pytest.raises(ValueError, match=exactly("y must be int32[8, 8], not int32[64]")):
        device.put(np.zeros(64, np.int32), into=loaded.array("y"))
    with pytest.raises(ValueError, match=exactly("inputs must be named x, w, not 'y'")):
        device.run(loaded, {"y": np.zeros((8, 8), np.int32)})
    with pytest.raises(ValueError, match=exactly("x must be int8[8, 8], not int8[8]")):
        device.run(loaded, {"x": np.zeros(8, np.int8)})
    with pytest.raises(ValueError, match=exactly("buffer of product must be one of x, w, y, "
                                                 "not 'z'")):
        device.run(loaded, outputs=["z"])
    with pytest.raises(ValueError, match=exactly(
            "timeout must be None or from 1 to 4294967295 cycles, not 0")):
        device.run(loaded, timeout=0)


@pytest.mark.parametrize("shape", ["12", (2.7, 3), 2.7, True, None])
def test_shapes_that_are_no_integers(device, shape):
    with pytest.raises(ValueError, match=exactly(
            f"shape must be an integer or hold integers, not {shape!r}")):
        device.alloc(shape, "int8")


def test_sizes_do_not_wrap(device):
    with pytest.raises(OutOfDeviceMemory, match=exactly(
            "device memory must have 18446744073709551616 bytes in one piece, not 1048576 "
            "(1048576 of 1048576 bytes are free in all)")):
        device.alloc((1 << 32, 1 << 32), "int8")
    assert device.alloc(np.array([2, 3]), "int8").shape == (2, 3)


@pytest.mark.parametrize("timeout", [1.5, True, "9", 0])
def test_wrong_timeouts(device, timeout):
    with pytest.raises(ValueError, match=exactly(
            f"timeout must be None or from 1 to 4294967295 cycles, not {timeout!r}")):
        device.run(edge(MATMUL), timeout=timeout)


def test_arguments_of_the_wrong_kind(device):
    with pytest.raises(ValueError, match=exactly("program must be a Program, not None")):
        device.load(None)
    with pytest.raises(ValueError, match=exactly(
            "program must be a LoadedProgram or a Program, not None")):
        device.run(None)
    with pytest.raises(ValueError, match=exactly(
            "inputs must be None or map names of buffers to arrays, not [1, 2]")):
        device.run(device.load(edge(MATMUL)), [1, 2])


def test_program_for_another_chip(device):
    with pytest.raises(ValueError, match=exactly(
            "program p must be for this chip, edge, not for preset nano with dim 4 (here 8), "
            "ub_rows 2048 (here 8192), acc_rows 512 (here 1024), bus_bytes 4 (here 8), window 4 "
            "(here 8), ibuf 32 (here 64)")):
        device.load(assemble(".chip nano\n.name p\nhalt"))
    with pytest.raises(ValueError, match=exactly(
            "program without a name must be for this chip, edge, not for one with fingerprint "
            "0x00000001 (here 0xee18494d)")):
        device.load(assemble(".chip 1\nhalt"))
    with pytest.raises(ValueError, match=exactly("program p must have an instruction")):
        device.load(edge(".name p"))


def test_fault_names_instruction_source_and_address_and_the_device_goes_on(device, data):
    x, w = data
    kept = device.put(x)
    with pytest.raises(ChipFault, match=exactly(
            "fault WINDOW: a transfer leaves the open DMA windows (its first byte: 0x81000)"
            "\n  at instruction 0 of the program: load    ub[0], 0x81000, fmt=i8, rows=8, cols=8"
            "\n  from a.s:1")):
        device.run(assemble("load ub[0], 0x81000, fmt=i8, rows=8, cols=8\nhalt", EDGE,
                            filename="a.s", line_sources=True))
    with pytest.raises(ChipFault, match=exactly(
            "fault MISALIGNED: an address or a pitch is not a multiple of the element size (the "
            "address: 0x102, which is @y + 0x2)"
            "\n  at instruction 3 of product: store   acc[0], @y + 0x2, fmt=w32, rows=8, cols=8, "
            "pitch=32\n  from result")) as caught:
        device.run(edge(MATMUL.replace("@y", "@y + 2")), {"x": x, "w": w})
    fault = caught.value
    assert (fault.cause, fault.pc, fault.program) == (Fault.MISALIGNED, 3, "product")
    assert fault.source == "result"
    with pytest.raises(ChipFault, match=exactly(
            "fault PC_RANGE: execution left the program (the instruction index: 1)\n"
            "  at instruction 1 of the program: (outside the program)")):
        device.run(edge("nop"))
    with pytest.raises(ChipFault, match=exactly(
            "fault UB_RANGE: a stream leaves the unified buffer (the last row of the stream: 8199, "
            "of 8192 rows)\n  at instruction 0 of product: load    ub[8192], @x, fmt=i8, rows=8, "
            "cols=8, pitch=8\n  from dot a.py:7")):
        device.run(edge(MATMUL.replace("ub[0], @x", "ub[8192], @x")), {"x": x, "w": w})
    with pytest.raises(ChipFault, match=exactly(
            "fault ILLEGAL_FIELD: b of rotate must be a scalar, not acc\n  at instruction 0 of the "
            "program: vector  rotate, acc[0], acc[8], acc[3], n0=1")):
        device.run(edge("vector rotate, acc[0], acc[8], acc[3], n0=1"))
    for text, index, place in (
            ("vector  mov, acc[0], acc_lane_row[5, lane=8], n0=1", 8, "of 8 lanes"),
            ("read    r1, acc[0], 99", 99, "of 8 lanes"),
            ("vector  gather, acc[0], acc[8], acc[20], n0=4, param=6", 9, "of 6 rows of the table"),
            ("vector  scatter, acc[0], acc[8], acc[20], n0=4, param=r1", 9,
             "of r1 rows of the table")):
        with pytest.raises(ChipFault, match=exactly(
                "fault INDEX_RANGE: a lane is not below D, or an index of a gather or scatter not "
                f"below its table's rows (the lane, or the first such index: {index}, {place})\n"
                f"  at instruction 2 of the program: {text}")):
            device.run(edge("mov r1, 6\nvector mov, acc[20], scalar[9], n0=1\n"
                            f"{text}\nhalt"))
    assert device.transport.read_register(BY_NAME["STATUS"].offset) == Status.IDLE
    np.testing.assert_array_equal(kept.numpy(), x)
    result = device.run(edge(MATMUL), {"x": kept, "w": w})
    np.testing.assert_array_equal(result["y"], x.astype(np.int32) @ w.astype(np.int32))


def test_windows_keep_a_program_out_of_what_is_not_its_own(device):
    other = device.put(np.arange(64, dtype=np.int32))
    store = ".buffer y, int32[8], output\nstore acc[0], {}, fmt=w32, rows=1, cols=8\nhalt"
    for address in (other.address, 128 + 32, (1 << 20) - 128):
        with pytest.raises(ChipFault, match="^fault WINDOW: "):
            device.run(edge(store.format(address)))
    device.run(edge(store.format(other.address)), share=[other])
    assert not other.numpy()[:8].any()
    np.testing.assert_array_equal(other.numpy()[8:], np.arange(8, 64))
    arrays = [device.alloc(4, np.int8) for _ in range(4)]
    with pytest.raises(ValueError, match=exactly("share must hold at most 3 arrays, not 4")):
        device.run(edge(store.format(0)), share=arrays)


def test_program_without_an_arena_sees_all_arrays(device):
    array = device.put(np.arange(8, dtype=np.int32))
    out = device.alloc(8, np.int32)
    device.run(edge(f"load acc[0], {array.address}, fmt=w32, rows=1, cols=8\n"
                    f"store acc[0], {out.address}, fmt=w32, rows=1, cols=8\nhalt"))
    np.testing.assert_array_equal(out.numpy(), np.arange(8))


def test_timeout_and_recovery(device):
    with pytest.raises(RunTimeout, match=(
            r"^timeout: the run took more than 1000 cycles\n  at instruction \d of spin: "
            r"(nop|jump    0|jump    L0)$")):
        device.run(edge(".name spin\nnop\njump 0"), timeout=1000)
    device.run(edge("halt"))


def test_constants_are_loaded_and_the_rest_of_the_arena_is_zero(device):
    dirty = device.put(np.full(4096, -1, np.int8))
    dirty.free()
    loaded = device.load(edge("""
        .buffer a, int8[3], constant
        .buffer b, float32[2], constant
        .buffer s, int8[100], scratch
        .data a, 1, 2, 3
        .data b, 0.5, -1
        halt"""))
    assert loaded.arena == dirty.address
    assert loaded.array("a").numpy().tolist() == [1, 2, 3]
    assert loaded.array("b").numpy().tolist() == [0.5, -1]
    assert not loaded.array("s").numpy().any()


def test_programs_of_one_arena(device):
    text = """
        .chip edge
        .name {0}
        .buffer a, int8[8], {1}
        .buffer b, int8[8], {2}
        .buffer c, int8[8], constant
        .data c, 1, 2, 3, 4, 5, 6, 7, {3}
        load    ub[0], @{4}, fmt=i8, rows=1, cols=8, pitch=8
        store   ub[0], @{5}, fmt=i8, rows=1, cols=8, pitch=8
        halt
        """
    first = edge(text.format("first", "input", "scratch", 8, "a", "b"))
    free = device.free_bytes
    arena = device.put(np.zeros(first.arena_bytes, np.int8))
    loaded = device.load(first, arena)
    second = device.load(edge(text.format("second", "scratch", "output", 8, "b", "b")), arena)
    device.run(loaded, {"a": np.arange(8, dtype=np.int8)}, outputs=())
    np.testing.assert_array_equal(device.run(second).outputs["b"], np.arange(8))
    assert loaded.array("c").numpy().tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    for each in (loaded, second, arena):
        each.free()
    assert device.free_bytes == free
    small = device.alloc(8, np.int8)
    with pytest.raises(ValueError, match=exactly(
            f"arena of program first must have {first.arena_bytes} bytes, not 8")):
        device.load(first, small)


def test_use_after_free(device, data):
    handle = device.put(np.zeros(4, np.int8))
    handle.free()
    for use in (handle.free, handle.numpy, lambda: device.put(np.zeros(4, np.int8), into=handle)):
        with pytest.raises(StaleHandle, match=exactly(
                "array int8[4] at 0x0 cannot be used: it has been freed")):
            use()
    loaded = device.load(edge(MATMUL))
    view = loaded.array("x")
    with pytest.raises(ValueError, match=exactly(
            "<array x int8[8, 8] at 0x0> is a buffer of <program product: arena at 0x0, code at "
            "0xfff00> and must be freed with it, not alone")):
        view.free()
    loaded.free()
    with pytest.raises(StaleHandle, match=exactly(
            "program product cannot be used: it has been freed")):
        device.run(loaded, dict.fromkeys("xw", np.zeros((8, 8), np.int8)))
    with pytest.raises(StaleHandle, match=exactly(
            "program product cannot be used: it has been freed")):
        view.numpy()


def test_use_after_reset_and_close(device):
    handle, loaded = device.put(np.zeros(4, np.int8)), device.load(edge("halt"))
    device.reset()
    with pytest.raises(StaleHandle, match=exactly(
            "array int8[4] at 0x0 cannot be used: its device was reset after it was made")):
        handle.numpy()
    with pytest.raises(StaleHandle, match=exactly(
            "program without a name cannot be used: its device was reset after it was made")):
        device.run(loaded)
    assert device.put(np.ones(4, np.int8)).numpy().all()
    later = device.put(np.zeros(4, np.int8))
    device.close()
    device.close()
    with pytest.raises(StaleHandle, match=exactly(
            "array int8[4] at 0x80 cannot be used: its device is closed")):
        later.numpy()
    # Whatever else may be wrong with what it is asked for.
    for ask in (lambda: device.alloc(1, np.int8), lambda: device.put(np.zeros(4, np.int8)),
                lambda: device.put(np.zeros(5, np.int8), later),
                lambda: device.put(np.zeros(4, np.complex64)), lambda: device.load(edge("halt")),
                lambda: device.run(edge("halt")), device.reset):
        with pytest.raises(StaleHandle, match=exactly("the device cannot be used: it is closed")):
            ask()


def test_handles_of_another_device(device):
    with celosia.open("model", "edge") as other:
        handle = other.put(np.zeros(4, np.int8))
        with pytest.raises(ValueError, match=exactly(
                "<array int8[4] at 0x0> must be used on its own device, not on another")):
            device.get(handle)
    with pytest.raises(ValueError, match=exactly(
            "handle must be a DeviceArray or a LoadedProgram, not 3")):
        device.get(3)


class Stuck(ModelTransport):
    """A chip that never ends a run, and may refuse to be reset."""

    def __init__(self):
        super().__init__(EDGE, 1 << 20)
        self.status = Status.IDLE
        self.resets = True

    def read_register(self, offset):
        if offset == BY_NAME["STATUS"].offset:
            return self.status
        return super().read_register(offset)

    def write_register(self, offset, value):
        if offset != BY_NAME["CONTROL"].offset:
            super().write_register(offset, value)
        elif value == 1:
            self.status = Status.RUNNING
        elif self.resets:
            self.status = Status.IDLE


@pytest.mark.parametrize(("name", "value", "message"), [
    ("FAULT_CAUSE", 99, "register FAULT_CAUSE must hold a fault, not 99"),
    ("STATUS", 4, "register STATUS must be 2 (done) after a run, not 4"),
])
def test_registers_that_make_no_sense_after_a_run(device, monkeypatch, name, value, message):
    read = device.transport.read_register
    seen = []

    def lie(offset):
        if offset == BY_NAME[name].offset and not seen:
            seen.append(offset)
            return value
        return read(offset)

    monkeypatch.setattr(device.transport, "read_register", lie)
    with pytest.raises(celosia.DeviceError, match=exactly(message)):
        device.run(edge("nop"))
    assert seen


@pytest.mark.parametrize(("timeout", "margin"), [
    (None, None), (77, 10_086), (88, 10_099), (80_000, 100_000)])
def test_the_host_waits_a_little_longer_than_the_watchdog(device, monkeypatch, timeout, margin):
    waits, wait = [], device.transport.wait_interrupt

    def seen(cycles, progress):
        waits.append(cycles)
        return wait(cycles, progress)

    monkeypatch.setattr(device.transport, "wait_interrupt", seen)
    with contextlib.suppress(RunTimeout):
        device.run(edge("halt"), timeout=timeout)
    assert waits == [margin]
    watchdog = device.transport.read_register(BY_NAME["WATCHDOG"].offset)
    assert watchdog == (timeout or 0)


def test_host_gives_up_where_the_watchdog_does_not():
    transport = Stuck()
    device = Device(transport)
    with pytest.raises(RunTimeout, match=exactly(
            "timeout: the run took more than 77 cycles\n  at instruction 0 of the program: halt")):
        device.run(edge("halt"), timeout=77)
    assert transport.status == Status.IDLE
    transport.resets = False
    transport.status = Status.RESETTING
    with pytest.raises(celosia.DeviceError, match=exactly(
            "register STATUS must become 0 (idle) after a soft reset, but it stays 4")):
        device.reset()
