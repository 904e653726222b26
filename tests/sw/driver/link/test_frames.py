import zlib
from pathlib import Path

import numpy as np
import pytest

from celosia.arch.link import ESCAPE, FLAG, IDENTITY, REQUEST_HEADER, LinkConfig, RequestKind
from celosia.driver.link.frames import FrameDecoder, encode, pack, unpack


def test_frame_of_the_page():
    body = bytes([0x05, RequestKind.READ_REGISTER, 4, 0, FLAG, ESCAPE, 0, 0])
    assert pack(REQUEST_HEADER, unpack(REQUEST_HEADER, body)) == body
    assert zlib.crc32(body) == 0x5072A52A
    assert encode(body) == bytes.fromhex("7e 05 03 04 00 7d 5e 7d 5d 00 00 2a a5 72 50 7e")


def test_page_has_every_name():
    page = (Path(__file__).parents[4] / "docs" / "link.md").read_text()
    for field in (*REQUEST_HEADER, *IDENTITY):
        assert f"| `{field.name}` | {field.bytes} |" in page
    for kind in RequestKind:
        assert f"| {kind.value} | `{kind.name}` |" in page
    assert all(name in page for name in ("REFUSED", "NO_SESSION", "INTERRUPT"))
    frame = encode(bytes([5, RequestKind.READ_REGISTER, 4, 0, FLAG, ESCAPE, 0, 0]))
    assert f"`{frame.hex(' ')}`" in page


def test_every_split_of_the_bytes_gives_the_same_frames():
    rng = np.random.default_rng(0)
    bodies = [rng.choice([FLAG, ESCAPE, 0x5E, 0x5D, 0], rng.integers(1, 20)).astype(np.uint8)
              .tobytes() for _ in range(50)]
    data = b"\x7dnoise" + b"".join(map(encode, bodies))
    assert FrameDecoder().feed(data) == bodies
    decoder, heard = FrameDecoder(), []
    for byte in data:
        heard += decoder.feed(bytes([byte]))
    assert heard == bodies
    assert decoder.garbled == 1


def test_no_single_fault_makes_another_body():
    body = bytes(range(0x70, 0x90))
    frame = encode(body)
    for at in range(1, len(frame) - 1):
        spoilt = [bytes([frame[at] ^ 1 << bit]) for bit in range(8)]
        for middle in [*spoilt, b"", frame[at:at + 1] * 2]:
            heard = FrameDecoder().feed(frame[:at] + middle + frame[at + 1:] + frame)
            assert heard[-1] == body
            assert set(heard) == {body}


def test_endless_noise_takes_no_memory():
    decoder = FrameDecoder()
    for _ in range(100):
        assert decoder.feed(bytes(4096)) == []
    assert len(decoder._rest) <= 4096
    assert decoder.feed(encode(b"after it")) == [b"after it"]


@pytest.mark.parametrize(("options", "message"), [
    ({"clock_hz": 0}, "LinkConfig.clock_hz must be a positive integer, not 0"),
    ({"clock_hz": 12_000_000, "baud": 3_000_001},
     "LinkConfig.baud must be from 1 to a quarter of the clock, 3000000, not 3000001"),
    ({"clock_hz": 100_000_000, "baud": 300},
     "LinkConfig.baud must be at least clock_hz / 65535, not 300"),
    ({"clock_hz": 1 << 24, "memory_bytes": 5000},
     "LinkConfig.memory_bytes must be a multiple of 4096 up to 4294967296, not 5000"),
    ({"clock_hz": 1 << 24, "buffer_bytes": 512},
     "LinkConfig.buffer_bytes must be a power of two from 1024 to 8192, not 512"),
    ({"clock_hz": 1 << 24, "buffer_bytes": 16384},
     "LinkConfig.buffer_bytes must be a power of two from 1024 to 8192, not 16384"),
])
def test_wrong_configurations(options, message):
    with pytest.raises(ValueError, match="LinkConfig") as caught:
        LinkConfig(**options)
    assert str(caught.value) == message


@pytest.mark.parametrize(("clock", "baud"), [
    (25_000_000, 3_000_000), (12_000_000, 3_000_000), (27_000_000, 2_000_000),
    (100_000_000, 115_200), (48_000_000, 11_000_000)])
def test_baud_rates_are_met(clock, baud):
    assert LinkConfig(clock, baud).actual_baud == pytest.approx(baud, rel=0.008)
