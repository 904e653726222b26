"""Training by Ray Train on the chips of several workers, which goes on when one of them is killed.

Each chip has all weights and a part of the batch. After every few steps the state is a checkpoint
of Ray Train; from the last one all go on, with the numbers of a run in which nobody is killed.

python examples/ray_train.py --workers 2 --chips 2
"""

import argparse
import tempfile
from functools import partial
from pathlib import Path

import digits
import ray
import ray.train
from ray.train.v2.jax import JaxTrainer

from celosia.pjrt.ray_train import JaxConfig


def train(config):
    """Train in this worker, from the last checkpoint on."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P

    (x_train, y_train), (x_test, y_test) = (
        (x.reshape(len(x), -1), y) for x, y in digits.load(None))
    rank, devices = ray.train.get_context().get_world_rank(), jax.device_count()
    print(f"worker {rank}: {jax.local_device_count()} of {devices} chips", flush=True)
    mesh = jax.make_mesh((devices,), ("chips",))

    def logits(weights, x):
        w1, b1, w2, b2 = weights
        return jax.nn.relu(x @ w1 + b1) @ w2 + b2

    def loss(weights, x, y):
        logp = jax.nn.log_softmax(logits(weights, x))
        return -jnp.take_along_axis(logp, y[:, None], axis=1).mean()

    @partial(jax.jit, donate_argnums=0)
    @partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("chips"), P("chips")), out_specs=P(),
             check_vma=False)
    def step(weights, x, y):
        value, slopes = jax.lax.pmean(jax.value_and_grad(loss)(weights, x, y), "chips")
        return [w - 0.3 * slope for w, slope in zip(weights, slopes, strict=True)], value

    def placed(array, *spec):
        return jax.make_array_from_callback(array.shape, NamedSharding(mesh, P(*spec)),
                                            lambda index: array[index])

    rng, done = np.random.default_rng(0), 0
    weights = [rng.normal(0, 0.1, (64, 128)).astype(np.float32), np.zeros(128, np.float32),
               rng.normal(0, 0.1, (128, 10)).astype(np.float32), np.zeros(10, np.float32)]
    if checkpoint := ray.train.get_checkpoint():
        with checkpoint.as_directory() as folder, np.load(Path(folder) / "state.npz") as kept:
            weights, done = [kept[f"arr_{i}"] for i in range(4)], int(kept["done"])
    weights = [placed(each) for each in weights]
    for turn in range(done + 1, config["steps"] + 1):
        chosen = np.random.default_rng(turn).choice(len(x_train), 64, replace=False)
        weights, value = step(weights, placed(x_train[chosen], "chips"),
                              placed(y_train[chosen], "chips"))
        metrics = {"step": turn, "loss": float(value)}
        if rank == 0:
            print(f"step {turn}: loss {float(value)!r}", flush=True)
        if turn % config["every"] and turn < config["steps"]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            state = None
            whole = [np.asarray(each) for each in weights]
            if turn == config["steps"]:
                answers = np.maximum(x_test @ whole[0] + whole[1], 0) @ whole[2] + whole[3]
                metrics["accuracy"] = float((answers.argmax(1) == y_test).mean())
            if rank == 0:
                np.savez(Path(folder) / "state.npz", *whole, done=turn)
                state = ray.train.Checkpoint.from_directory(folder)
            ray.train.report(metrics, checkpoint=state)


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--workers", type=int, default=2, help="0: this process, without any")
parser.add_argument("--chips", type=int, default=2, help="of each worker")
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--every", type=int, default=5, help="steps from one checkpoint to the next")
parser.add_argument("--keep", default=tempfile.gettempdir(), help="a folder for checkpoints")

if __name__ == "__main__":
    args = parser.parse_args()
    ray.init("local", include_dashboard=False, num_cpus=args.workers + 1)
    result = JaxTrainer(
        train, train_loop_config={"steps": args.steps, "every": args.every},
        jax_config=JaxConfig(chips=args.chips),
        scaling_config=ray.train.ScalingConfig(num_workers=args.workers),
        run_config=ray.train.RunConfig(
            storage_path=str(Path(args.keep).absolute()),
            failure_config=ray.train.FailureConfig(max_failures=2))).fit()
    print(f"test accuracy {result.metrics['accuracy']:.2%}, loss {result.metrics['loss']!r}")
