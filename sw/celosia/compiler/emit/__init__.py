"""From lowered work to operations of the chip, block after block.

One file for each kind of `celosia.compiler.lowered.Work`; `body.py` is the vector work that
clusters with and without a product have in common. Each says what it is in the turns of its loops,
of which `fold.py` makes runs of blocks.
"""
