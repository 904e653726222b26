"""From lowered work to operations of the chip, block after block.

One file for each kind of `celosia.compiler.lowered.Work`; `body.py` is the vector work that
clusters with and without a product have in common. Each says how its loops nest and what it is in
their turns, of which `fold.py` makes runs of blocks.
"""
