"""The matrix unit: a weight-stationary systolic array and what feeds and drains it."""
