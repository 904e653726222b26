"""Groups of collectives that are given by axes of a mesh, as JAX 0.12 and later write them."""

import pytest

from celosia.frontend.errors import Unsupported
from celosia.frontend.stablehlo.meshes import Mesh, Meshes


@pytest.fixture
def meshes():
    made = Meshes([])
    made.named["mesh_0"] = Mesh({"a": 2, "b": 3}, (0, 1, 2, 3, 4, 5))
    return made


def attribute(*axes, mesh="mesh_0"):
    names = ", ".join(f'#stablehlo.axis_ref<name = "{axis}">' for axis in axes)
    return f"#stablehlo.replica_group_mesh_axes<mesh = @{mesh}, axes = [{names}]>"


@pytest.mark.parametrize(("axes", "groups"), [
    (("a",), ((0, 3), (1, 4), (2, 5))),
    (("b",), ((0, 1, 2), (3, 4, 5))),
    (("a", "b"), ((0, 1, 2, 3, 4, 5),)),
    (("b", "a"), ((0, 3, 1, 4, 2, 5),)),
])
def test_devices_differ_along_the_axes(meshes, axes, groups):
    assert meshes.groups(attribute(*axes)) == groups


@pytest.mark.parametrize("text", [
    attribute("a", mesh="other"),
    attribute("a").replace('name = "a"', 'name = "a", sub_axis_info = (1)2'),
    "dense<[[0, 1]]> : tensor<1x2xi64>",
])
def test_what_is_no_whole_axis(meshes, text):
    with pytest.raises(Unsupported, match="^replica_groups must be numbers, or whole axes of a "
                                          "mesh, not "):
        meshes.groups(text)
