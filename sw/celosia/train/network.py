"""What a training step computes: sizes, and constants of the optimiser."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.ops.gemm import check_size

__all__ = ["Adam", "Classifier"]


@dataclass(frozen=True)
class Classifier:
    """Sizes of a network of two dense layers, and of a step.

    Parameters
    ----------
    inputs, hidden, classes
        Elements of an input row, outputs of the first layer (with ReLU), of the second (softmax).
    batch
        Rows of a step.

    Raises
    ------
    TypeError, ValueError
        If a size is not a positive integer.
    """

    inputs: int
    hidden: int
    classes: int
    batch: int

    def __post_init__(self) -> None:
        """Check the sizes."""
        for name in ("inputs", "hidden", "classes", "batch"):
            object.__setattr__(self, name, check_size(name, getattr(self, name)))

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the parameters; weights are stored (outputs, inputs)."""
        return {"w1": (self.hidden, self.inputs), "b1": (self.hidden,),
                "w2": (self.classes, self.hidden), "b2": (self.classes,)}

    @property
    def state(self) -> dict[str, tuple[int, ...]]:
        """Shapes of all that goes from step to step: parameters, their moments, ``correction``."""
        each = {f"{name}{moment}": shape for name, shape in self.shapes.items()
                for moment in ("", ".mean", ".square")}
        return {**each, "correction": (2,)}

    def __str__(self) -> str:
        return f"{self.inputs}-{self.hidden}-{self.classes}"


@dataclass(frozen=True)
class Adam:
    """The constants of Adam (Kingma and Ba, 2015)."""

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
