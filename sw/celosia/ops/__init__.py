"""Matrix products and dense networks as programs for a chip."""
