"""Links to other chips: one port each, of a sender and a receiver."""
