"""What does not move in a chip is not evaluated: a pass over the C++ that Verilator wrote.

Verilator evaluates every register and every gate in every cycle. Here its statements are sorted by
the part of the chip that they belong to (`rooms`), cut into runs, and a run of whose variables none
has changed is left out (`sleep.sleep`). What comes out is the same chip, bit by bit and cycle by
cycle: a statement that is left out would have written what is there.
"""
