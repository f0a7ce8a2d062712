"""Every test leaves nothing behind."""
import jail
import pytest


def pytest_generate_tests(metafunc):
    for name, of in (("backend", jail.BACKENDS), ("cgroups", jail.BACKENDS[:-1])):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, of)


@pytest.fixture(autouse=True)
def only_with_its_backend(request):
    params = getattr(getattr(request.node, "callspec", None), "params", {})
    backend = params.get("backend") or params.get("cgroups")
    if backend and backend not in jail.AVAILABLE:
        pytest.skip(f"this host has no back end {backend}")


@pytest.fixture(autouse=True)
def nothing_left_behind():
    yield
    assert jail.groups() == []


@pytest.fixture(autouse=True, scope="session")
def no_parent_left_behind():
    yield
    jail.limit("--", "true")  # sweeps
    jail.remove_groups()
