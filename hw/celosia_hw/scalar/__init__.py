"""The scalar unit: fetch, decode, registers, loops, scoreboard."""
