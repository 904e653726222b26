"""A small implementation of the chip: a sequencer with firmware, and a matrix engine."""
