"""Ray Train on chips: ``JaxTrainer(train, jax_config=JaxConfig(), ...)``.

Ray Train's own `JaxConfig` connects processes of TPUs and GPUs only.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ray
from ray.train.backend import Backend
from ray.train.v2.jax import JaxConfig as _JaxConfig

__all__ = ["JaxConfig"]

#: Seconds that workers may take to find each other.
_MEET = 300.0


def _address() -> str:
    """Return where the coordinator of JAX's processes may listen, at the node's own address."""
    import socket

    host = ray.util.get_node_ip_address()
    with socket.create_server((host, 0)) as found:
        return f"{host}:{found.getsockname()[1]}"


def _join(address: str, workers: int, index: int, settings: Mapping[str, str]) -> None:
    """Make a worker one of JAX's processes."""
    os.environ |= {"JAX_PLATFORMS": "celosia", **settings}
    import jax

    if workers > 1:
        # It would listen at all addresses of the node.
        jax.distributed.initialize(address, workers, index, coordinator_bind_address=address)


class _Backend(Backend):
    def on_start(self, worker_group: Any, backend_config: JaxConfig) -> None:
        """Connect the workers with each other, before they train, and again after one has ended."""
        workers = len(worker_group)
        address = worker_group.execute_single(0, _address)
        ray.get([worker_group.execute_single_async(
            index, _join, address, workers, index, backend_config.settings)
            for index in range(workers)], timeout=_MEET)


@dataclass
class JaxConfig(_JaxConfig):
    """Has each worker be a process of JAX on chips, for `ray.train.v2.jax.JaxTrainer`.

    Attributes
    ----------
    chips
        Of each worker.
    backend
        "model" for golden chips, or "rtl".
    preset
        Of each chip.
    topology
        Of the chips of all workers together, such as "2x2"; "": they have no links.
    """

    chips: int = 1
    backend: str = "model"
    preset: str = "core"
    topology: str = ""

    @property
    def backend_cls(self) -> type[Backend]:
        """What Ray Train calls when it starts workers."""
        return _Backend

    @property
    def settings(self) -> dict[str, str]:
        """Settings of the plugin; what is wrong with them is said by a worker."""
        topology = {"CELOSIA_TOPOLOGY": self.topology} if self.topology else {}
        return {"CELOSIA_DEVICES": str(self.chips), "CELOSIA_BACKEND": self.backend,
                "CELOSIA_PRESET": self.preset, **topology}

    def to_dict(self) -> dict[str, Any]:
        """Return what Ray's logs say of it."""
        return {**super().to_dict(), **self.settings}
