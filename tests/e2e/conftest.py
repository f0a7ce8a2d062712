"""Fixtures of the tests of the server."""
from rpc import client, server, start  # noqa: F401
