"""The load and the store engine."""
