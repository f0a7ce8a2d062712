"""One server for the tests that do not care, forked for each of them."""

import pytest

from wasmsand import Sandbox


@pytest.fixture(scope="session", name="root")
def make_root():
    with Sandbox() as sb:
        yield sb


@pytest.fixture(name="sb")
def make_fork(root):
    with root.fork() as sb:
        yield sb
