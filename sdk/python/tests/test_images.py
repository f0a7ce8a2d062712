"""Root images with names."""

import asyncio
import os
import pathlib

import pytest
from images import add_image

from wasmsand import AsyncSandbox, RpcError, Sandbox

PLAIN = os.environ.get("WASMSAND_ROOT") or str(
    pathlib.Path(__file__).parents[3] / "build/share/wasmsand/root.tar")
WHICH = "cat /etc/other 2>/dev/null || echo plain"


@pytest.fixture(scope="module", autouse=True)
def other(tmp_path_factory):
    path = add_image(PLAIN, tmp_path_factory.mktemp("images") / "other.tar",
                     "other\n")
    os.environ["WASMSAND_IMAGES"] = f"other={path}"
    yield
    del os.environ["WASMSAND_IMAGES"]
    os.unlink(path)


def test_a_sandbox_has_an_image():
    with Sandbox(image="other") as sb:
        assert sb.commands.run(WHICH).stdout == "other\n"
        assert sb.status()["imageName"] == "other"
        with sb.new(image="default") as plain, sb.new() as same, sb.fork() as fork:
            found = [s.commands.run(WHICH).stdout for s in (plain, same, fork)]
        assert found == ["plain\n", "other\n", "other\n"]


def test_an_unknown_image_is_an_error():
    with pytest.raises(RpcError, match="known: default, other"):
        Sandbox(image="nope")
    with pytest.raises(TypeError, match="image must be a str"):
        Sandbox(image=1)


def test_with_asyncio():
    async def use():
        async with AsyncSandbox(image="other") as sb:
            async with await sb.new(image="default") as plain:
                return [(await s.commands.run(WHICH)).stdout for s in (sb, plain)]

    assert asyncio.run(use()) == ["other\n", "plain\n"]
