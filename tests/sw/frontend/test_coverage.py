"""Every operation that training programs use is imported."""

import celosia.frontend  # noqa: F401 - fills the table
from celosia.frontend.stablehlo.translation import TRANSLATORS

#: Found in training programs of JAX, Keras, Flax and torchax; docs/graph.md says which they are.
STABLEHLO = """
dot_general convolution add subtract multiply divide negate abs maximum minimum clamp select
compare is_finite convert bitcast_convert and or xor shift_left shift_right_logical remainder
reduce_precision exponential log log_plus_one exponential_minus_one tanh sqrt rsqrt power sine
cosine reduce reduce_window select_and_scatter broadcast_in_dim reshape transpose slice concatenate
pad reverse iota constant gather scatter dynamic_slice dynamic_update_slice sort while case
optimization_barrier rng_bit_generator all_reduce all_gather partition_id composite
""".split()
OTHERS = """
chlo.square chlo.erfc chlo.erf_inv chlo.top_k func.call sdy.manual_computation
sdy.sharding_constraint
""".split()
#: What other programs have, too.
MORE = ["chlo.cosh", "mhlo.copy", "mhlo.erf", "stablehlo.cholesky", "stablehlo.triangular_solve"]


def test_operations_of_training_programs_have_translators():
    names = {*(f"stablehlo.{name}" for name in STABLEHLO), *OTHERS}
    # With sdy.mesh, which is no operation of a function, and without composite: 65.
    assert len(names) == 65
    assert not {*names, *MORE} - set(TRANSLATORS)
