"""Supervisors for the tests; each leaves nothing behind."""
import signal

import pytest
import supervisor


@pytest.fixture(autouse=True)
def time_limit(request):
    """A test that waits for what does not come has failed."""
    def over(*_):
        raise TimeoutError
    signal.signal(signal.SIGALRM, over)
    signal.alarm(3600 if request.node.get_closest_marker("long") else 150)
    yield
    signal.alarm(0)


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
