"""Errors of functions as compiled programs have them, against long double or float64."""

from pages.accuracy.cases import CASES, GRAPH, JAX, Case
from pages.accuracy.measure import Found, Point, compiled, errors, jax_errors, measure

__all__ = ["CASES", "GRAPH", "JAX", "Case", "Found", "Point", "compiled", "errors",
           "jax_errors", "measure"]
