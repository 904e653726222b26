"""docs/tensorflow.md has TensorFlow's names for TPUs as the sources have them."""

from pages import tensorflow


def test_every_name_is_in_the_table_and_every_refusal_has_a_sentence():
    module = tensorflow.names()
    table = module.table()
    for path, entry in module.NAMES.items():
        parent, _, name = path.rpartition(".")
        [row] = [line for line in table.splitlines()
                 if line.startswith(f"| `{parent}` |") and f"`{name}`" in line]
        assert f"| {entry.state.value} | {entry.sentence} |" in row
        assert entry.sentence or entry.state is module.NameState.WORKS, path
        assert not entry.sentence.endswith("."), path


def test_the_page_is_fresh():
    assert tensorflow.main(["--check"]) == 0
