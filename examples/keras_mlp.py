"""The first network of every Keras tutorial.

JAX_PLATFORMS=celosia python examples/keras_mlp.py [--mnist DIR]
"""

import argparse
import contextlib
import os

os.environ["KERAS_BACKEND"] = "jax"

import digits
import jax
import keras

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--mnist", metavar="DIR", help="MNIST's four files; else scikit-learn's digits")
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--limit", type=int, help="use this many images only")
parser.add_argument("--profile", metavar="DIR",
                    help="leave a profile of the training there, for XProf and TensorBoard")
args = parser.parse_args()

keras.utils.set_random_seed(0)
(x_train, y_train), (x_test, y_test) = digits.load(args.mnist)
x_train, y_train = x_train[:args.limit], y_train[:args.limit]
x_test, y_test = x_test[:args.limit], y_test[:args.limit]

model = keras.Sequential([
    keras.layers.Input(x_train.shape[1:]),
    keras.layers.Flatten(),
    keras.layers.Dense(512, activation="relu"),
    keras.layers.Dropout(0.2),
    keras.layers.Dense(10),
])
model.compile(
    optimizer="adam",
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
options = jax.profiler.ProfileOptions()
options.python_tracer_level = 0  # else every call of Python is an event
with (jax.profiler.trace(args.profile, profiler_options=options) if args.profile
      else contextlib.nullcontext()):
    model.fit(x_train, y_train, batch_size=args.batch, epochs=args.epochs, verbose=2)
loss, accuracy = model.evaluate(x_test, y_test, batch_size=args.batch, verbose=0)
print(f"test loss {loss:.4f}, test accuracy {accuracy:.2%}")
