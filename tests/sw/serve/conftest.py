"""The models of serving.py, made once."""

import pytest

import serving
from celosia.serve import make_model


@pytest.fixture(scope="session")
def product():
    return serving.product_program()


@pytest.fixture(scope="session")
def model(product):
    return make_model(product, {"w": serving.WEIGHTS})


@pytest.fixture(scope="session")
def faulty():
    return serving.faulty_model()
