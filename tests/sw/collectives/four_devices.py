"""Programs of JAX for four devices: what they lower to and give on CPU; run as a script.

    python four_devices.py FOLDER

writes NAME.mlirbc and NAME.npz (x0, x1 ... arguments, y0, y1 ... results) for each of `PROGRAMS`.
"""

import io
import os
import sys
from functools import partial
from pathlib import Path

if __name__ == "__main__":
    os.environ["XLA_FLAGS"] = ("--xla_force_host_platform_device_count=4 "
                               "--xla_backend_optimization_level=0")
    os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

P = PartitionSpec
RNG = np.random.default_rng(5)
X = RNG.standard_normal((8, 3)).astype(np.float32)
RING = [(k, (k + 1) % 4) for k in range(4)]
ALL, SOME = P(), P("d")
#: Name to (function, arguments). Functions are made when the script runs: they name devices.
PROGRAMS = {}


def program(*args):
    def enter(make):
        PROGRAMS[make.__name__] = make, args
        return make

    return enter


def mesh():
    return Mesh(np.array(jax.devices()), ("d",))


def square():
    return Mesh(np.array(jax.devices()).reshape(2, 2), ("a", "b"))


def manual(function, *args, out=SOME, into=SOME, on=None):
    shard_map = partial(jax.shard_map, mesh=on or mesh(), in_specs=into, out_specs=out,
                        check_vma=False)
    return jax.jit(shard_map(function))


@program(X)
def psum():
    return manual(lambda x: lax.psum(x, "d"), out=ALL)


@program(X)
def pmean():
    return manual(lambda x: lax.pmean(x * x, "d"), out=ALL)


@program(X)
def extremes():
    return manual(lambda x: (lax.pmax(x, "d"), lax.pmin(x, "d")), out=ALL)


@program(np.arange(8, dtype=np.int32) * 7 - 20)
def whole_numbers():
    return manual(lambda x: (lax.psum(x, "d"), lax.pmax(x, "d")), out=ALL)


@program(X)
def all_gather():
    return manual(lambda x: (lax.all_gather(x, "d"), lax.all_gather(x, "d", tiled=True, axis=1)),
                  out=ALL)


@program(np.arange(48, dtype=np.float32).reshape(16, 3))
def psum_scatter():
    def f(x):
        return lax.psum_scatter(x, "d"), lax.psum_scatter(x * 2, "d", tiled=True)
    return manual(f)


@program(X)
def ppermute():
    return manual(lambda x: (lax.ppermute(x, "d", RING), lax.ppermute(x, "d", [(0, 2), (2, 3)])))


@program(np.arange(64, dtype=np.float32).reshape(16, 4))
def all_to_all():
    return manual(lambda x: (lax.all_to_all(x, "d", 0, 1), lax.all_to_all(x, "d", 1, 0,
                                                                          tiled=True)))


@program()
def axis_index():
    return manual(lambda: lax.axis_index("d")[None], into=())


@program(RNG.standard_normal((8, 4)).astype(np.float32))
def two_axes():
    def f(x):
        return (lax.psum(x, "b"), lax.axis_index("b")[None], lax.ppermute(x, "a", [(0, 1)]),
                lax.psum(x, ("a", "b")))
    return manual(f, into=P("a", "b"), out=(P("a"), P("b"), P("a", "b"), ALL), on=square())


@program(X[:4])
def pmap():
    return jax.pmap(lambda x: (lax.psum(x, "i"), lax.axis_index("i"), lax.all_gather(x, "i")),
                    axis_name="i")


@program(X, X[:3])
def around():
    """Elementwise operations, sums and loops around the manual part."""
    @jax.jit
    def f(x, y):
        inner = jax.shard_map(lambda z: z + lax.pmean(z.max(), "d"), mesh=mesh(), in_specs=SOME,
                              out_specs=SOME)
        s = inner(jnp.tanh(x) * 2 + 1)
        return s + x, jnp.sum(s, 0), jnp.cumsum(s, 0)[-1], y.T * 2, lax.fori_loop(
            0, 3, lambda i, v: inner(v) * 0.5, s)
    return f


@program(X)
def scan():
    def turn(c, _):
        return c * 0.5 + lax.psum(c, "d") * 0.1, lax.pmax(c.sum(), "d")
    return manual(lambda x: lax.scan(turn, x, None, length=12), out=(SOME, ALL))


@program(X)
def until():
    """A loop whose trips depend on data, the same on all devices."""
    def f(x):
        return lax.while_loop(lambda c: lax.psum(c.sum(), "d") > 1.0, lambda c: c * 0.5, abs(x))
    return manual(f)


@program(X, X[:3])
def plain():
    """No manual part at all."""
    cut, whole = (NamedSharding(mesh(), spec) for spec in (SOME, ALL))

    def f(x, y):
        return jnp.exp(x) + 1, x.sum(0), jnp.sort(y, 1)
    return jax.jit(f, in_shardings=(cut, whole), out_shardings=(cut, None, None))


SIZES = (20, 32, 5)
MLP = {f"{name}{i}": (RNG.standard_normal(shape) * 0.3).astype(np.float32)
       for i, pair in enumerate(zip(SIZES, SIZES[1:], strict=False))
       for name, shape in (("w", pair), ("b", pair[1:]))}
BATCH = (RNG.standard_normal((16, SIZES[0])).astype(np.float32),
         RNG.integers(0, SIZES[-1], 16).astype(np.int32))


def loss(params, x, labels):
    x = jax.nn.relu(x @ params["w0"] + params["b0"])
    logits = x @ params["w1"] + params["b1"]
    hot = jax.nn.one_hot(labels, SIZES[-1])
    return -(jax.nn.log_softmax(logits) * hot).sum(1).mean()


def one_chip(params, x, labels):
    """A step of gradient descent."""
    value, grads = jax.value_and_grad(loss)(params, x, labels)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


@program(MLP, *BATCH)
def train():
    """The same, data-parallel."""
    def step(params, x, labels):
        value, grads = jax.value_and_grad(loss)(params, x, labels)
        grads = lax.pmean(grads, "d")
        return lax.pmean(value, "d"), jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return manual(step, into=(ALL, SOME, SOME), out=ALL)


@program(MLP, *BATCH)
def train_around():
    """The same, the loss alone in the manual part."""
    @jax.jit
    def step(params, x, labels):
        mean = jax.shard_map(lambda p, x, y: lax.pmean(loss(p, x, y), "d"), mesh=mesh(),
                             in_specs=(ALL, SOME, SOME), out_specs=ALL)
        value, grads = jax.value_and_grad(mean)(params, x, labels)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return step


@program(MLP, *BATCH)
def train_plain():
    """The same, left to the partitioner."""
    cut, whole = (NamedSharding(mesh(), spec) for spec in (SOME, ALL))
    return jax.jit(one_chip, in_shardings=(whole, cut, cut), out_shardings=whole)


@program(MLP, *BATCH)
def train_square():
    """Data along one axis of a mesh, the hidden layer along the other."""
    def put(*spec):
        return NamedSharding(square(), P(*spec))

    params = {"w0": put(None, "b"), "b0": put("b"), "w1": put("b"), "b1": put()}
    return jax.jit(one_chip, in_shardings=(params, put("a"), put("a")),
                   out_shardings=(put(), params))


IMAGES = RNG.standard_normal((8, 6, 6, 2)).astype(np.float32)
KERNEL = (RNG.standard_normal((3, 3, 2, 4)) * 0.3).astype(np.float32)


@program(KERNEL, IMAGES)
def train_images():
    """A convolution and a pool, left to the partitioner."""
    cut, whole = (NamedSharding(mesh(), spec) for spec in (SOME, ALL))

    def loss(w, x):
        dims = lax.conv_dimension_numbers(x.shape, w.shape, ("NHWC", "HWIO", "NHWC"))
        x = jax.nn.relu(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=dims))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return (x.reshape(x.shape[0], -1) ** 2).sum(1).mean()
    return jax.jit(jax.value_and_grad(loss), in_shardings=(whole, cut), out_shardings=whole)


@program(RNG.standard_normal((8, 4, 6)).astype(np.float32),
         RNG.standard_normal((8, 6, 4)).astype(np.float32))
def rules():
    """Batched products, sums, transposes, arguments of maxima."""
    cut, whole = (NamedSharding(mesh(), spec) for spec in (SOME, ALL))

    def f(x, y):
        product = jnp.einsum("bij,bjk->bik", x, y)
        return (product, lax.reduce(x, np.float32(0), lax.add, (0,)),
                lax.reduce(x, np.float32(0.5), lax.max, (0, 1)), x.transpose(1, 2, 0).sum(0),
                x.reshape(4, 2, 24), x.reshape(32, 6), x.argmax(0), x.argmax(2),
                jnp.concatenate([x, x[::-1]], 1), (x > 0).all(0), y[1:3])
    return jax.jit(f, in_shardings=(cut, whole))


def write(name, folder):
    make, args = PROGRAMS[name]
    function = make()
    lowered = function.lower(*args)
    module = io.BytesIO()
    lowered.compiler_ir("stablehlo").operation.write_bytecode(module)
    (folder / f"{name}.mlirbc").write_bytes(module.getvalue())
    with jax.default_matmul_precision("highest"):
        results = jax.tree.leaves(function(*args))
    kept = lowered._lowering.compile_args["kept_var_idx"]
    flat = jax.tree.leaves(args)
    arrays = {f"x{k}": np.asarray(flat[i]) for k, i in enumerate(sorted(kept))}
    np.savez(folder / f"{name}.npz", **arrays,
             **{f"y{i}": np.asarray(each) for i, each in enumerate(results)})


if __name__ == "__main__":
    for each in PROGRAMS:
        write(each, Path(sys.argv[1]))
