import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture(autouse=True)
def namespace():
    """Every test needs a network of its own."""
    if not os.environ.get("NET_NAMESPACE"):
        pytest.skip("this host does not allow network namespaces for users")
