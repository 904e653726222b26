"""Instruction selection: the elementwise operations of a cluster as few vector instructions.

`select` makes the `celosia.compiler.lowered.Code` of a cluster: `translate.py` makes terms of the
nodes (`pool.py`), tables of rules make them shorter (`always.py`, `rules.py`; those that must
search are in `products.py` and `sums.py`, `matching.py` matches patterns), `cover.py` puts terms
together to instructions.

By default functions keep the bounds of docs/numerics.md (`bounded.py`: some have a shorter form
where it is known to keep them), constants are multiplied out, and sums take products in. Without
`SelectionOptions.merge` each operation is what docs/isa.md and docs/numerics.md say, bit for bit.
With `SelectionOptions.fast`:

=============  =====  ==========================================================================
operation      steps  error
=============  =====  ==========================================================================
divide         2      2 ULP; 0 where the divisor is beyond 2**126. By what has less elements: 1
exp            1      that of x off by 1.5 ULP, and 2 ULP: 2**-24 * (2 + 1.5 abs(x)) of the result
expm1, log1p   2      2**-21 of 1 and of the result
log            2      2 ULP
tanh           3      2**-21 absolute
erf, 1 - erf   10     2**-21 absolute (also for erfc)
1/(1+exp(-x))  2      2**-22 absolute; relative as exp
power          1..5   integers and halves up to 8 and powers of a constant; others are exact
to bf16        3      exact below 2**111; 4 steps without `fast`
=============  =====  ==========================================================================

A step costs a cycle a row where it does not go into another one. With `fast` sums and products are
of the same numbers, otherwise rounded: products are reordered (intermediate results may overflow
or underflow where others did, or did not), sums take products in (one rounding), constants and
what is the same in all rows are multiplied out, common factors of sums are taken out. So a result
is that of operands which are off by a few ULP. A difference from the largest element is made
before anything else, so rows of softmax that are masked as a whole are uniform. (x > 0 ? x : k *
x) is a maximum. Zeros may have the other sign.
"""

from celosia.compiler.selection.select import SelectionOptions, select_instructions

__all__ = ["SelectionOptions", "select_instructions"]
