"""The wire side of a board: the ranges of its fields, and the length of a bit."""

import re

import pytest

from celosia.arch.config import preset
from celosia.arch.link import IDENTITY, LinkConfig, identity, size


@pytest.mark.parametrize("fields", [
    {"clock_hz": 4, "baud": 1}, {"clock_hz": 4_000_000}, {"clock_hz": 65_535, "baud": 1},
    {"memory_bytes": 4096}, {"memory_bytes": 1 << 32}, {"memory_bytes": 3 << 12},
    {"buffer_bytes": 1024}, {"buffer_bytes": 2048}, {"buffer_bytes": 8192}])
def test_ends_of_ranges(fields):
    link = LinkConfig(**{"clock_hz": 25_000_000, **fields})
    assert all(getattr(link, name) == value for name, value in fields.items())


@pytest.mark.parametrize(("fields", "message"), [
    *(({"clock_hz": value}, f"clock_hz must be a positive integer, not {value!r}")
      for value in (0, -1, 1.0, True)),
    *(({"baud": value}, f"baud must be from 1 to a quarter of the clock, 6250000, not {value!r}")
      for value in (0, 6_250_001, 2.0)),
    ({"clock_hz": 65_536, "baud": 1}, "baud must be at least clock_hz / 65535, not 1"),
    *(({"memory_bytes": value},
       f"memory_bytes must be a multiple of 4096 up to 4294967296, not {value!r}")
      for value in (0, 2048, 4097, (1 << 32) + 4096, 4096.0)),
    *(({"buffer_bytes": value},
       f"buffer_bytes must be a power of two from 1024 to 8192, not {value!r}")
      for value in (0, 512, 3072, 16384, 1024.0))])
def test_values_out_of_range(fields, message):
    with pytest.raises(ValueError, match=f"^LinkConfig.{re.escape(message)}$"):
        LinkConfig(**{"clock_hz": 25_000_000, **fields})


@pytest.mark.parametrize(("clock", "baud", "period"), [
    (25_000_000, 1_000_000, 400), (25_000_000, 3_000_000, 133), (27_000_000, 2_000_000, 216),
    (12_000_000, 3_000_000, 64), (100, 3, 533), (100, 7, 229)])
def test_a_bit_is_the_nearest_number_of_sixteenths(clock, baud, period):
    link = LinkConfig(clock, baud)
    assert (link.unit, link.period) == (16, period)
    assert link.actual_baud == clock * 16 / period
    assert abs(link.actual_baud - baud) <= 0.008 * baud


def test_identity_has_each_field_in_its_place():
    config = preset("edge")
    said = identity(config, LinkConfig(25_000_000, memory_bytes=3 << 12, buffer_bytes=2048), 77)
    assert len(said) == size(IDENTITY)
    found, at = {}, 0
    for field in IDENTITY:
        found[field.name] = int.from_bytes(said[at:at + field.bytes], "little")
        at += field.bytes
    assert found == {"magic": 1_263_422_531, "version": 1, "bus_bytes": 8, "buffer_bytes": 2048,
                     "memory_pages": 3, "fingerprint": config.fingerprint, "session": 77}
