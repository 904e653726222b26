"""Single mutations of the sources, and whether the tests see them: what ``scripts/mutate`` runs."""
