import re
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_every_pinned_package_has_a_licence():
    """scripts/licences writes the page."""
    pinned = [line.partition("==")[0] for line in
              (ROOT / "scripts" / "constraints.txt").read_text().splitlines() if "==" in line]
    rows = dict(re.findall(r"^\| (\S+) \| (.*?) \|", (ROOT / "docs" / "licences.md").read_text(),
                           re.MULTILINE))
    plain = {re.sub(r"[-_.]+", "-", name).lower(): said for name, said in rows.items()}
    missing = [name for name in pinned
               if not plain.get(re.sub(r"[-_.]+", "-", name).lower(), "").strip()]
    assert not missing
