"""Protocol buffers, byte by byte, as their specification has them."""

import random
import struct

import pytest

from celosia.storage.protobuf import double, fields, fixed, message, number, varint, varint_at


@pytest.mark.parametrize(("value", "code"), [
    (0, "00"), (1, "01"), (127, "7f"), (128, "8001"), (150, "9601"), (300, "ac02"),
    (16383, "ff7f"), (16384, "808001"), ((1 << 63) - 1, "ffffffffffffffff7f"),
    (-1, "ffffffffffffffffff01"), (-2, "feffffffffffffffff01"),
    (1 << 63, "80808080808080808001"), (-(1 << 63), "80808080808080808001")])
def test_integers(value, code):
    assert varint(value).hex() == code
    data = bytes([255, *varint(value), 1])
    assert varint_at(data, 1) == (value & (1 << 64) - 1, len(data) - 1)
    for size in range(1, len(data) - 1):
        with pytest.raises(IndexError):
            varint_at(data[:size], 1)


def test_fields_are_a_key_and_their_contents():
    assert number(1, 150).hex() == "089601"
    assert number(16, 1).hex() == "800101"
    assert double(2, 1.5).hex() == "11" + struct.pack("<d", 1.5).hex()
    assert fixed(47, (1 << 64) - 2).hex() == "f902fe" + 7 * "ff"
    assert message(2, "testing").hex() == "120774657374696e67"
    assert message(3, number(1, 150)).hex() == "1a03089601"
    assert message(4, b"").hex() == "2200"
    assert message(1, "ä").hex() == "0a02c3a4"
    assert message(1, bytes(200))[:3].hex() == "0ac801"


def test_fields_are_found_again():
    rng = random.Random(1)
    data, wanted = b"", []
    for field in (1, 15, 16, 2047, 2048):
        value, text = rng.getrandbits(64), rng.randbytes(rng.choice([0, 1, 127, 128, 300]))
        data += number(field, value) + message(field, text) + double(field, 0.1)
        wanted += [(field, value), (field, text), (field, struct.pack("<d", 0.1))]
        data += varint(field << 3 | 5) + b"abcd"
        wanted.append((field, b"abcd"))
    assert list(fields(data)) == wanted
    assert list(fields(b"")) == []


@pytest.mark.parametrize("code", ["0b", "0c", "0e", "0f"])
def test_a_field_of_another_kind_is_an_error(code):
    data = bytes.fromhex(code) + bytes(8)
    with pytest.raises(ValueError, match="^wire type of field 1 must be 0, 1, 2 or 5, not "
                                         f"{data[0] & 7}$"):
        list(fields(data))


def test_a_message_that_is_cut_is_an_error():
    for whole in (double(7, 1), message(7, "abc"), varint(7 << 3 | 5) + b"abcd"):
        for size in range(2 if whole[0] & 7 == 2 else 1, len(whole)):
            with pytest.raises(ValueError, match="^field 7 must end in the message$"):
                list(fields(whole[:size]))
    with pytest.raises(IndexError):
        list(fields(number(7, 300)[:-1]))
