"""A training step in TensorFlow, given to the chip as StableHLO.

python examples/tf_function.py [--backend rtl]
"""

import argparse

import digits
import numpy as np
import tensorflow as tf

import celosia

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--mnist", metavar="DIR", help="MNIST's four files; else scikit-learn's digits")
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--batch", type=int, default=64)
parser.add_argument("--limit", type=int, help="use this many images only")
parser.add_argument("--backend", default="model", help="model or rtl")
args = parser.parse_args()

(x_train, y_train), (x_test, y_test) = (
    (x[:args.limit].reshape(len(x[:args.limit]), -1), y[:args.limit])
    for x, y in digits.load(args.mnist))


@tf.function(jit_compile=True)
def logits(w1, b1, w2, b2, x):
    """Return the logits of images."""
    return tf.nn.relu(x @ w1 + b1) @ w2 + b2


@tf.function(jit_compile=True)
def step(w1, b1, w2, b2, x, y):
    """Return the weights after one step of gradient descent, and the loss before it."""
    weights = w1, b1, w2, b2
    with tf.GradientTape() as tape:
        tape.watch(weights)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits(*weights, x))
        loss = tf.reduce_mean(losses)
    slopes = tape.gradient(loss, weights)
    return [w - 0.2 * slope for w, slope in zip(weights, slopes, strict=True)], loss


def program(function, *arrays):
    """Return a TensorFlow function as a program of the chip."""
    specs = [tf.TensorSpec(array.shape, array.dtype) for array in arrays]
    source = function.experimental_get_compiler_ir(*specs)(stage="stablehlo")
    return celosia.compile(source, strict=True)


rng = np.random.default_rng(0)
weights = [rng.normal(0, 0.05, (x_train.shape[1], 128)), np.zeros(128),
           rng.normal(0, 0.05, (128, 10)), np.zeros(10)]
weights = [w.astype(np.float32) for w in weights]
train = program(step, *weights, x_train[:args.batch], y_train[:args.batch])
test = program(logits, *weights, x_test)

with celosia.open(args.backend, config=train.config) as chip:
    with train.load(chip) as loaded:
        for epoch in range(1, args.epochs + 1):
            order = rng.permutation(len(x_train))
            losses = []
            for start in range(0, len(order) - args.batch + 1, args.batch):
                chosen = order[start:start + args.batch]
                *weights, loss = loaded.run(*weights, x_train[chosen], y_train[chosen])
                losses.append(np.asarray(loss))
            print(f"epoch {epoch}: loss {np.mean(losses):.4f}", flush=True)
        weights = [np.asarray(w) for w in weights]
    (answers,) = test.run(chip, *weights, x_test)
print(f"test accuracy {(answers.argmax(1) == y_test).mean():.2%}")
