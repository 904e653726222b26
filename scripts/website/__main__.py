"""Makes the site: ``scripts/docs --site [--all] [FOLDER]``."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

from celosia.storage import ToolchainError
from website.contents import ROOT
from website.site import build
from website.stage import MissingPage


def main() -> int:
    """Build the site; return the exit code."""
    parser = argparse.ArgumentParser(prog="scripts/docs --site", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "site",
                        help="where it goes (default: build/site); what is there is replaced")
    parser.add_argument("--all", action="store_true",
                        help="with the profiles of programs that take minutes")
    args = parser.parse_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as work:
        try:
            problems = build(Path(work), every=args.all)
        except (MissingPage, ToolchainError) as error:
            problems = [str(error)]
        if problems:
            print("\n".join(problems), file=sys.stderr)
            return 1
        made = Path(work) / "html"
        shutil.rmtree(args.folder, ignore_errors=True)
        shutil.copytree(made, args.folder)
    pages = len(list(args.folder.rglob("*.html")))
    print(f"{args.folder}: {pages} pages in {time.monotonic() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
