"""Arrays that the command line takes or makes up."""

import ml_dtypes
import numpy as np
import pytest

from celosia.cli.inputs import pairs, random_array, read_array


@pytest.mark.parametrize(("dtype", "low", "high"), [
    (np.int8, -128, 127), (np.uint8, 0, 255), (np.int16, -(1 << 15), (1 << 15) - 1),
    (np.int32, -(1 << 15), (1 << 15) - 1), (np.uint32, 0, (1 << 15) - 1), (np.bool_, 0, 1)])
def test_random_integers_have_all_numbers_of_16_bits(dtype, low, high):
    made = random_array((700, 1000), np.dtype(dtype), np.random.default_rng(1))
    assert (made.dtype, made.shape) == (dtype, (700, 1000))
    assert (int(made.min()), int(made.max())) == (low, high)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_random_floats_are_normal(dtype):
    made = random_array((300, 1000), np.dtype(dtype), np.random.default_rng(1)).astype(np.float64)
    assert abs(made.mean()) < 0.01
    assert abs(made.std() - 1) < 0.01


def test_a_bf16_has_no_name_in_a_file(tmp_path):
    kept = np.arange(5).astype(ml_dtypes.bfloat16)
    np.save(tmp_path / "x.npy", kept)
    found = read_array("x", str(tmp_path / "x.npy"), kept.dtype)
    assert found.dtype == kept.dtype
    assert found.tobytes() == kept.tobytes()
    assert read_array("x", str(tmp_path / "x.npy"), np.dtype(np.float32)).dtype.kind == "V"


def test_what_is_no_array(tmp_path):
    (tmp_path / "x.npy").write_bytes(b"no array")
    with pytest.raises(ValueError, match=r"^--input x: .*x.npy must be a .npy file that holds one "
                                         "array, but ValueError: "):
        read_array("x", str(tmp_path / "x.npy"), np.dtype(np.int8))
    with pytest.raises(FileNotFoundError):
        read_array("x", str(tmp_path / "y.npy"), np.dtype(np.int8))


def test_random_numbers_are_made_in_pieces():
    """NumPy makes them of 8 bytes each, which for large arrays is more than there may be."""
    sizes = []

    class Numbers:
        def integers(self, low, high, size):
            sizes.append((low, high, size))
            return np.full(size, len(sizes))

    made = random_array((2, 70_000), np.dtype(np.int8), Numbers())
    assert sizes == [(-128, 128, 65536), (-128, 128, 65536), (-128, 128, 140_000 - 2 * 65536)]
    assert np.unique(made, return_counts=True)[1].tolist() == [65536, 65536, 140_000 - 2 * 65536]
    assert random_array((), np.dtype(np.int8), Numbers()).tolist() == 4
    assert random_array((0, 3), np.dtype(np.int8), Numbers()).shape == (0, 3)


def test_files_by_names():
    assert pairs("--input", ["x=a.npy", "y=b=c.npy", "x=d.npy"]) == {"x": "d.npy", "y": "b=c.npy"}
    assert pairs("--input", []) == {}


@pytest.mark.parametrize("text", ["x", "x=", "=a.npy", "", "="])
def test_what_names_no_file(text):
    with pytest.raises(ValueError, match=f"^--save must be NAME=FILE.npy, not '{text}'$"):
        pairs("--save", ["y=a.npy", text])
