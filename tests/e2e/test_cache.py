"""tools/cache: a result is there as a whole, made of what it is named after."""

import os
import pathlib
import subprocess

import pytest

CACHE = pathlib.Path(__file__).parents[2] / "tools" / "cache"


@pytest.fixture(name="get")
def make_get(tmp_path):
    """Makes a result of the folder `in` with a shell command."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "file").write_text("1\n")

    def get(command):
        return subprocess.run(
            [CACHE, "get", "thing", "in", "--", "sh", "-c", command, "sh"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")})
    return get


def test_a_result_is_made_once(get):
    first = get('cp in/file "$1"')
    assert first.returncode == 0
    assert (pathlib.Path(first.stdout.strip()) / "file").read_text() == "1\n"
    assert get("exit 1").stdout == first.stdout


@pytest.mark.parametrize("command", [
    'echo half >"$1/file"; exit 1', 'echo half >"$1/file"; kill -9 $$ $PPID'])
def test_a_result_that_is_not_whole_is_none(get, command):
    assert get(command).returncode != 0
    again = get('[ ! -e "$1/file" ]')
    assert again.returncode == 0
    assert list(pathlib.Path(again.stdout.strip()).iterdir()) == []


def test_a_result_of_inputs_that_change_is_none(get):
    changed = get('cp in/file "$1"; echo 2 >in/file')
    assert changed.returncode == 2 and "changed" in changed.stderr
    again = get('echo 1 >in/file; exit 1')
    assert again.returncode == 1
    again = get('cp in/file "$1"')
    assert again.returncode == 0 and again.stdout
    assert (pathlib.Path(again.stdout.strip()) / "file").read_text() == "1\n"
