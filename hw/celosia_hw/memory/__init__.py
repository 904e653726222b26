"""On-chip memories and the streams of rows that read and write them."""
