"""What is around a chip on a board: memory, link to the host, lights."""
