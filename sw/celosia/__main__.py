"""``python -m celosia``: the same as the command ``celosia``."""

import sys

from celosia.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
