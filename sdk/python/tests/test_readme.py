"""The examples of the READMEs, as they are printed there."""

import doctest
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def test_every_example_of_the_readme_holds():
    readme = HERE.parent / "README.md"
    result = doctest.testfile(str(readme), module_relative=False)
    assert result.attempted > 15
    assert result.failed == 0


def test_the_first_lines_that_people_read():
    readme = (HERE.parents[2] / "README.md").read_text(encoding="utf-8")
    program, = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    said = subprocess.run([sys.executable, "-c", program], check=True,
                          capture_output=True, text=True).stdout
    assert said == "15\n\n"
