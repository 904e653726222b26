"""Copies: their dimensions, and words where elements are aligned for them."""

from celosia.arch.isa import DmaFormat
from celosia.compiler.emit.copies import Dim, copy_of
from celosia.compiler.lowered import Access, External, Tensor
from celosia.compiler.views import View
from celosia.graph import DType


def copied(src: View, dst: View, fmt=DmaFormat.W32):
    a, b = (Tensor(name, (10**4,), DType.F32, fmt, External(place))
            for name, place in (("a", 0), ("b", 1 << 20)))
    copy = copy_of(Access(a, src), Access(b, dst), "")
    assert copy is not None
    return copy


def test_dimensions_are_joined_where_both_sides_allow():
    whole = View.contiguous((4, 6, 8))
    assert copied(whole, whole).dims == (Dim(192, 1, 1),)
    part = View(0, (4, 6, 8), (100, 8, 1))
    assert copied(part, whole).dims == (Dim(4, 100, 48), Dim(48, 1, 1))
    assert copied(whole.transpose((1, 0, 2)), View.contiguous((6, 4, 8))).dims == (
        Dim(6, 8, 32), Dim(4, 48, 8), Dim(8, 1, 1))


def test_targets_go_forwards():
    back = View.contiguous((4, 6)).reverse((0, 1))
    assert copied(back, back).dims == (Dim(24, 1, 1),)
    copy = copied(View.contiguous((4, 6)), back)
    assert (copy.dims, copy.src.addr) == ((Dim(24, -1, 1),), 4 * 23)


def test_short_elements_are_words_where_they_are_aligned():
    whole = View.contiguous((6, 8))
    copy = copied(whole.slice((0, 0), (6, 4)), View.contiguous((6, 4)), DmaFormat.I8)
    assert (copy.fmt, copy.dims) == (DmaFormat.W32, (Dim(6, 2, 1),))
    odd = copied(whole.slice((0, 0), (6, 3)), View.contiguous((6, 3)), DmaFormat.I8)
    assert (odd.fmt, odd.dims) == (DmaFormat.I8, (Dim(6, 8, 3), Dim(3, 1, 1)))
    apart = copied(View(0, (6, 4), (9, 1)), View.contiguous((6, 4)), DmaFormat.I8)
    assert (apart.fmt, apart.dims) == (DmaFormat.I8, (Dim(6, 9, 4), Dim(4, 1, 1)))
