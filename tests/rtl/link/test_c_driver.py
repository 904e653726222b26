"""The driver in C against the link at its pins, behind a pseudo-terminal."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import celosia
from celosia.arch import link, registers
from celosia.arch.config import preset
from celosia.arch.faults import Fault
from celosia.program import file
from celosia.program.asm import assemble
from celosia.storage import compiler

SOURCE = Path(celosia.__file__).parent / "driver" / "c" / "celosia.c"
NANO = preset("nano")
PRODUCT = """
.chip nano
.buffer a, int8[8, 4], input
.buffer b, int8[4, 4], constant
.data b, {constant}
.buffer c, int32[8, 4], output
load ub[0], @a, fmt=i8, rows=8, cols=4, pitch=4
load ub[8], @b, fmt=i8, rows=4, cols=4, pitch=4
matmul acc[0], ub[0], w=ub[8], fmt=int8, n0=8, wrows=4
store acc[0], @c, fmt=w32, rows=8, cols=4, pitch=16
halt
"""


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """The example of the driver, built; a call returns exit code, output and errors.

    Undefined behaviour ends it by a signal: zig's library that says more takes 18 s to make. That
    of other levels than the simulator's takes 4 s.
    """
    program = tmp_path_factory.mktemp("c") / "celosia"
    built = subprocess.run(
        [*compiler("C").command, "-Os", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
         "-fsanitize=undefined", "-fsanitize-trap=undefined", "-DCELOSIA_MAIN", str(SOURCE),
         "-o", str(program)], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr

    def run(*words) -> tuple[int, str, str]:
        done = subprocess.run([str(program), *map(str, words)], capture_output=True, text=True,
                              timeout=300)
        return done.returncode, done.stdout, done.stderr

    return run


def test_numbers_are_those_of_the_tables():
    text = SOURCE.read_text()
    numbers = {name: int(value.rstrip("u"), 0) for name, value in re.findall(
        r"\b([A-Z][A-Z0-9_]+)(?: = | )(0x[0-9A-F]+u?|\d+)\b", text)}
    for name in ("FLAG", "ESCAPE", "ESCAPE_XOR", "WINDOW", "MAX_PAYLOAD", "PAGE_BYTES",
                 "PROTOCOL_VERSION", "REPLY"):
        assert numbers[f"LINK_{name}"] == getattr(link, name)
    assert numbers["LINK_MAGIC"] == link.LINK_MAGIC
    for kind in link.RequestKind:
        assert numbers[f"KIND_{kind.name}"] == kind
    for status in link.ReplyStatus:
        assert numbers[f"STATUS_{status.name}"] == status
    found = {name: value for name, value in numbers.items() if name.startswith("REGISTER_")}
    assert len(found) > 10
    for name, value in found.items():
        assert value == registers.BY_NAME[name.removeprefix("REGISTER_")].offset
    assert numbers["CHIP_MAGIC"] == registers.MAGIC
    assert numbers["ISA_VERSION"] == registers.ISA_VERSION
    assert numbers["FILE_VERSION"] == file.VERSION
    assert numbers["NUM_WINDOWS"] == registers.NUM_WINDOWS
    assert numbers["PROGRAM_ALIGN"] == registers.PROGRAM_ALIGN
    for status in (registers.Status.IDLE, registers.Status.RUNNING, registers.Status.DONE,
                   registers.Status.FAULTED):
        assert numbers[f"CHIP_{status.name}"] == status
    faults = re.search(r"celosia_faults\[\] = \{(.*?)\};", text, re.DOTALL)
    assert faults is not None
    assert re.findall(r'"(\w+)"', faults.group(1)) == [fault.name for fault in Fault]


@pytest.mark.parametrize("noise", ["0", "0.001"])
def test_a_program_gives_what_the_model_gives(command, server, tmp_path, noise):
    rng = np.random.default_rng(3)
    a = rng.integers(-128, 128, (8, 4), dtype=np.int8)
    b = rng.integers(-128, 128, (4, 4), dtype=np.int8)
    constant = ", ".join(map(str, b.reshape(-1).tolist()))
    program = assemble(PRODUCT.format(constant=constant))
    program.save(tmp_path / "product")
    (tmp_path / "a").write_bytes(a.tobytes())
    board = server("--noise", noise, "--seed", "5")
    code, said, wrong = command(board.port, 1_000_000, tmp_path / "product", 100_000,
                                f"a={tmp_path / 'a'}", f"c:{tmp_path / 'c'}")
    assert (code, wrong) == (0, "")
    found = np.fromfile(tmp_path / "c", np.int32).reshape(8, 4)
    assert np.array_equal(found, a.astype(np.int32) @ b.astype(np.int32))
    assert f"fingerprint {NANO.fingerprint:#x}" in said
    with celosia.open("model", NANO.name) as device:
        cycles = device.run(program, {"a": a}).cycles
    assert f"\n{cycles} cycles\n" in said
    # Noise may spare a few hundred bytes; of many it does not: see the next test.
    assert noise != "0" or "\n0 requests sent again" in said


def test_large_buffers(command, server, tmp_path):
    program = assemble(".chip nano\n.buffer a, int8[40, 1000], input\nhalt")
    program.save(tmp_path / "copy")
    data = np.random.default_rng(4).integers(-128, 128, 40_000, dtype=np.int8)
    (tmp_path / "a").write_bytes(data.tobytes())
    code, said, wrong = command(server("--noise", "0.0002").port, 1_000_000, tmp_path / "copy",
                                1000, f"a={tmp_path / 'a'}", f"a:{tmp_path / 'again'}")
    assert (code, wrong) == (0, "")
    assert " requests sent again" in said
    assert "\n0 requests sent again" not in said
    assert (tmp_path / "again").read_bytes() == data.tobytes()


def test_errors_are_sentences(command, server, tmp_path):
    def fails(*words):
        code, _, wrong = command(*words)
        assert code == 1
        return wrong

    assert fails("/dev/none", 1_000_000) == (
        "celosia: port /dev/none must be a serial port that can be opened: No such file or "
        "directory\n")
    port = server().port
    assert fails(port, 12_345) == (
        "celosia: baud must be a speed of termios, such as 1000000 or 3000000, not 12345\n")
    (tmp_path / "none").write_bytes(b"CELOSIA\x1a" + bytes(40))
    assert fails(port, 1_000_000, tmp_path / "none", 9) == (
        f"celosia: {tmp_path / 'none'} must be a whole program file of version 2, as Program.save "
        f"writes it\n")
    assemble(".chip edge\nhalt").save(tmp_path / "edge")
    assert fails(port, 1_000_000, tmp_path / "edge", 9) == (
        f"celosia: {tmp_path / 'edge'} must be for this chip, with fingerprint "
        f"{NANO.fingerprint:#x}, not {preset('edge').fingerprint:#x}\n")
    assemble(".chip nano\n.buffer a, int8[4], input\nloop 1000000, done\nadd r1, r1, 1\ndone:\n"
             "halt").save(tmp_path / "long")
    assert fails(port, 1_000_000, tmp_path / "long", 500) == (
        "celosia: the program must end within 500 cycles, but it did not\n")
    assert fails(port, 1_000_000, tmp_path / "long", 500, f"b={tmp_path / 'none'}") == (
        "celosia: buffer must be one of the program's, not b; it has a\n")
    assert fails(port, 1_000_000, tmp_path / "long", 500, f"a={tmp_path / 'none'}") == (
        "celosia: buffer a must be given 4 bytes, not 5\n")
    assemble(".chip nano\nload ub[0], 0x1000, fmt=i8, rows=1, cols=4, pitch=4\nhalt").save(
        tmp_path / "astray")
    assert fails(port, 1_000_000, tmp_path / "astray", 500) == (
        "celosia: the program must run to its end, but the chip stopped with WINDOW at "
        "instruction 0, address 0x1000\n")
