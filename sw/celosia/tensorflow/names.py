"""TensorFlow's names for TPUs as data: which work, which otherwise, and which are refused.

`celosia.tensorflow.installation` takes from here what is refused, and docs/tensorflow.md has it
as a table. A test walks TensorFlow's modules, so that none of their public names is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["NAMES", "NameEntry", "NameState", "table"]


class NameState(Enum):
    """What becomes of a name."""

    WORKS = "works"
    OTHERWISE = "works otherwise"
    REFUSED = "refused"


@dataclass(frozen=True)
class NameEntry:
    """A name of TensorFlow.

    Attributes
    ----------
    state
        What becomes of it.
    sentence
        What is otherwise, or why it is refused and what there is instead; "" if nothing.
    """

    state: NameState
    sentence: str = ""


def _names(parent: str, names: str, state: NameState, sentence: str = "") -> dict[str, NameEntry]:
    return {f"{parent}.{name}": NameEntry(state, sentence) for name in names.split()}


_RUN = "what tf.distribute.TPUStrategy.run is given becomes one program of all replicas"
_TABLES = ("rows of embeddings on other chips need a TPU's SparseCore; tf.keras.layers.Embedding "
           "and tf.nn.embedding_lookup run on the chip")
_MESH = "a mesh of DTensor needs a TPU's runtime; tf.distribute.TPUStrategy has the replicas"
_GONE = "TensorFlow has removed it"
_LAYOUT = "says nothing of simulated chips: they have no torus, and a replica has one of them"
_DATA = "describes tables to TPUEmbedding, which is refused"
_THEIRS = "TensorFlow's own, on the host"
_NO_NEED = "there is nothing to prepare"
_EMPTY = "the chips are in this process: any address stands for them"

_EMBEDDING = {
    **_names("embedding", "Adagrad AdagradMomentum Adam CustomCombiner CustomOptimizer FTRL "
             "FeatureConfig QuantizationConfig RowIdInitializer SGD SparseCoreEmbeddingConfig "
             "TableConfig", NameState.OTHERWISE, _DATA),
    **_names("embedding", "TPUEmbedding TPUEmbeddingV0 TPUEmbeddingV2", NameState.REFUSED, _TABLES),
    **_names("embedding", "TPUEmbeddingForServing serving_embedding_lookup", NameState.OTHERWISE,
             _THEIRS),
}
_EXPERIMENTAL = {
    **_names("experimental", "DeviceAssignment DeviceOrderMode HardwareFeature Topology",
             NameState.OTHERWISE, _LAYOUT),
    **_names("experimental", "TPUSystemMetadata", NameState.WORKS),
    **_names("experimental", "initialize_tpu_system shutdown_tpu_system", NameState.OTHERWISE,
             _NO_NEED),
    **{f"experimental.{name}": entry for name, entry in _EMBEDDING.items()},
}
_STRATEGY = "one replica for each chip of CELOSIA_DEVICES; a device assignment is ignored"
_MODULES = ("batch_parallel", "replicate", "rewrite", "shard")
_ESTIMATOR = ("checkpoints, train, evaluate and predict; hooks, scaffolds, summaries and export "
              "are refused or left out, for there is no session")

#: By their whole names.
NAMES: dict[str, NameEntry] = {
    **_names("tf.distribute", "TPUStrategy experimental.TPUStrategy", NameState.WORKS, _STRATEGY),
    **_names("tf.distribute", "cluster_resolver.TPUClusterResolver", NameState.OTHERWISE, _EMPTY),
    **_names("tf.distribute.TPUStrategy", "run reduce gather scope num_replicas_in_sync extended "
             "cluster_resolver distribute_datasets_from_function experimental_distribute_dataset "
             "experimental_distribute_datasets_from_function "
             "experimental_distribute_values_from_function experimental_local_results unwrap "
             "group", NameState.WORKS),
    **_names("tf.distribute.TPUStrategy", "experimental_assign_to_logical_device "
             "experimental_replicate_to_logical_devices experimental_split_to_logical_devices",
             NameState.OTHERWISE, "a replica has one chip: other devices than that are refused"),
    **_names("tf.distribute.TPUStrategy", "make_dataset_iterator make_input_fn_iterator "
             "experimental_run experimental_make_numpy_dataset steps_per_run colocate_vars_with "
             "configure update_config_proto", NameState.OTHERWISE,
             "what TensorFlow 1 had: data sets of the host, and a step at a time"),
    **_names("tf.distribute.cluster_resolver.TPUClusterResolver", "connect cluster_spec "
             "environment get_coordination_service_leader get_job_name get_master "
             "get_tpu_system_metadata master num_accelerators set_tpu_topology task_id task_type "
             "tpu_hardware_feature", NameState.OTHERWISE,
             "the address is that which was given; the cluster is this process, and has no "
             "topology"),
    **_names("tf.config", "experimental_connect_to_cluster", NameState.OTHERWISE, _EMPTY),
    **_names("tf.tpu", "XLAOptions", NameState.OTHERWISE, "taken, and without meaning"),
    **{f"tf.tpu.{name}": entry for name, entry in _EXPERIMENTAL.items()},
    **_names("tf.tpu", "experimental_initialize_tpu_system", NameState.OTHERWISE, _NO_NEED),
    **_names("tf.compat.v1.distribute", "experimental.TPUStrategy", NameState.WORKS, _STRATEGY),
    **_names("tf.compat.v1.distribute", "cluster_resolver.TPUClusterResolver", NameState.OTHERWISE,
             _EMPTY),
    **_names("tf.compat.v1.tpu", "CrossShardOptimizer cross_replica_sum", NameState.WORKS,
             "over all replicas, no groups of them"),
    **_names("tf.compat.v1.tpu", "bfloat16_scope", NameState.WORKS),
    **_names("tf.compat.v1.tpu", "PaddingSpec XLAOptions", NameState.OTHERWISE,
             "taken, and without meaning"),
    **_names("tf.compat.v1.tpu", " ".join(_MODULES), NameState.REFUSED, _RUN),
    **_names("tf.compat.v1.tpu", "outside_compilation", NameState.REFUSED,
             "a program of the chip has no part that the host runs; " + _RUN),
    **_names("tf.compat.v1.tpu", "core", NameState.REFUSED, "a replica has one chip; " + _RUN),
    **_names("tf.compat.v1.tpu", "initialize_system shutdown_system", NameState.OTHERWISE,
             f"an operation that does nothing: {_NO_NEED}"),
    **{f"tf.compat.v1.tpu.{name}": entry for name, entry in _EXPERIMENTAL.items()},
    **_names("tf.compat.v1.tpu.experimental", "embedding_column shared_embedding_columns",
             NameState.REFUSED, _TABLES),
    **_names("tf.experimental.dtensor",
             "create_tpu_mesh initialize_tpu_system shutdown_tpu_system", NameState.REFUSED, _MESH),
    **_names("tf.contrib.cluster_resolver", "TPUClusterResolver", NameState.OTHERWISE, _EMPTY),
    **_names("tf.contrib.distribute", "TPUStrategy", NameState.WORKS, _STRATEGY),
    **_names("tf.contrib.tpu", "TPUDistributionStrategy", NameState.WORKS, _STRATEGY),
    **_names("tf.contrib.tpu", "keras_to_tpu_model", NameState.WORKS,
             "optimizers of tf.train become those of Keras; its fit_generator is there"),
    **_names("tf.contrib.tpu", "TPUEstimator TPUEstimatorSpec", NameState.OTHERWISE, _ESTIMATOR),
    **_names("tf.contrib.tpu", "RunConfig TPUConfig InputPipelineConfig", NameState.OTHERWISE,
             "addresses and sessions are ignored; there are as many shards as chips; input "
             "functions are called once, for all replicas"),
    **_names("tf.contrib.tpu", "CrossShardOptimizer cross_replica_sum", NameState.WORKS,
             "over all replicas, no groups of them"),
    **_names("tf.contrib.tpu", "bfloat16_scope", NameState.WORKS),
    **_names("tf.contrib.tpu", "initialize_system shutdown_system", NameState.OTHERWISE,
             f"an operation that does nothing: {_NO_NEED}"),
    **_names("tf.contrib.tpu", " ".join((*_MODULES, "repeat while_loop")), NameState.REFUSED,
             f"{_GONE}; {_RUN}"),
    **_names("tf.contrib.tpu", "outside_compilation core", NameState.REFUSED, f"{_GONE}; {_RUN}"),
    **_names("tf.contrib.tpu", "AsyncCheckpointSaverHook", NameState.REFUSED,
             f"{_GONE}; RunConfig.save_checkpoints_steps says how often TPUEstimator saves"),
    **_names("tf.contrib.tpu", "export_estimator_savedmodel", NameState.REFUSED,
             f"{_GONE}; checkpoints in model_dir have the variables by their names"),
    **_names("tf.estimator", "ModeKeys", NameState.WORKS),
    **_names("tf.estimator.tpu", "TPUEstimator TPUEstimatorSpec", NameState.OTHERWISE, _ESTIMATOR),
    **_names("tf.estimator.tpu", "RunConfig TPUConfig InputPipelineConfig", NameState.OTHERWISE,
             "as of tf.contrib.tpu"),
    **_names("tf.estimator", "Estimator EstimatorSpec RunConfig DNNClassifier LinearClassifier "
             "train_and_evaluate TrainSpec EvalSpec inputs export", NameState.REFUSED,
             f"{_GONE}; there are tf.estimator.tpu.TPUEstimator, and fit of Keras"),
    **_names("tf", "layers", NameState.REFUSED,
             "Keras 3 has none of it; layers of tf.keras.layers work within a model_fn, as does "
             "tf.compat.v1.get_variable"),
}


def table() -> str:
    """Return the names as a table of Markdown, those with one sentence in one row."""
    rows: dict[tuple[str, NameState, str], list[str]] = {}
    for path, entry in NAMES.items():
        parent, _, name = path.rpartition(".")
        rows.setdefault((parent, entry.state, entry.sentence), []).append(name)
    lines = ["| in | names | | |", "|---|---|---|---|"]
    lines += [f"| `{parent}` | {', '.join(f'`{name}`' for name in names)} | {state.value} "
              f"| {sentence} |" for (parent, state, sentence), names in rows.items()]
    return "\n".join(lines) + "\n"
