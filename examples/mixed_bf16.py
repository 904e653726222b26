"""Mixed precision in Keras: layers compute in bfloat16, weights and sums are float32.

JAX_PLATFORMS=celosia python examples/mixed_bf16.py [--mnist DIR]
"""

import argparse
import os

os.environ["KERAS_BACKEND"] = "jax"

import digits
import keras

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--mnist", metavar="DIR", help="MNIST's four files; else scikit-learn's digits")
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--limit", type=int, help="use this many images only")
args = parser.parse_args()

keras.utils.set_random_seed(0)
keras.mixed_precision.set_global_policy("mixed_bfloat16")
(x_train, y_train), (x_test, y_test) = digits.load(args.mnist)
x_train, y_train = x_train[:args.limit], y_train[:args.limit]
x_test, y_test = x_test[:args.limit], y_test[:args.limit]

model = keras.Sequential([
    keras.layers.Input(x_train.shape[1:]),
    keras.layers.Flatten(),
    keras.layers.Dense(256, activation="gelu"),
    keras.layers.LayerNormalization(),
    keras.layers.Dense(10, dtype="float32"),
])
model.compile(
    optimizer=keras.optimizers.SGD(0.1, momentum=0.9),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x_train, y_train, batch_size=args.batch, epochs=args.epochs, verbose=2)
loss, accuracy = model.evaluate(x_test, y_test, batch_size=args.batch, verbose=0)
print(f"test loss {loss:.4f}, test accuracy {accuracy:.2%}")
