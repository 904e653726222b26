"""Makes the documentation site: its pages, and the chip that is live in it."""
