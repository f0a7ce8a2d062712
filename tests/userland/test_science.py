"""The image science, whose interpreter has numpy and other packages. Skipped where `make science` has not run."""
import subprocess

import pytest

from conftest import PATIENCE_S, SANDBOX, TOP

IMAGE = TOP / "build/share/wasmsand/images/science.tar"
SNIPPETS = sorted((TOP / "tests/userland/science").glob("*.txt"))

pytestmark = pytest.mark.skipif(
    not IMAGE.exists(), reason="there is no image science: run make science")


def python(*arguments, mount=None):
    mounts = ["--mount", f"{mount}:/snippets"] if mount else []
    return subprocess.run(
        [SANDBOX, "exec", "--root", str(IMAGE), *mounts, "/usr/bin/python3", *arguments],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S,
        check=False)


@pytest.mark.parametrize("file", SNIPPETS, ids=lambda file: file.stem)
def test_snippets_print_as_on_linux(file):
    done = python("-m", "doctest", f"/snippets/{file.name}", mount=file.parent)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_integers_of_64_bits_are_indices():
    done = python("-c", """import numpy as np
n = np.array([0, 1, 1, 3])
print(np.bincount(n).tolist(), np.repeat(n, np.array([1, 0, 2, 1])).tolist())
x = np.zeros(5); np.put(x, n, 7); print(x.tolist())
print(np.choose(n % 2, [n, -n]).tolist(), np.insert(n, n[1:], 9).tolist())
try: np.repeat(n, n + 2**32)
except IndexError as e: print(e)
try: np.bincount(np.array([0.5]))
except TypeError: print("refused")
""")
    assert done.stdout == """[1, 2, 0, 1] [0, 1, 1, 3]
[7.0, 7.0, 0.0, 7.0, 0.0]
[0, -1, -1, -3] [0, 9, 9, 1, 1, 9, 3]
index 4294967296 is out of bounds: an index has 32 bits
refused
""", done.stderr


def test_each_process_has_random_numbers_of_its_own():
    texts = {python("-c", "import numpy; print(numpy.random.rand(3))").stdout for _ in range(3)}
    assert len(texts) == 3


def test_only_what_is_imported_is_visible():
    done = python("-c", """import sys
print("numpy" in sys.modules)
import numpy.linalg
print(numpy.core._multiarray_umath.__name__, numpy.random.mtrand.__name__, numpy.linalg.__name__)
""")
    assert done.stdout == ("False\nnumpy.core._multiarray_umath numpy.random.mtrand "
                           "numpy.linalg\n"), done.stderr


def test_an_array_that_does_not_fit_is_a_memory_error():
    done = python("-c", """import numpy as np
for shape in (10**10, (1 << 15, 1 << 15)):
    try: np.ones(shape)
    except (MemoryError, ValueError) as e: print(type(e).__name__ in ("_ArrayMemoryError", "ValueError"))
print(np.ones(3).sum())
""")
    assert done.stdout == "True\nTrue\n3.0\n", done.stderr


PACKAGES = {
    "beautifulsoup4", "mpmath", "networkx", "numpy", "openpyxl", "python-dateutil", "pytz",
    "PyYAML", "regex", "requests", "sympy", "tabulate", "tzdata", "xlsxwriter"}


def test_pip_lists_the_packages():
    done = python("-m", "pip", "list", "--format=freeze")
    listed = {line.split("==")[0].lower() for line in done.stdout.splitlines()}
    assert {name.lower() for name in PACKAGES} <= listed, done.stderr


@pytest.mark.parametrize("name, module", [
    ("numpy", "numpy"), ("PyYAML", "yaml"), ("regex", "regex"), ("sympy", "sympy")])
def test_pip_does_not_remove_a_package_of_the_image(name, module):
    done = python("-m", "pip", "uninstall", "-y", name)
    assert done.returncode != 0
    assert "annot uninstall" in done.stderr
    assert "installed by wasmsand" in done.stderr
    assert python("-c", f"import {module}").returncode == 0


MAPPED = """import multiprocessing as mp
import numpy as np

def store(i):
    a = np.memmap("/tmp/mapped", dtype="f8", mode="r+", shape=(1000,))
    a[i] = 2 * i

if __name__ == "__main__":
    a = np.memmap("/tmp/mapped", dtype="f8", mode="w+", shape=(1000,))
    a[:] = 1
    for i in 5, 7:
        p = mp.get_context("spawn").Process(target=store, args=(i,))
        p.start()
        p.join()
    print(a[5], a[7], a.sum())
    a.flush()
    print(np.fromfile("/tmp/mapped").sum())
"""


def test_processes_share_a_memmap(tmp_path):
    (tmp_path / "mapped.py").write_text(MAPPED, encoding="utf-8")
    done = python("/snippets/mapped.py", mount=tmp_path)
    assert done.stdout == "10.0 14.0 1022.0\n1022.0\n", done.stderr
