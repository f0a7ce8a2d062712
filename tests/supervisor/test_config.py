"""serve --check-config: the effective configuration, or all that is wrong."""
import json
import os
import re
import subprocess

import pytest
from jail import ROOT, SUPERVISOR


def check(*options, **env):
    done = subprocess.run(
        [SUPERVISOR, "serve", *map(str, options), "--check-config"],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], **env},
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def config(tmp_path):
    def write(text):
        path = tmp_path / "config.json"
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        return path

    return write


def test_the_effective_configuration_is_printed(config):
    path = config({"http": {"port": 1, "connections": 2}, "pool_size": 3})
    status, out, err = check(
        "--config", path, "--http-port=5", WASMSAND_HTTP_CONNECTIONS="4"
    )
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["http"]["port"] == 5
    assert found["http"]["connections"] == 4
    assert found["poolSize"] == 3
    assert found["resources"] == {
        "memoryMb": 512, "cpuPercent": 100, "diskMb": 1024, "maxProcesses": 64,
    }


def test_what_is_printed_is_a_configuration(config):
    _, first, _ = check("--memory-mb", 77)
    status, second, err = check("--config", config(first))
    assert (status, err) == (0, "") and first == second


def test_all_errors_are_told_at_once(config):
    path = config({"pool_size": "many", "typo": 1, "http": {"port": 70000}})
    status, out, err = check("--config", path, "--bad", WASMSAND_MAX_ACTIVE="0")
    assert (status, out) == (2, "")
    assert err.splitlines() == [
        f"wasm-sandbox: {path}: pool_size: must be an integer from 0 to 64, not 'many'",
        f"wasm-sandbox: {path}: typo: unknown key",
        f"wasm-sandbox: {path}: http.port: must be an integer from 0 to 65535, not 70000",
        "wasm-sandbox: WASMSAND_MAX_ACTIVE: maxActive: must be an integer from 1 to "
        "10000, not '0'",
        "wasm-sandbox: --bad: not an option; see wasm-sandbox serve --help",
    ]


def test_images_have_names_and_paths(config):
    images = {"science": "/opt/science.tar", "a.b-c_1": "/x"}
    _, out, _ = check("--config", config({"images": images}))
    assert json.loads(out)["images"] == images
    _, out, _ = check(WASMSAND_IMAGES="one=/1,two=/2")
    assert json.loads(out)["images"] == {"one": "/1", "two": "/2"}
    assert json.loads(check("--images", "")[1])["images"] == {}


@pytest.mark.parametrize("images", [
    {"a/b": "/x"}, {"..": "/x"}, {"": "/x"}, {"default": "/x"}, {"a": "x"}, {"a": ""}, {"a": 1},
    {"a": "/x,b=/y"}, {"a=/x,b": "/y"}, ["/x"], "a"])
def test_wrong_images_are_refused(config, images):
    status, out, err = check("--config", config({"images": images}))
    assert (status, out) == (2, "")
    assert ": images: must be absolute paths without commas by name" in err


def test_errors_cannot_control_a_terminal(config):
    _, _, err = check("--config", config({"\x1b[2J": "\x07"}))
    assert "\x1b" not in err and "?[2J: unknown key" in err


def test_a_long_or_deep_file_is_refused(config):
    assert "longer than 1 MiB" in check("--config", config(" " * (1 << 20) + "{}"))[2]
    deep = '{"a":' + "[" * 100000
    assert "too many levels" in check("--config", config(deep))[2]


def test_every_key_is_documented_and_has_its_default():
    page = (ROOT / "docs/config.md").read_text()
    rows = re.findall(r"^\| `([\w.]+)` \| ([^|]*) \| `?([^|`]*)`? \|", page, re.M)
    printed = json.loads(check(XDG_RUNTIME_DIR="/x", HOME="/h")[1])
    filled_in = {"socket", "store.dir"}
    for key, _, default in rows:
        value = printed
        for part in key.split("."):
            value = value[part]
        if key not in filled_in and default != "none":
            text = value if isinstance(value, str) else json.dumps(value)
            assert text == default, key
    n_keys = sum(len(v) if v and isinstance(v, dict) else 1 for v in printed.values())
    assert len(rows) == n_keys


def test_help_lists_every_option():
    done = subprocess.run([SUPERVISOR, "serve", "--help"], capture_output=True, text=True)
    page = (ROOT / "docs/config.md").read_text()
    assert done.returncode == 0
    for option in re.findall(r"`(--[a-z-]+)` `WASMSAND", page):
        assert f"  {option} " in done.stdout, option


def check_tokens(path):
    return check("--http-enabled", "--http-tokens-file", path)


def test_the_file_of_tokens_is_checked(tmp_path):
    """As serve does, which refuses to start with these."""
    path = tmp_path / "tokens"
    assert check_tokens(path)[::2] == (2, f"wasm-sandbox: {path}: No such file or directory\n")
    path.write_text("a-token-of-enough-characters\nshort\n")
    path.chmod(0o644)
    assert check_tokens(path)[::2] == (
        2, f"wasm-sandbox: {path}: has mode 0644: others must have no rights to it\n")
    path.chmod(0o600)
    status, out, err = check_tokens(path)
    assert (status, out) == (2, "") and f"{path}: line 2: a token must have" in err
    path.write_text("a-token-of-enough-characters\n")
    status, out, err = check_tokens(path)
    assert (status, err) == (0, "") and json.loads(out)["http"]["tokensFile"] == str(path)
    assert "enough-characters" not in out


def test_the_owner_of_the_file_of_tokens_is_checked(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    path = tmp_path / "tokens"
    path.write_text("a-token-of-enough-characters\n")
    path.chmod(0o600)
    os.chown(path, 65534, 65534)
    assert check_tokens(path)[::2] == (2, f"wasm-sandbox: {path}: belongs to somebody else\n")
