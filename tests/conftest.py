"""What all tests need."""

import signal

# A shell's background jobs begin with the signal ignored, and so would every process that a test
# starts and interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
