"""Matrix products and networks of dense layers as programs for a chip."""

from celosia.ops.gemm import matmul
from celosia.ops.network import Dense, dense_network, scale_words
from celosia.ops.quantise import FloatLayer, QuantisedNetwork, quantise_network
from celosia.ops.reference import reference_matmul, reference_network
from celosia.ops.run import run_matmul

__all__ = ["Dense", "FloatLayer", "QuantisedNetwork", "dense_network", "matmul",
           "quantise_network", "reference_matmul", "reference_network", "run_matmul",
           "scale_words"]
