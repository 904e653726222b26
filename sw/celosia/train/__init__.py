"""Training on the chip: a step of a dense classifier, compiled to one program."""

from celosia.train.host import HostTrainer, accuracy, batches, initial_parameters
from celosia.train.network import Adam, Classifier
from celosia.train.pod import PodTrainer
from celosia.train.step import training_step
from celosia.train.trainer import Trainer

__all__ = ["Adam", "Classifier", "HostTrainer", "PodTrainer", "Trainer", "accuracy",
           "batches", "initial_parameters", "training_step"]
