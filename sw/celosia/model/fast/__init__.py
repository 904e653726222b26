"""The same bits sooner: commands are prepared once, and matmuls computed many at a time."""
