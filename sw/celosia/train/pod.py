"""Training on chips that links connect: each has a part of the batch and a share of the weights."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.arch.config import TpuConfig
from celosia.collectives import HostInterconnect, Topology
from celosia.collectives.linked import linked
from celosia.collectives.run import on_all
from celosia.compiled import Compiled
from celosia.compiler.api import compile
from celosia.driver import Device
from celosia.driver.backends import PODS
from celosia.train.network import Adam, Classifier
from celosia.train.shares import WeightShares
from celosia.train.step import training_step, weights_graph

__all__ = ["PodTrainer"]


class PodTrainer:
    """A classifier in training on the chips of a topology, data parallel.

    A step is one program of each chip: weights and gradients go by the links, nothing by the host.
    Each chip has a share of the parameters (`WeightShares`), which it updates and keeps.

    Parameters
    ----------
    backend
        "rtl", or "model" for golden chips.
    config
        Of each chip; it gets the topology's ports.
    net
        Sizes; ``batch`` are the rows of each chip.
    topology
        Of the chips.
    parameters
        First parameters by the names of `Classifier.shapes`, float32.
    adam
        Its constants; None: those of the paper.
    options
        Of the links: ``latency`` and ``seed``; of RTL chips ``errors``, and ``processes``.

    Raises
    ------
    ValueError
        If there is no such pod, or its chips cannot train such a network.
    celosia.driver.DeviceError
        If a package is missing, or programs and state do not fit.
    """

    def __init__(self, backend: str, config: TpuConfig, net: Classifier, topology: Topology,
                 parameters: Mapping[str, ArrayLike], adam: Adam | None = None, **options: Any):
        if backend not in PODS:
            raise ValueError(f"backend of a pod must be {' or '.join(PODS)}, not {backend!r}")
        self.net, self.topology = net, topology
        config = replace(config, ports=topology.ports)
        self.compiled = training_step(config, net, adam, topology.chips)
        self._host = HostInterconnect(topology.chips, topology=topology)
        self._devices = [Device(each, backend) for each in PODS[backend](
            config, topology.chips, topology.links, **options)]
        self._shares = shares = WeightShares(net, topology.chips)
        self._loaded = self._load(self.compiled)
        self._config = config
        self._weights: list[NDArray[np.float32]] = []  # of the first layer, if they are known
        given = {name: np.array(value, np.float32) for name, value in parameters.items()}
        self._states: list[dict[str, Any]] = [
            shares.first(given, chip) for chip in range(topology.chips)]

    def _load(self, compiled: Compiled) -> list[Any]:
        """Return a program with its links on each chip."""
        return [linked(compiled, self.topology, number).load(device)
                for number, device in enumerate(self._devices)]

    @cached_property
    def _gather(self) -> list[Any]:
        """What gathers the first layer's weights, on each chip."""
        return self._load(compile(weights_graph(self._shares), self._config))

    @property
    def meetings(self) -> int:
        """How often the host has brought something from one chip to another."""
        return self._host.meetings

    @property
    def cycles(self) -> list[int]:
        """Cycles of each chip's last step."""
        return [each.cycles for each in self._loaded]

    def step(self, x: NDArray, labels: NDArray[np.integer], rate: float) -> float:
        """Update the parameters by a batch, chip after chip; return its mean loss before that.

        Raises
        ------
        ValueError
            If there are not ``net.batch`` rows for each chip.
        DeviceError
            If the run fails.
        """
        chips, batch = self.topology.chips, self.net.batch
        if len(x) != chips * batch or len(labels) != chips * batch:
            raise ValueError(f"there must be {batch} rows and labels for each of {chips} chips, "
                             f"not {len(x)} and {len(labels)}")
        rows = np.asarray(x).astype(ml_dtypes.bfloat16).reshape(chips, batch, -1)
        classes = np.asarray(labels).astype(np.int32).reshape(chips, batch)

        def one(number: int, peer: Any) -> tuple[Any, ...]:
            loss, *state = self._loaded[number].run(
                rows[number], classes[number], np.float32(rate), *self._states[number].values(),
                peer=peer)
            return np.asarray(loss), *state  # read here: by all chips at once

        self._weights = []
        losses = set()
        for number, (loss, *state) in enumerate(on_all(self._host, one)):
            losses.add(loss.tobytes())
            self._states[number] = dict(zip(self._states[number], state, strict=True))
        if len(losses) > 1:
            raise RuntimeError(f"all chips must have one loss, not {len(losses)}")
        return float(np.frombuffer(losses.pop(), np.float32)[0])

    def parameters(self, chip: int = 0) -> dict[str, NDArray[np.float32]]:
        """Return the parameters as a chip has them now, those of all shares gathered by it."""
        if not self._weights:
            gather = self._gather

            def one(number: int, peer: Any) -> tuple[Any, ...]:
                state = self._states[number]
                # By the host: time passes for all chips when one of them copies.
                return gather[number](*(np.asarray(state[name]) for name in self._shares.names),
                                      peer=peer)

            self._weights = [np.concatenate(blocks) for blocks in on_all(self._host, one)]
        return {"w1": self._weights[chip], **{
            name: np.array(self._states[chip][name]) for name in self.net.shapes if name != "w1"}}

    def hashes(self) -> list[str]:
        """Return a hash of each chip's parameters: what it has, not what another one says."""
        return [hashlib.sha256(b"".join(each.tobytes() for each in self.parameters(chip).values())
                               ).hexdigest()[:16] for chip in range(self.topology.chips)]

    def close(self) -> None:
        """Close the chips."""
        for each in self._devices:
            each.close()
