"""Integers of 64 bits as two words each: what operations of the graph do to the words."""
