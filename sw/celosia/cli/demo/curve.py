"""A picture of two loss curves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from celosia.driver.errors import needs

__all__ = ["can_draw", "draw"]

_CHIP, _HOST = "#c2542d", "#2d6ac2"


def can_draw() -> None:
    """Raise DeviceError if Matplotlib is not installed; the message says how to get it."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError as error:
        raise needs("the picture", error, "demo") from error


def draw(path: Path, title: str, chip: Sequence[float], host: Sequence[float]) -> None:
    """Write a PNG: the loss of each step on the chip and on the host, and how far they differ.

    Raises
    ------
    DeviceError
        If Matplotlib is not installed; the message says how to get it.
    OSError
        If the file cannot be written.
    """
    can_draw()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6), layout="constrained")
    losses, differences = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    steps = range(1, len(chip) + 1)
    losses.plot(steps, host, color=_HOST, linewidth=3, alpha=0.45, label="host: NumPy, float32")
    losses.plot(steps, chip, color=_CHIP, linewidth=1.2, label="chip: bf16, fp32 state")
    losses.set(title=title, ylabel="loss", ylim=(0, None))
    losses.legend(frameon=False)
    apart = [100 * (a / b - 1) for a, b in zip(chip, host, strict=True)]
    differences.axhline(0, color="0.6", linewidth=0.8)
    differences.plot(steps, apart, color=_CHIP, linewidth=1.2)
    differences.set(xlabel="step", ylabel="chip - host, %")
    for axes in (losses, differences):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    figure.savefig(path, format="png", dpi=120)
