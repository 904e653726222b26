"""Training on the chip: a step of a dense classifier as one program."""

from celosia.train.host import HostTrainer, accuracy, batches, initial_parameters
from celosia.train.places import Adam, Classifier
from celosia.train.step import training_step
from celosia.train.trainer import Trainer

__all__ = ["Adam", "Classifier", "HostTrainer", "Trainer", "accuracy", "batches",
           "initial_parameters", "training_step"]
