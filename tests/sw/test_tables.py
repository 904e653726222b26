import json

from sw.tables import FILE, tables


def test_tables_are_as_they_were():
    """A number that is agreed upon, or of a data sheet, changes only where that is meant."""
    kept, now = json.loads(FILE.read_text()), json.loads(json.dumps(tables()))
    assert now.keys() == kept.keys()
    differing = [name for name in now if now[name] != kept[name]]
    assert not differing, "run python tests/sw/tables.py"
