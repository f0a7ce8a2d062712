"""Kills at random instants; crash.py is the workload."""
import pytest
from crash import World


@pytest.mark.parametrize("durability", ["full", "interval"])
def test_a_few_kills(tmp_path, durability):
    world = World(tmp_path, "few", **{"store.durability": durability})
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
