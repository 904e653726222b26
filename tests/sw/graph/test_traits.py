"""What operations are, said where they are defined."""

import pytest

from celosia.graph import OPS, Trait, having
from celosia.graph.operations.elementwise import FLOAT_BINARY, FLOAT_UNARY
from celosia.graph.operations.reduce import REDUCERS
from celosia.graph.spec import define

KINDS = "LEAF, VIEW, MOVEMENT, ELEMENTWISE, PRODUCT, REDUCTION, CONTROL, COLLECTIVE, CALL, SPMD"
UNARY, BINARY = Trait.ELEMENTWISE | Trait.INVOLUTION, Trait.ELEMENTWISE | Trait.COMMUTATIVE


@pytest.mark.parametrize(("operands", "regions", "traits", "problem"), [
    ("x", "", Trait(0), f"traits must have one of {KINDS}, not none"),
    ("x", "", Trait.FLOAT, f"traits must have one of {KINDS}, not FLOAT"),
    ("x", "", Trait.VIEW | Trait.MOVEMENT, f"traits must have one of {KINDS}, not VIEW, MOVEMENT"),
    ("x", "", Trait.VIEW | Trait.FLOAT, "FLOAT must go with ELEMENTWISE, not with VIEW"),
    ("x", "", Trait.PRODUCT | Trait.BIJECTIVE, "BIJECTIVE must go with VIEW, not with PRODUCT"),
    ("x", "", Trait.VIEW | Trait.STORED, "STORED must go with LEAF, not with VIEW"),
    ("x", "", Trait.LEAF, "operands must be none of a LEAF alone, not 1 of a LEAF"),
    ("", "", Trait.VIEW, "operands must be none of a LEAF alone, not 0 of a VIEW"),
    ("x", "", Trait.CONTROL, "regions must be of a CONTROL alone, not 0 of a CONTROL"),
    ("x", "body", Trait.VIEW, "regions must be of a CONTROL alone, not 1 of a VIEW"),
    ("x", "", BINARY, "operands of a COMMUTATIVE must be 2, not 1"),
    ("a b", "", UNARY, "operands of a INVOLUTION must be 1, not 2")])
def test_traits_that_cannot_be_are_refused(operands, regions, traits, problem):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        define("new", operands, regions, traits=traits)
    assert str(caught.value) == f"operation new: {problem}"


def test_a_name_is_given_once():
    with pytest.raises(ValueError, match="operation exp: name must be new"):
        define("exp", "x", traits=Trait.ELEMENTWISE)
    assert "new" not in OPS


def test_operations_are_found_by_their_traits():
    assert having(Trait.LEAF) == {"parameter", "constant", "iota"}
    assert having(Trait.VIEW | Trait.DYNAMIC) == {"dynamic_slice"}
    assert {*FLOAT_UNARY, *FLOAT_BINARY} <= having(Trait.ELEMENTWISE | Trait.FLOAT)
    assert not having(Trait.FLOAT) & {"add", "abs", "convert"}
    assert having(Trait.CONTROL) | {"manual"} == {
        name for name, spec in OPS.items() if spec.regions}
    assert having(Trait.SPMD) == {"shard", "manual"}
    assert {*REDUCERS} == having(Trait.COMMUTATIVE)
