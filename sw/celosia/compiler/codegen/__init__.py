"""From blocks of operations to instructions: their order, loops, registers, control flow."""
