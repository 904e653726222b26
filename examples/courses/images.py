"""Networks that read images: IDX files, batches of them, and the share that is read right."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from celosia.cli.idx import FILES, array_of, unpacked

CLASSES = 10
#: Test images that are read at once.
AT_ONCE = 1000


def convolution(x, weights, padding):
    """Return the convolution of images [n, rows, columns, channels]."""
    return jax.lax.conv_general_dilated(x, weights, (1, 1), padding,
                                        dimension_numbers=("NHWC", "HWIO", "NHWC"))


def pooled(x):
    """Return the largest of each 2 x 2 pixels."""
    n, rows, columns, channels = x.shape
    return x.reshape(n, rows // 2, 2, columns // 2, 2, channels).max((2, 4))


class Images:
    """What the networks that read images share; ``scores`` and ``initial`` are their own.

    Attributes
    ----------
    unit
        What is counted.
    carried
        What goes on from step to step beside parameters, at the beginning.
    """

    unit, option, curve = "images", "data", "cross entropy of a batch"
    epochs, batch, rate = 3, 64, 4e-3
    carried = {}

    def __init__(self, width=None, batch=None, length=None):
        self.width, self.batch = width or self.width, batch or self.batch
        if length:
            raise ValueError(f"--length must be left out, images have none, not {length}")

    def load(self, folder):
        """Read the four files of a folder: MNIST's, or any of that shape."""
        (images, labels), (test_images, test_labels) = (
            (self._read(folder, images, 3), self._read(folder, labels, 1))
            for images, labels in (FILES[:2], FILES[2:]))
        self.images, self.labels = self._prepared(folder, images, labels)
        self.test_images, self.test_labels = self._prepared(folder, test_images, test_labels)
        self.steps_per_epoch = len(self.images) // self.batch
        if not self.steps_per_epoch:
            raise ValueError(f"{folder} must have {self.batch} images or more, a batch of them, "
                             f"not {len(self.images)}")
        self.units_per_step = self.batch

    @staticmethod
    def _read(folder, name, axes):
        return array_of(*unpacked(Path(folder), name, "--data"), axes)

    @staticmethod
    def _prepared(folder, images, labels):
        if images.shape[1:] != (28, 28) or len(images) != len(labels) or labels.max() >= CLASSES:
            raise ValueError(f"{folder} must have images of 28 x 28 pixels and a label below "
                             f"{CLASSES} for each, not images {list(images.shape)} and labels "
                             f"{list(labels.shape)} up to {labels.max()}")
        return (images[..., None] / np.float32(255)).astype(np.float32), labels.astype(np.int32)

    def at(self, step):
        """Return the batch of a step: each epoch has an order of its own."""
        epoch, place = divmod(step, self.steps_per_epoch)
        rows = np.random.default_rng((1, epoch)).permutation(len(self.images))
        rows = rows[place * self.batch:(place + 1) * self.batch]
        return self.images[rows], self.labels[rows]

    def loss(self, parameters, carried, batch, key):
        """Return the mean cross entropy of a batch, and what goes on to the next."""
        images, labels = batch
        scores, carried = self.scores(parameters, carried, images, key)
        right = jax.nn.log_softmax(scores) * jax.nn.one_hot(labels, CLASSES)
        return -right.sum(-1).mean(), carried

    def test(self, parameters, carried):
        """Return the quality on the test images, and that as text."""
        @jax.jit
        def right(parameters, carried, images, labels):
            scores, _ = self.scores(parameters, carried, images, None)
            return (scores.argmax(-1) == labels).sum()

        at_once = min(AT_ONCE, len(self.test_images))
        count = sum(int(right(parameters, carried, self.test_images[i:i + at_once],
                              self.test_labels[i:i + at_once]))
                    for i in range(0, len(self.test_images), at_once))
        share = count / len(self.test_images)
        return share, f"{share:.2%} of {len(self.test_images):,} test images read right"

    def sample(self, parameters, carried):
        """Return what it says of itself: nothing."""
        return None


def he(rng, *shape):
    """Return normal weights of variance 2 / inputs (He et al., 2015)."""
    return (rng.standard_normal(shape) * np.sqrt(2 / np.prod(shape[:-1]))).astype(np.float32)


def dropped(x, key, share):
    """Return ``x`` with a share of its elements zero in training (``key`` is given)."""
    if key is None:
        return x
    return jnp.where(jax.random.bernoulli(key, 1 - share, x.shape), x / (1 - share), 0)
