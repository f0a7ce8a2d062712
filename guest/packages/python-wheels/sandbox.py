"""pip inside the sandbox: which indexes it can reach, which packages it can install, and
an explanation of what it cannot do. A model that reads only "No matching distribution"
tries other names.

Programs of the sandbox are WebAssembly, and extension modules are linked into the
interpreter. A package with native code is therefore part of an image or cannot be used.
SPDX-License-Identifier: MIT
"""
import functools
import logging
import os
import urllib.parse

from pip._internal.metadata import get_default_environment
from pip._internal.models.wheel import Wheel
from pip._vendor.packaging.utils import canonicalize_name

logger = logging.getLogger(__name__)

SCIENCE = os.path.join(os.path.dirname(__file__), "science.txt")
SOURCES = (".c", ".cc", ".cpp", ".cxx", ".f", ".f90", ".pyx", ".rs")


@functools.lru_cache(maxsize=None)
def has_network():
    """A sandbox without a network has no default route."""
    try:
        with open("/proc/net/route", encoding="ascii") as routes:
            return any(line.split()[1] == "00000000" for line in routes)
    except OSError:
        return True


def reachable(index_urls):
    """The indexes to search: without a network, those of the sandbox itself. Others would
    only be tried again and again."""
    if has_network():
        return index_urls
    return [url for url in index_urls
            if urllib.parse.urlsplit(url).scheme == "file"
            or urllib.parse.urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")]


def has_native_wheels(finder, name):
    """Whether a search found wheels of the project for other machines."""
    for link, kind, _ in finder._logged_links:
        if kind.name == "platform_mismatch" and link.is_wheel:
            wheel = Wheel(link.filename)
            if canonicalize_name(wheel.name) == canonicalize_name(name) and "any" not in wheel.plats:
                return True
    return False


def installable(finder, name, candidates):
    """Leaves out the sources of a project that has native wheels, unless the user asks for
    sources: they would be downloaded, and their build would fail after a long time."""
    formats = finder.format_control.get_allowed_formats(canonicalize_name(name))
    if "binary" not in formats or not has_native_wheels(finder, name):
        return candidates
    return [candidate for candidate in candidates if candidate.link.is_wheel]


def is_of_science(name):
    with open(SCIENCE, encoding="ascii") as names:
        return canonicalize_name(name) in names.read().split()


def explain(finder, name):
    """Says why no version of a project is found."""
    installed = get_default_environment().get_distribution(name)
    if installed is None and is_of_science(name):
        logger.critical("%s is part of the science image: use --image science", name)
    elif has_native_wheels(finder, name):
        logger.critical(
            "%s has native code, and only packages of pure Python can be installed in this sandbox%s",
            name, f" (this image has {installed.version})" if installed else "")
    elif not reachable(finder.index_urls):
        logger.critical(
            "There is no package index in this sandbox. Install from "
            "wheels: pip install FILE.whl, or --find-links FOLDER NAME")


def explain_build(name, folder):
    """Says why a wheel cannot be built from its source."""
    if any(file.endswith(SOURCES) for _, _, files in os.walk(folder) for file in files):
        logger.critical("%s has native code, which cannot be compiled in this sandbox", name)
