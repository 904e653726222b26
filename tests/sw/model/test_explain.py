import pytest

from celosia.arch.config import preset
from celosia.arch.encoding import Insn, Reg, encode, insn
from celosia.arch.faults import Fault
from celosia.model.decode import decode_checked
from celosia.model.explain import explain

CORE, NANO, V2 = preset("core"), preset("nano"), preset("v2")


def vector(**fields) -> Insn:
    return insn("vector", **({"op": "mov", "dst_kind": "acc", "a_kind": "acc", "dst": 0, "a": 64,
                              "n0": 8} | fields))


INDEXED = {"b_kind": "acc", "b": 200, "param": 4}


@pytest.mark.parametrize(("config", "instruction", "reason"), [
    (CORE, insn("stride", x=0, s0=1), "x must be 1 to 7, not 0"),
    (V2, insn("load", mem="ub", fmt="i8", row=0, addr=0, rows=1, cols=1),
     "fmt i8 needs a chip with int8"),
    (NANO, insn("load", mem="ub", fmt="w32", row=0, addr=0, rows=1, cols=1),
     "fmt w32 of the unified buffer needs a chip with bf16"),
    (NANO, insn("matmul", fmt="bf16", acc=0, acts=0, w=0, n0=1, wrows=1),
     "fmt bf16 needs a chip with bf16"),
    (CORE, insn("matmul", fmt="bf16", acc=0, acts=0, w=3, n0=1, wrows=0, wload=0),
     "w, wrows, xw and transpose must be 0 where wload is"),
    (CORE, vector(op="iadd"), "iadd must take a, b, and b is none"),
    (CORE, vector(b_kind="acc", b=9), "mov must take a, and b is acc"),
    (CORE, vector(b=9), "b must be 0 where it is none"),
    (CORE, vector(a_kind="acc_row", xa=2), "xa must be 0 where a is no stream but acc_row"),
    (CORE, vector(op="select", b_kind="acc", b=99, c_kind="acc_lane", c=120),
     "at most two of a, b, c may be streams, not three"),
    (CORE, vector(op="transpose", a_kind="acc_lane", n0=16),
     "a of transpose must be a stream of whole rows, not acc_lane"),
    (CORE, vector(op="rotate", b_kind="lane_index"),
     "b of rotate must be a scalar, not lane_index"),
    (CORE, vector(op="gather", b_kind="ub_bf16", b=0, param=4),
     "b of gather must be rows of indexes in the accumulators, not ub_bf16"),
    (CORE, vector(op="gather", **INDEXED, xa=1),
     "xa of gather must be 0: the table's rows are consecutive, not x1"),
    (CORE, vector(op="scatter", **INDEXED, xdst=3),
     "xdst of scatter must be 0: the table's rows are consecutive, not x3"),
    (CORE, vector(op="scatter", **INDEXED, reduce="lanes"),
     "reduce of scatter must be none, not lanes"),
    (CORE, vector(op="requant", b_kind="scalar", c_kind="scalar", post="relu_i"),
     "post of requant must be none, not relu_i"),
    (CORE, vector(op="gather", **INDEXED, post="clamp_f"),
     "post of gather must not be clamp_f: both use param"),
    (CORE, vector(post="exp2", param=1),
     "param must be 0 with mov and post exp2, which do not use it"),
    (CORE, vector(reduce_op="or"), "reduce_op must be sum_i where reduce is none, not or"),
    (V2, vector(a_kind="ub_i8_lane"), "a from ub_i8_lane needs a chip with int8"),
    (V2, vector(dst_kind="ub_i8"), "dst ub_i8 needs a chip with int8"),
    (NANO, vector(a_kind="ub_bf16_row"), "a from ub_bf16_row needs a chip with bf16"),
    (NANO, vector(op="fabs"), "fabs needs a chip with bf16"),
    (NANO, vector(post="rsqrt"), "rsqrt needs a chip with bf16"),
    (NANO, vector(reduce="rows", reduce_op="max_f"), "max_f needs a chip with bf16"),
    (NANO, vector(dst_kind="ub_bf16"), "dst ub_bf16 needs a chip with bf16"),
])
def test_fields(config, instruction, reason):
    assert decode_checked(config, encode(instruction)).fault == Fault.ILLEGAL_FIELD
    assert explain(config, instruction, Fault.ILLEGAL_FIELD) == reason


@pytest.mark.parametrize(("instruction", "reason"), [
    (vector(n0=0), "n0, n1 and n2 must be 1 to 65535, not 0, 1, 1"),
    (insn("load", mem="ub", fmt="i8", row=0, addr=0, rows=0, cols=3),
     "rows and cols must be 1 to 65535, not 0, 3"),
    (insn("matmul", fmt="bf16", acc=0, acts=0, w=0, n0=1, wrows=17),
     "wrows must be 1 to 16, not 17"),
    (vector(op="transpose", n0=15), "n0 of transpose must be a multiple of 16, not 15"),
    (vector(reduce="collect", n0=17),
     "n0 of gather, scatter and collect must be at most 16, not 17"),
    (vector(op="gather", **INDEXED | {"param": 0}),
     "param, the rows of the table, must be 1 to 65535, not 0"),
])
def test_counts(instruction, reason):
    assert explain(CORE, instruction, Fault.ILLEGAL_COUNT) == reason


def test_what_a_register_decides_is_not_explained():
    assert explain(CORE, vector(op="transpose", dst=Reg(1), n0=15), Fault.ILLEGAL_COUNT) == ""


def test_other_faults_have_their_address():
    assert explain(CORE, vector(dst=9999), Fault.ACC_RANGE) == ""
    assert explain(CORE, vector(), Fault.ILLEGAL_COUNT) == ""
