"""Fixtures of the tests of `--mode v86`: a server with the default image."""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from rpc import Client  # noqa: E402

IMAGE = os.environ.get("WASMSAND_V86_IMAGE", "")


def pytest_collection_modifyitems(items):
    """Without an image, only tests that need none run."""
    if os.path.exists(IMAGE):
        return
    skip = pytest.mark.skip(reason="no disk image; `make v86-image` builds one")
    for item in items:
        if {"server", "machine", "image"} & set(item.fixturenames):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def image():
    return IMAGE


def start(*options):
    return Client("--mode", "v86", "--disk-image", IMAGE, "--timeout-ms", "60000", *options)


def end(client):
    client.process.stdin.close()
    assert client.process.wait(60) == 0
    client.watchdog.cancel()
    for thread in client.threads:
        thread.join()


@pytest.fixture(scope="session")
def server():
    client = start()
    client.watchdog.cancel()
    yield client
    end(client)


@pytest.fixture
def machine(server):
    """The shared server, with the machine in the state of its start."""
    assert server.line("reset")["success"] is True
    return server
