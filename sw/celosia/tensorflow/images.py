"""Images that are turned, moved, zoomed or resized, by operations that the bridge to XLA has."""

# pyright: reportMissingImports=false, reportMissingModuleSource=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.python.ops import gen_image_ops

__all__ = ["put_projections", "put_resizing"]


def put_projections(in_program: Callable[[], bool]) -> None:
    """Have programs project images without an operation that the bridge does not have; once.

    It is that of Keras' RandomRotation, RandomTranslation, RandomZoom and the like.

    Parameters
    ----------
    in_program
        Says whether a program of the chips is being traced.
    """
    stock = tf.raw_ops.ImageProjectiveTransformV3
    if getattr(stock, "__module__", "") == __name__:
        return

    def projective_transform(images: Any, transforms: Any, output_shape: Any, fill_value: Any,
                             interpolation: str, fill_mode: str = "CONSTANT", name: Any = None
                             ) -> Any:
        """As of `tf.raw_ops.ImageProjectiveTransformV3`."""
        if not in_program():
            return stock(images=images, transforms=transforms, output_shape=output_shape,
                         fill_value=fill_value, interpolation=interpolation, fill_mode=fill_mode,
                         name=name)
        y, x, valid = _coordinates(transforms, output_shape)
        size = tf.shape(images)
        y, x = (_mapped(each, size[axis], fill_mode) for each, axis in ((y, 1), (x, 2)))
        found = _INTERPOLATIONS[interpolation](images, y, x, fill_value)
        return tf.cast(tf.where(valid[..., None], found, fill_value), images.dtype)

    tf.raw_ops.ImageProjectiveTransformV3 = projective_transform


def put_resizing(in_program: Callable[[], bool]) -> None:
    """Have programs train through nearest neighbours, of whose gradient the bridge has no
    operation; once. ``in_program`` as of `put_projections`.
    """
    stock = gen_image_ops.resize_nearest_neighbor_grad
    if getattr(stock, "__module__", "") == __name__:
        return

    def nearest_neighbor_grad(grads: Any, size: Any, align_corners: bool = False,
                              half_pixel_centers: bool = False, name: Any = None) -> Any:
        """As of `tf.raw_ops.ResizeNearestNeighborGrad`."""
        if not in_program():
            return stock(grads, size, align_corners, half_pixel_centers, name)
        rows = _summed(grads, size[0], align_corners, half_pixel_centers)
        return _summed(rows, size[1], align_corners, half_pixel_centers)

    gen_image_ops.resize_nearest_neighbor_grad = nearest_neighbor_grad


def _summed(grads: Any, size: Any, align_corners: bool, half_pixel_centers: bool) -> Any:
    """Return sums of rows that came from one row each; rows become columns."""
    many = tf.shape(grads)[1]
    to, of = (tf.cast(each, tf.float32) for each in (size, many))
    scale = tf.where(of > 1.0, (to - 1.0) / (of - 1.0), to / of) if align_corners else to / of
    place = (tf.cast(tf.range(many), tf.float32) + (0.5 if half_pixel_centers else 0.0)) * scale
    if align_corners:
        place += 0.5  # to the nearest one
    place = tf.minimum(tf.cast(place, tf.int32), size - 1)
    rows = tf.math.unsorted_segment_sum(tf.transpose(grads, (1, 2, 0, 3)), place, size)
    return tf.transpose(rows, (2, 1, 0, 3))


def _coordinates(transforms: Any, output_shape: Any) -> tuple[Any, Any, Any]:
    """Return the row and the column where each pixel comes from, and whether it does."""
    a0, a1, a2, b0, b1, b2, c0, c1 = tf.unstack(
        tf.cast(transforms, tf.float32)[:, :, None, None], 8, 1)
    y = tf.cast(tf.range(output_shape[0]), tf.float32)[:, None]
    x = tf.cast(tf.range(output_shape[1]), tf.float32)
    scale = c0 * x + c1 * y + 1.0
    valid = tf.not_equal(scale, 0.0)
    scale = tf.where(valid, scale, 1.0)
    return (b0 * x + b1 * y + b2) / scale, (a0 * x + a1 * y + a2) / scale, valid


def _mapped(place: Any, size: Any, fill_mode: str) -> Any:
    """Return coordinates within an image for those beyond its edge, as a mode has it."""
    size = tf.cast(size, tf.float32)
    if fill_mode == "CONSTANT":
        return place
    if fill_mode == "REFLECT":  # d c b a | a b c d | d c b a
        place -= 2.0 * size * tf.floor(place / (2.0 * size))
        place = tf.where(place >= size, 2.0 * size - 1.0 - place, place)
    elif fill_mode == "WRAP":  # a b c d | a b c d; between d and a there is nothing
        whole = tf.maximum(size - 1.0, 1.0)
        place = tf.where(place < 0.0, place + size * (tf.floor(-place / whole) + 1.0), tf.where(
            place > size - 1.0, place - size * tf.floor(place / whole), place))
    return tf.clip_by_value(place, 0.0, size - 1.0)


def _read(images: Any, y: Any, x: Any, fill_value: Any) -> Any:
    """Return pixels at whole coordinates."""
    size = tf.shape(images)
    height, width = (tf.cast(each, tf.float32) for each in (size[1], size[2]))
    inside = (y >= 0.0) & (y < height) & (x >= 0.0) & (x < width)
    row, column = (tf.cast(tf.where(inside, each, 0.0), tf.int32) for each in (y, x))
    image = tf.range(size[0])[:, None, None]
    flat = tf.reshape(images, (-1, images.shape[3]))
    found = tf.gather(flat, (image * size[1] + row) * size[2] + column)
    return tf.where(inside[..., None], tf.cast(found, tf.float32), fill_value)


def _nearest(images: Any, y: Any, x: Any, fill_value: Any) -> Any:
    y, x = (tf.sign(each) * tf.floor(tf.abs(each) + 0.5) for each in (y, x))  # as C's round
    return _read(images, y, x, fill_value)


def _bilinear(images: Any, y: Any, x: Any, fill_value: Any) -> Any:
    top, left = tf.floor(y), tf.floor(x)
    down, right = (y - top)[..., None], (x - left)[..., None]
    upper, lower = (
        (1.0 - right) * _read(images, row, left, fill_value)
        + right * _read(images, row, left + 1.0, fill_value) for row in (top, top + 1.0))
    return (1.0 - down) * upper + down * lower


_INTERPOLATIONS = {"NEAREST": _nearest, "BILINEAR": _bilinear}
