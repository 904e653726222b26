"""Emitted programs equal `evaluate` bit for bit, whatever the places."""

import re

import numpy as np
import pytest
from pages.accuracy import kernels as sweeps

import celosia
from celosia import kernels, ops
from celosia.arch.vector import Dst, Post, Reduce, ReduceOp, Src, VectorOp
from celosia.kernels import kernel, normal, optimisers, scalar, step
from celosia.ops.emit import Lane, Place, emit, lay_out

KERNELS = [case.kernel for case in (*sweeps.HARDWARE, *sweeps.LIBRARY)] + [
    optimisers.sgd(), optimisers.momentum(), optimisers.momentum(nesterov=True),
    optimisers.adam(), optimisers.adamw()]


@pytest.fixture(scope="module")
def device():
    with celosia.open("model", "core") as device:
        yield device


@pytest.mark.parametrize("made", KERNELS, ids=lambda made: made.name)
@pytest.mark.parametrize("size", [7, 16 * 300 + 5])
def test_programs_on_the_model_equal_evaluate(device, made, size):
    rng = np.random.default_rng(size)
    arrays = [rng.integers(0, 1 << 32, size, dtype=np.uint64).astype(np.uint32).view(np.float32)
              for _ in made.inputs]
    for array in arrays:
        array[::2] = rng.normal(0, 2, (size + 1) // 2)
    scalars = {name: float(rng.uniform(0.1, 1)) for name in made.scalars}
    found = ops.apply(device, made, *arrays, **scalars)
    found = found if isinstance(found, dict) else {made.outputs[0].name: found}
    wanted = kernels.evaluate(made, *(array.reshape(1, -1) for array in arrays), **scalars)
    for output, words in zip(made.outputs, wanted, strict=True):
        np.testing.assert_array_equal(found[output.name].view(np.uint32), words[0])


def test_results_take_the_places_of_operands_that_are_not_needed_any_more():
    made = kernel("chain", lambda x: ((x * x) + 1.0) * 2.0)
    layout = lay_out(made, {"x": Place(0)}, {"y": Place(64)})
    assert layout.temporary_rows(64) == 64
    assert [op.words[0] for op in layout.emit(64, 128)] == [128, 128, 64]
    assert [op.words[1] for op in layout.emit(64, 128)] == [0, 128, 128]


def test_an_output_may_take_the_place_of_an_input():
    made = kernel("sum", lambda a, b: {"a": a + b, "d": a - b}, ("a", "b"))
    layout = lay_out(made, {"a": Place(0), "b": Place(8)}, {"a": Place(0), "d": Place(16)})
    assert [op.words[0] for op in layout.emit(8, 24)] == [24, 16, 0]
    late = kernel("sum", lambda a, b: {"d": a - b, "a": a + b}, ("a", "b"))
    layout = lay_out(late, {"a": Place(0), "b": Place(8)}, {"a": Place(0), "d": Place(16)})
    assert [op.words[:3] for op in layout.emit(8)] == [(16, 0, 8), (0, 0, 8)]
    assert layout.temporary_rows(8) == 0


def test_inputs_and_outputs_may_be_in_the_unified_buffer():
    made = kernel("scaled", lambda x: {"y": x * 3.0, "z": abs(x * 3.0)})
    ops = emit(made, 4, {"x": Place(5, Dst.UB_BF16)},
               {"y": Place(9, Dst.UB_BF16), "z": Place(13, Dst.UB_I8)}, 100)
    assert [op.command.fields["dst_kind"] for op in ops] == [Dst.UB_BF16, Dst.ACC, Dst.UB_I8]
    assert ops[0].command.fields["a_kind"] == Src.UB_BF16
    both = kernel("both", lambda x: {"y": x * 3.0, "z": (x * 3.0) + 1.0})
    assert len(emit(both, 4, {"x": Place(0)}, {"y": Place(9), "z": Place(13)})) == 3

    def shared(x):
        y = x * 3.0
        return {"y": y, "z": y + 1.0}
    ops = emit(kernel("shared", shared), 4, {"x": Place(0)},
               {"y": Place(9, Dst.UB_BF16), "z": Place(13)}, 100)
    # z is made of y as it was before it was rounded.
    assert [op.words[:2] for op in ops] == [(100, 0), (13, 100), (9, 100)]


def test_scalars_may_be_numbers_words_and_lanes_on_chip():
    made = kernel("scaled", lambda x: x * scalar("s"))
    places = {"x": Place(0)}, {"y": Place(8)}
    (number,) = emit(made, 8, *places, scalars={"s": 1.5})
    (bits,) = emit(made, 8, *places, scalars={"s": 0x3FC00000})
    assert number == bits
    (lane,) = emit(made, 8, *places, scalars={"s": Lane(300, 2)})
    assert lane.command.fields["b_kind"] == Src.ACC_LANE_ROW
    assert lane.words[2] == 300 | 2 << 24


def test_steps_without_rows_run_once():
    def masked(x):
        inside = step(VectorOp.ILT, kernels.lane_index(), 3)
        return step(VectorOp.SELECT, inside, x, 0.0)
    ops = emit(kernel("masked", masked), 50, {"x": Place(0)}, {"y": Place(50)}, 100)
    assert [op.words[4] & 0xFFFF for op in ops] == [1, 50]
    assert ops[1].command.fields["a_kind"] == Src.ACC_ROW


def test_reductions_over_rows_give_one_row():
    def summed(x):
        total = step(VectorOp.MOV, x, reduce=Reduce.ROWS, reduce_op=ReduceOp.SUM_F)
        return x - total
    made = kernel("centred", summed)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    found = kernels.evaluate(made, x)[0].view(np.float32)
    np.testing.assert_array_equal(found, x - x.sum(0))
    ops = emit(made, 3, {"x": Place(0)}, {"y": Place(0)}, 100)
    assert ops[0].words[0] == 100
    assert ops[1].command.fields["b_kind"] == Src.ACC_ROW


def test_a_sum_of_rows_is_not_made_in_their_place():
    made = kernel("total", lambda x: step(VectorOp.MOV, x, reduce=Reduce.ROWS))
    ops = emit(made, 8, {"x": Place(0)}, {"y": Place(0)}, 100)
    assert [op.words[:2] for op in ops] == [(100, 0), (0, 100)]


@pytest.mark.parametrize(("columns", "rows"), [(16, 40), (40, 40), (5, 300)])
def test_kernels_of_rows_on_the_model_equal_evaluate(device, columns, rows):
    rng = np.random.default_rng(columns)
    x = rng.normal(0, 4, (rows, columns)).astype(np.float32)
    row = rng.normal(0, 1, (2, columns)).astype(np.float32)
    for made in (normal.softmax(columns, 16), normal.log_softmax(columns, 16),
                 normal.layer_norm(columns, 16), normal.argmax(columns, 16)):
        arrays = [x, *row][:len(made.inputs)]
        found = ops.apply(device, made, *arrays)
        wanted = kernels.evaluate(made, *arrays, dim=16)[0]
        np.testing.assert_array_equal(found.view(np.uint32).reshape(wanted.shape), wanted)


def test_places_must_be_complete():
    made = kernel("sum", lambda a, b: a + b, ("a", "b"))
    with pytest.raises(ValueError, match=r"^inputs must have a place for b$"):
        lay_out(made, {"a": Place(0)}, {"y": Place(8)})
    with pytest.raises(ValueError, match=r"^outputs must have a place for y$"):
        lay_out(made, {"a": Place(0), "b": Place(8)}, {})
    with pytest.raises(ValueError, match=r"^inputs must have 1 places for a, not 2$"):
        lay_out(made, {"a": [Place(0), Place(8)], "b": Place(8)}, {"y": Place(8)})
    swap = kernel("swap", lambda a, b: {"a": b, "b": a}, ("a", "b"))
    places = {"a": Place(0), "b": Place(8)}
    with pytest.raises(ValueError, match=r"^outputs of swap must not be inputs in each other's "
                                         r"places$"):
        lay_out(swap, places, places)


def test_parts_take_turns():
    made = kernel("f", lambda x: step(VectorOp.IADD, x, kernels.row_index(3)) * 2.0)
    ops = emit(made, 7, {"x": Place(0)}, {"y": Place(8)}, 16, first_row=100, parts=2)
    assert [op.words[:3] for op in ops] == [
        (16, 0, 103), (20, 4, 107), (8, 16, 0x40000000), (12, 20, 0x40000000)]
    assert [op.words[4] & 0xFFFF for op in ops] == [4, 3, 4, 3]
    total = kernel("t", lambda x: x - step(VectorOp.MOV, x, reduce=Reduce.ROWS))
    ops = emit(total, 8, {"x": Place(0)}, {"y": Place(8)}, 16, parts=2)
    assert [op.words[4] & 0xFFFF for op in ops] == [8, 4, 4]


def test_rows_and_scalars_are_checked():
    layout = lay_out(optimisers.sgd(), {"w": Place(0), "g": Place(8)}, {"w": Place(0)})
    for rows in (0, 65536):
        with pytest.raises(ValueError, match=re.escape(
                f"rows must be from 1 to 65535, not {rows}")):
            layout.emit(rows, scalars={"scale": 1.0})
    with pytest.raises(ValueError, match=r"^scalars of sgd must hold scale$"):
        layout.emit(4)


def test_second_stages_are_fused():
    made = kernel("f", lambda x: step(VectorOp.FMUL, x, 2.0, post=Post.EXP2))
    (op,) = emit(made, 4, {"x": Place(0)}, {"y": Place(4)})
    assert op.command.fields["post"] == Post.EXP2
