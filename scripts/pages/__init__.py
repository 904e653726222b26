"""Makers of the pages of docs/ that derive from the sources, each named as its page."""
