import pytest
from sdram_user import PART, User


@pytest.fixture
def user():
    """Make users whose parts are freed when the test ends."""
    users = []

    def make(part=PART, **options) -> User:
        users.append(User(part, **options))
        return users[-1]

    yield make
    for each in users:
        each.model.close()


@pytest.fixture
def ready(user):
    """A part after its initialisation, bursts of one word."""
    made = user()
    made.begin()
    assert made.rules == []
    return made
