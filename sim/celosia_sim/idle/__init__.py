"""Idle rooms of the chip are not evaluated: a pass over the C++ that Verilator wrote.

Verilator evaluates every register and every gate in every cycle. Here its statements are sorted by
the part of the chip that they belong to (`rooms`), and a part in which nothing moves and into which
nothing new comes is left out until something does (`sleep.sleep`). What comes out is the same chip,
bit by bit and cycle by cycle: a statement that is left out would have written what is there.
"""
