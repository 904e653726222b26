"""The chip, in Amaranth. Folders are the block diagram of docs/chip.md."""
