"""From lowered work to operations of the chip, block after block.

One file for each kind of `celosia.compiler.lowered.Work`; `body.py` is the vector work that
clusters with and without a product have in common.
"""
