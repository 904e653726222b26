"""Arrays are cut into tiles and joined again."""

import numpy as np
import pytest

from celosia.graph.sharding import Sharding, UnevenSharding

ARRAY = np.arange(48).reshape(8, 6)
SHARDINGS = {
    "{replicated}": Sharding.replicated(2, 4),
    "{devices=[4,1]0,1,2,3}": Sharding((4, 1), (0, 1, 2, 3)),
    "{devices=[1,2,2]0,2,1,3 last_tile_dim_replicate}": Sharding((1, 2), (0, 1, 0, 1)),
    "{devices=[2,2]3,2,1,0}": Sharding((2, 2), (3, 2, 1, 0)),
    "{devices=[4,1]2,0,3,1}": Sharding((4, 1), (1, 3, 0, 2)),
}


@pytest.mark.parametrize("text", SHARDINGS)
def test_cut_and_join(text):
    sharding = SHARDINGS[text]
    assert sharding.hlo == text
    tiles = sharding.cut(ARRAY)
    assert {tile.shape for tile in tiles} == {sharding.tile(ARRAY.shape)}
    np.testing.assert_array_equal(sharding.join(tiles), ARRAY)
    assert sharding.whole(tiles[0].shape) == ARRAY.shape


@pytest.mark.parametrize("text", SHARDINGS)
def test_text_is_what_xla_takes_it_for(text):
    from jax._src.lib import xla_client
    from jax._src.op_shardings import op_sharding_to_indices
    read = xla_client.HloSharding.from_string(text)
    found = op_sharding_to_indices(read, ARRAY.shape, 4)
    for device, index in enumerate(found):
        np.testing.assert_array_equal(ARRAY[index], SHARDINGS[text].cut(ARRAY)[device])


@pytest.mark.parametrize("text", SHARDINGS)
def test_groups_gather(text):
    sharding = SHARDINGS[text]
    tiles = sharding.cut(ARRAY)
    for dim in (0, 1):
        tiles = [np.concatenate([tiles[each] for each in group], dim)
                 for device in range(4) for group in sharding.groups(dim) if device in group]
    for tile in tiles:
        np.testing.assert_array_equal(tile, ARRAY)


def test_scalars_are_replicated():
    sharding = Sharding.replicated(0, 4)
    assert sharding.is_replicated
    assert sharding.place(3) == ()
    np.testing.assert_array_equal(sharding.join(sharding.cut(np.float32(3))), np.float32(3))


def test_uneven():
    with pytest.raises(UnevenSharding) as caught:
        SHARDINGS["{devices=[4,1]0,1,2,3}"].tile((6, 2))
    assert str(caught.value) == "extent 0 of [6, 2] must be a multiple of 4, not 6"
    with pytest.raises(UnevenSharding, match="sharding must be of rank 1, not 2"):
        SHARDINGS["{replicated}"].cut(np.zeros(3))
