"""Where programs for TPUs look for one, and what they say when they have found it."""

# pyright: reportMissingImports=false, reportMissingModuleSource=false

from __future__ import annotations

from typing import Any

import tensorflow as tf

from celosia.tensorflow.cores import settings

__all__ = ["TPUClusterResolver", "connect_to_cluster", "initialize_tpu_system", "no_operation"]


class TPUClusterResolver(tf.distribute.cluster_resolver.ClusterResolver):
    """Takes any address for the chips of this process; as of TensorFlow's of that name.

    Parameters
    ----------
    tpu
        An address or a name, "local", "", or None.
    """

    said = False

    def __init__(self, tpu: Any = None, zone: Any = None, project: Any = None,
                 job_name: str = "worker", *args: Any, **kwargs: Any):
        super().__init__()
        if not isinstance(tpu, str | bytes | None):
            raise ValueError(f"tpu must be an address, a name or None, not {tpu!r}")
        self._tpu = tpu.decode() if isinstance(tpu, bytes) else tpu
        self.task_type, self.task_id = job_name, 0
        if not TPUClusterResolver.said:
            TPUClusterResolver.said = True
            chips = settings()
            address = f"TPU {self._tpu}" if self._tpu else "the TPU"
            print(f"celosia: {chips.devices} simulated chip{'s' * (chips.devices > 1)} "
                  f"({chips.config.name}, {chips.backend}) stand{'s' * (chips.devices == 1)} for "
                  f"{address}")

    @staticmethod
    def connect(tpu: Any = None, zone: Any = None, project: Any = None) -> TPUClusterResolver:
        """Return a resolver for an initialised system."""
        resolver = TPUClusterResolver(tpu, zone, project)
        initialize_tpu_system(resolver)
        return resolver

    #: What a system of several machines would say of them.
    tpu_hardware_feature = None

    def set_tpu_topology(self, serialized_tpu_topology: Any) -> None:
        """Take no notice: the chips are those of the environment."""

    def get_coordination_service_leader(self) -> str:
        """Return the one task."""
        return f"/job:{self.task_type}/replica:0/task:{self.task_id}"

    @property
    def environment(self) -> str:
        """Where it runs."""
        return ""

    def master(self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None) -> str:
        """Return the address, as it was given."""
        return self._tpu if self._tpu and "://" in str(self._tpu) else ""

    def get_master(self) -> str:
        """Return the address."""
        return self.master()

    def get_job_name(self) -> str:
        """Return the name of the job of the chips."""
        return self.task_type

    def get_tpu_system_metadata(self) -> Any:
        """Return what the system consists of."""
        from tensorflow.python.tpu.tpu_system_metadata import TPUSystemMetadata
        count = settings().devices
        return TPUSystemMetadata(num_cores=count, num_hosts=1, num_of_cores_per_host=count,
                                 topology=None,
                                 devices=tf.config.list_logical_devices("TPU"))

    def cluster_spec(self) -> Any:
        """Return the cluster: this process alone."""
        return tf.train.ClusterSpec({})

    def num_accelerators(self, task_type: Any = None, task_id: Any = None,
                         config_proto: Any = None) -> dict[str, int]:
        """Return how many cores there are."""
        return {"TPU": settings().devices}


def connect_to_cluster(*args: Any, **kwargs: Any) -> None:
    """As of `tf.config.experimental_connect_to_cluster`: the chips are in this process."""


def initialize_tpu_system(cluster_resolver: Any = None) -> None:
    """As of `tf.tpu.experimental.initialize_tpu_system`: the chips need no preparation."""


def no_operation(*args: Any, **kwargs: Any) -> Any:
    """As of `tf.compat.v1.tpu.initialize_system`: an operation for a session."""
    return tf.constant("celosia")
