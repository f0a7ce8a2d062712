"""curl, git, Python and pip of the root image with https servers."""
import io
import subprocess
import tarfile
import zipfile

import https
import pytest

from dns import NameServer
from test_broker import ORIGIN
from test_guest import image, shell  # noqa: F401

ALLOWED = [f"{host}+private" for host in https.HOSTS]
TRUST = """sudo tee -a /etc/ssl/certs/ca-certificates.crt >/dev/null <<'END'
{}END
"""


@pytest.fixture(scope="module", name="keys")
def make_keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    https.make_keys(folder)
    return folder


@pytest.fixture(name="server")
def start_server(keys, tmp_path):
    server = https.Server((ORIGIN, 443), keys, tmp_path)
    server.pages["/hello"] = b"hello\n"
    names = NameServer({host: [ORIGIN] for host in https.HOSTS} | {"other.example": [ORIGIN]})
    yield server
    names.close()
    server.close()


@pytest.fixture(name="trusting")
def make_trusting(keys):
    """Runs a command in a sandbox that trusts the authority of the tests."""
    trust = TRUST.format((keys / "ca.crt").read_text())
    return lambda command, *rules: shell(trust + command, *(rules or ALLOWED))


def python(text):
    return f"python3 - <<'END'\n{text}\nEND\n"


def test_the_image_has_the_authorities_of_mozilla():
    r = shell(python("""
import ssl
names = [dict(x[0] for x in c["subject"]).get("organizationName") for c in ssl.create_default_context().get_ca_certs()]
print(len(names) > 100, "Internet Security Research Group" in names)
""") + "grep -c BEGIN /etc/ssl/certs/ca-certificates.crt; openssl version -d")
    assert r.stdout.splitlines()[0] == "True True", r.stderr
    assert int(r.stdout.splitlines()[1]) > 100 and 'OPENSSLDIR: "/etc/ssl"' in r.stdout


def test_curl_gets_a_page(server, trusting):
    r = trusting("curl -sS https://web.example/hello")
    assert (r.stdout, r.stderr) == ("hello\n", "")


def test_curl_refuses_an_unknown_authority(server):
    r = shell("curl -sS https://web.example/hello; echo $?", *ALLOWED)
    assert r.stdout == "60\n" and "certificate" in r.stderr


def test_curl_refuses_another_name(server, trusting):
    r = trusting("curl -sS https://other.example/hello; echo $?", "other.example+private")
    assert r.stdout == "60\n" and "other.example" in r.stderr


@pytest.mark.parametrize("text", [
    "import urllib.request; print(urllib.request.urlopen('https://web.example/hello').read())",
    """
import socket, ssl
s = ssl.create_default_context().wrap_socket(socket.create_connection(("web.example", 443)), server_hostname="web.example")
s.sendall(b"GET /hello HTTP/1.0\\r\\n\\r\\n")
print(s.makefile("rb").read().partition(b"\\r\\n\\r\\n")[2])""",
    """
import asyncio
async def main():
    reader, writer = await asyncio.open_connection("web.example", 443, ssl=True)
    writer.write(b"GET /hello HTTP/1.1\\r\\nHost: web.example\\r\\nConnection: close\\r\\n\\r\\n")
    print((await reader.read()).partition(b"\\r\\n\\r\\n")[2])
    writer.close()
    await writer.wait_closed()
asyncio.run(main())""",
    """
import ssl, urllib.request, urllib.error
try:
    urllib.request.urlopen("https://web.example/hello", context=ssl.create_default_context(cafile="/dev/null"))
except (urllib.error.URLError, ssl.SSLError):
    print(b"hello\\n")""",
], ids=["urllib", "ssl", "asyncio", "no authority"])
def test_python_gets_a_page(server, trusting, text):
    r = trusting(python(text))
    assert r.stdout == "b'hello\\n'\n", r.stderr


GIT = """cd /tmp
git config --global init.defaultBranch main
git config --global advice.detachedHead false
"""


def test_git_clones_pushes_and_fetches(server, trusting):
    origin = server.add_repository("r.git")
    r = trusting(GIT + """
git clone -q https://git.example/git/r.git a 2>&1 | grep -c empty
cd a
seq 50000 >numbers && head -c 3000000 /dev/urandom >bytes
git add . && git commit -qm one && git push -q origin main && cd ..
git clone -q https://git.example/git/r.git b
cmp a/bytes b/bytes && cd b
echo two >two && git add . && git commit -qm two && git push -q
cd ../a && git fetch -q && git log --format=%s origin/main && git pull -q && cat two
git -c protocol.version=0 clone -q --depth 1 https://git.example/git/r.git ../c && git -C ../c log --format=%s
git ls-remote https://git.example/git/r.git main | cut -f 2
git tag -a v1 -m v1 && git push -q --tags && git push -q origin :refs/tags/v1 && git ls-remote --tags origin
""")
    assert (r.stdout, r.stderr) == ("1\ntwo\none\ntwo\ntwo\nrefs/heads/main\n", "")
    log = subprocess.run(["git", "-C", origin, "log", "--format=%s", "main"], capture_output=True, text=True, check=True)
    assert log.stdout == "two\none\n"


def test_git_reports_progress_of_the_server(server, trusting):
    """The messages of the server arrive in a process of their own."""
    server.add_repository("r.git")
    r = trusting(GIT + """
git clone -q https://git.example/git/r.git a 2>/dev/null
cd a && seq 9 >f && git add f && git commit -qm one && git push --progress origin HEAD 2>&1 | grep -c 'new branch'
git clone --progress https://git.example/git/r.git ../b 2>&1 | tr '\\r' '\\n' | grep -c '^remote: Counting objects: 100% (3/3), done.'
""")
    assert r.stdout == "1\n1\n", r.stderr


@pytest.mark.parametrize("host, rules, text", [
    ("other.example", ALLOWED, "Failed to connect to other.example port 443"),
    ("git.example", ["off"], "there is no network in this sandbox"),
    ("git.example", ALLOWED, "certificate"),
])
def test_git_says_why_it_cannot_clone(server, host, rules, text):
    r = shell(f"cd /tmp; git clone https://{host}/git/r.git", *rules)
    assert r.returncode == 128 and f"unable to access 'https://{host}/git/r.git/': " in r.stderr
    assert text in r.stderr, r.stderr


def wheel(name, tag="py3-none-any"):
    data = io.BytesIO()
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(f"{name}.py", f"print('{name} works')\n")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n" + (
            "Requires-Dist: leaf\n" if name == "tree" else ""))
        archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n")
        archive.writestr(f"{info}/RECORD", "")
    return {f"{name}-1.0-{tag}.whl": data.getvalue()}


def sdist(name, **files):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(f"{name}-1.0/{path}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return {f"{name}-1.0.tar.gz": data.getvalue()}


NATIVE = "cp311-cp311-manylinux2014_x86_64"
PIP = "export PIP_INDEX_URL=https://index.example/simple/\npip install -q "


def test_pip_installs_from_an_index_with_requirements(server, trusting):
    server.add_package("tree", **wheel("tree"))
    server.add_package("leaf", **wheel("leaf"))
    r = trusting(PIP + "tree && python3 -c 'import tree, leaf'")
    assert (r.stdout, r.stderr) == ("tree works\nleaf works\n", "")
    r = trusting("python3 -m venv --without-pip /tmp/v && " + PIP +
                 "--prefix /tmp/v leaf && PYTHONPATH= /tmp/v/bin/python -c 'import leaf'")
    assert r.stdout == "leaf works\n", r.stderr


def test_pip_takes_a_pure_wheel_beside_native_ones(server, trusting):
    server.add_package("leaf", **wheel("leaf", NATIVE), **wheel("leaf"))
    r = trusting(PIP + "leaf && python3 -c 'import leaf'")
    assert (r.stdout, r.stderr) == ("leaf works\n", "")


@pytest.mark.parametrize("name, text", [
    ("numpy", "ERROR: numpy is part of the science image: use --image science"),
    ("quick", "ERROR: quick has native code, and only packages of pure Python can be installed in this sandbox"),
])
def test_pip_explains_native_packages(server, trusting, name, text):
    server.add_package(name, **wheel(name, NATIVE), **sdist(name, **{"setup.py": "raise SystemExit('built')"}))
    r = trusting(PIP + name)
    assert r.returncode == 1 and text in r.stderr.splitlines(), r.stderr
    assert "built" not in r.stderr


def test_pip_explains_sources_with_native_code(server, trusting):
    server.add_package("quick", **sdist("quick", **{
        "quick.c": "int x;\n", "setup.py": "from setuptools import Extension, setup\n"
        "setup(name='quick', version='1.0', ext_modules=[Extension('quick', ['quick.c'])])\n"}))
    r = trusting(PIP + "quick")
    assert r.returncode == 1, r.stdout
    assert "ERROR: quick has native code, which cannot be compiled in this sandbox" in r.stderr, r.stderr


def test_pip_builds_sources_of_pure_python(server, trusting):
    server.add_package("slow", **sdist("slow", **{
        "slow.py": "print('slow works')\n",
        "setup.py": "from setuptools import setup\nsetup(name='slow', version='1.0', py_modules=['slow'])\n"}))
    r = trusting(PIP + "slow && python3 -c 'import slow'")
    assert r.stdout == "slow works\n", r.stderr


def test_pip_without_a_network_has_no_index(server):
    r = shell(PIP + "numpy; pip install -q nosuch")
    assert "ERROR: numpy is part of the science image: use --image science" in r.stderr
    assert "ERROR: There is no package index in this sandbox." in r.stderr
    assert "Retrying" not in r.stderr


def test_pip_says_that_the_index_is_denied(server):
    r = shell(PIP + "leaf", "web.example")
    assert r.returncode == 1 and "Permission denied" in r.stderr, r.stderr
