"""JAX, if it is there, on the CPU."""

try:
    import jax
    jax.config.update("jax_platforms", "cpu")
except ImportError:
    pass
