"""The file of a compiled program: everything comes back; anything else is one clear error."""

import json
import struct
import zlib

import numpy as np
import pytest

import celosia
from celosia.compiled import load, read
from celosia.compiled.file import MAGIC, VERSION
from celosia.compiled.parts import Apart
from celosia.graph import parse

GRAPH = """graph pass(
  %0: f32[4,16] "x",
  %1: bool[3] "mask" donated
) {
  return %1, %0, %0
}
"""


@pytest.fixture
def compiled(copying):
    return celosia.compile(parse(GRAPH), "core", name="net", options={
        "proofs": ["because"], "apart": [Apart("exp f.py:1", "dot f.py:2", "it is so")]})


def test_everything_comes_back(compiled, tmp_path):
    path = tmp_path / "net.celosia"
    compiled.save(path)
    back = load(path)
    for name in ("program", "config", "inputs", "outputs", "works", "places", "name", "graph",
                 "proofs", "apart"):
        assert getattr(back, name) == getattr(compiled, name), name
    assert back.to_bytes() == compiled.to_bytes() == path.read_bytes()
    assert back.report() == compiled.report()
    x, mask = np.ones((4, 16), np.float32), np.array([True, False, True])
    for found, wanted in zip(back(x, mask), (mask, x, x), strict=True):
        np.testing.assert_array_equal(found, wanted, strict=True)


def test_every_damaged_byte_is_noticed(compiled):
    data = compiled.to_bytes()
    for at in range(0, len(data), max(len(data) // 97, 1)):
        damaged = bytearray(data)
        damaged[at] ^= 0x10
        with pytest.raises(ValueError, match="compiled program"):
            read(bytes(damaged))


def test_every_cut_is_noticed(compiled):
    data = compiled.to_bytes()
    for size in (*range(40), len(data) // 2, len(data) - 1):
        with pytest.raises(ValueError, match="compiled program"):
            read(data[:size])
    with pytest.raises(ValueError, match=f"must end at offset {len(data)}, not at"):
        read(data + b"\0")


def message(data: bytes) -> str:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the whole message is compared
        read(data)
    return str(caught.value)


def test_messages(compiled, tmp_path):
    data = compiled.to_bytes()
    assert message(b"") == (
        f"a compiled program must begin with {MAGIC!r} at offset 0, not b''")
    assert message(compiled.program.to_bytes()) == (
        f"a compiled program must begin with {MAGIC!r} at offset 0, not b'CELOSIA\\x1a'")
    assert message(data[:10]) == (
        "a compiled program must have 24 bytes before its body, not end at offset 10")
    other = data[:8] + struct.pack("<I", VERSION + 1) + data[12:]
    assert message(other) == (
        f"compiled program at offset 8: version must be {VERSION}, not {VERSION + 1}: "
        f"make it again with this celosia")
    path = tmp_path / "net.celosia"
    path.write_bytes(data[:-1])
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the whole message is compared
        load(path)
    assert str(caught.value) == (
        f"{path}: a compiled program must end at offset {len(data)}, not at {len(data) - 1}")


def resealed(data: bytes, change) -> bytes:
    """Return the file with another header, its checksum right."""
    body = data[24:]
    (length,) = struct.unpack_from("<I", body)
    header = json.loads(body[4:4 + length])
    change(header)
    text = json.dumps(header).encode()
    body = struct.pack("<I", len(text)) + text + body[4 + length:]
    return struct.pack("<8sIIQ", MAGIC, VERSION, zlib.crc32(body), len(body)) + body


def test_headers_that_contradict_the_program(compiled):
    data = compiled.to_bytes()
    start = "compiled program: its contents must describe one, but "
    assert message(resealed(data, lambda h: h["config"].update(dim=32))) == (
        start + "ValueError: net must be for core, not for preset core with dim 16 (here 32)")
    assert message(resealed(data, lambda h: h["config"].update(dim=7))) == (
        start + "ValueError: TpuConfig.dim must be a power of two from 2 to 256, not 7")
    assert message(resealed(data, lambda h: h.pop("inputs"))) == start + "KeyError: 'inputs'"
    assert message(resealed(data, lambda h: h["steps"][0]["inputs"][0].__setitem__(0, "none"))) == (
        start + "ValueError: buffer of net must be one of in0, in1, out1, out2, not 'none'")
    assert message(resealed(data, lambda h: h["gives"].pop())) == start + (
        "ValueError: net must give 3 of 5 values, not those of the numbers [2, 3]")
    assert message(resealed(data, lambda h: h["outputs"][0].__setitem__(1, "f128"))) == (
        start + "ValueError: 'f128' is not a valid DType")
