"""The host link: a serial wire to registers, external memory and interrupt of a chip."""
