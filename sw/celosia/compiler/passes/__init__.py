"""Passes from graph to graph, in the order in which the pipeline runs them."""
