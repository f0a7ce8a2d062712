"""Supervisors for the tests; each leaves nothing behind."""
import pytest
import supervisor


@pytest.fixture
def make(tmp_path):
    """Starts supervisors with settings; all are gone afterwards."""
    made = []

    def start(*options, **settings):
        one = supervisor.Supervisor(tmp_path, *options, **settings)
        made.append(one)
        return one.start()

    yield start
    for one in made:
        one.end()


@pytest.fixture
def sup(make):
    return make()


@pytest.fixture
def client(sup):
    return sup.client()


@pytest.fixture(autouse=True, scope="session")
def no_groups_left_behind():
    yield
    supervisor.remove_groups()
