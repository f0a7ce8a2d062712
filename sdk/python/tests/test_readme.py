"""The examples of the README, as they are printed there."""

import doctest
import pathlib


def test_every_example_of_the_readme_holds():
    readme = pathlib.Path(__file__).parent.parent / "README.md"
    result = doctest.testfile(str(readme), module_relative=False)
    assert result.attempted > 15
    assert result.failed == 0
