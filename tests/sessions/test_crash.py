"""Kills at random instants; crash.py is the workload."""
import pytest
from crash import World


@pytest.mark.parametrize("settings", [
    {}, {"store.durability": "interval", "victims": ("worker",)}])
def test_a_few_kills(tmp_path, settings):
    world = World(tmp_path, "few", **settings)
    try:
        world.run(12)
    finally:
        world.close()


@pytest.mark.long
def test_a_thousand_kills(tmp_path):
    world = World(tmp_path, "many")
    try:
        world.run(1000)
    finally:
        world.close()
