# SPDX-License-Identifier: MIT
"""The pre-initialised interpreter: what it has at hand, and how it begins.

prepare() imports the modules that programs use most, before the interpreter is
frozen, and puts them aside. A process that imports one gets it from here, by
the usual way through sys.path: a file of the same name in the program's own
folder still comes first, and sys.modules has only what was imported.
"""
import sys

before = set(sys.modules)

import builtins
import gc
import os
import site
import time
from importlib import _bootstrap
from importlib._bootstrap_external import _get_supported_file_loaders
from importlib.machinery import FileFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location

MODULES = """
argparse ast asyncio base64 bisect calendar collections.abc concurrent.futures
configparser contextlib copy csv dataclasses datetime decimal difflib enum
fnmatch fractions functools glob gzip hashlib heapq html importlib.metadata
inspect io itertools json locale logging math operator pathlib pickle platform
pprint queue random re secrets shlex shutil signal socket sqlite3 ssl statistics
string struct subprocess tempfile textwrap threading time timeit tokenize
traceback types typing unittest urllib.request uuid warnings weakref
xml.etree.ElementTree zipfile
""".split()

# Packages that an image adds to these, one on each line. Their modules import each
# other in circles, so that each package is given out as a whole.
LIST = "/usr/lib/wasmsand/resident"
whole = ()

USUAL = "/usr/bin/python3", "/usr/bin/python"  # not in a virtual environment

aside = {}  # by name: modules that nobody has imported yet
imports = {}  # by name: the modules that a module imported, by name
hidden = {}  # by name: attributes of a package that its modules would replace
path = folders = ()  # sys.path without the folders of site, and those there were
finders = sys.path_importer_cache  # not to be taken apart when sys is

# What is done when a module is imported that has something of the process.
fresh = {
    "logging": lambda m: setattr(m, "_startTime", time.time()),
    "numpy": lambda m: m.random.seed(),
    "random": lambda m: m.seed(),
    "threading": lambda m: m.main_thread()._set_native_id(),
}


class Loader(SourceFileLoader):
    """Gives out a module that is executed already."""

    def create_module(self, spec):
        self.module = aside.pop(self.name, None)
        return self.module

    def exec_module(self, module):
        if module is not self.module:
            return super().exec_module(module)
        if self.name in whole:
            give_out(self.name)
        elif not all(found(n) is m for n, m in imports[self.name].items()):
            return self.execute_anew()
        module.__spec__ = self.spec
        module.__dict__.update(hidden.get(self.name, ()))
        if self.name in fresh:
            fresh[self.name](module)

    def execute_anew(self):
        """What it would import is not what it has imported."""
        spec = spec_from_file_location(
            self.name, self.path,
            submodule_search_locations=self.spec.submodule_search_locations)
        module = sys.modules[self.name] = module_from_spec(spec)
        spec.loader.exec_module(module)


def give_out(package):
    """All modules of a package that is being imported."""
    inner = [name for name in aside if name.startswith(package + ".")]
    for name in inner:
        sys.modules[name] = aside.pop(name)
    for name in inner:
        parent, _, part = name.rpartition(".")
        if part not in hidden.get(parent, ()):
            setattr(sys.modules[parent], part, sys.modules[name])
        sys.modules[name].__dict__.update(hidden.get(name, ()))


def found(name):
    """The module that an import of name gives now."""
    try:
        _bootstrap._gcd_import(name)
    except ImportError:
        return None
    return sys.modules.get(name)


class Finder(FileFinder):
    """Of a folder of the standard library."""

    def find_spec(self, fullname, target=None):
        module = aside.get(fullname)
        if module is None:
            return super().find_spec(fullname, target)
        loader = Loader(fullname, module.__file__)
        loader.spec = module.__spec__
        return spec_from_file_location(
            fullname, module.__file__, loader=loader,
            submodule_search_locations=getattr(module, "__path__", None))


def import_all():
    """Imports MODULES, noting who imports whom."""
    original = builtins.__import__

    def noting(name, globals=None, locals=None, fromlist=(), level=0):
        result = original(name, globals, locals, fromlist, level)
        if globals and "__name__" in globals:
            note = imports.setdefault(globals["__name__"], {})
            if level:
                name = _bootstrap._resolve_name(
                    name, _bootstrap._calc___package__(globals), level)
            names = [name, *(f"{name}.{part}" for part in fromlist or ())]
            note.update((n, sys.modules[n]) for n in names if n in sys.modules)
        return result

    builtins.__import__ = noting
    try:
        for name in [*MODULES, *whole]:
            _bootstrap._gcd_import(name)
    finally:
        builtins.__import__ = original


def put_aside():
    for name, module in list(sys.modules.items()):
        origin = getattr(getattr(module, "__spec__", None), "origin", None)
        if name in before or origin in (None, "built-in", "frozen"):
            continue
        aside[name] = sys.modules.pop(name)
        imports.setdefault(name, {})
    for name, module in aside.items():
        package, _, part = name.rpartition(".")
        if package not in aside:
            continue
        if getattr(aside[package], part, None) is module:
            delattr(aside[package], part)
        elif hasattr(aside[package], part):
            hidden.setdefault(package, {})[part] = getattr(aside[package], part)


def set_finders():
    folders = {sys._stdlib_dir, *map(os.path.dirname, (
        folder for name in whole for folder in aside[name].__path__))}
    for module in aside.values():
        folders.update(getattr(module, "__path__", ()))
    for folder in sorted(folders):
        finder = Finder(folder, *_get_supported_file_loaders())
        finder.find_spec("")  # reads the folder
        sys.path_importer_cache[folder] = finder


def read_list():
    try:
        with open(LIST, encoding="utf-8") as file:
            return tuple(file.read().split())
    except FileNotFoundError:
        return ()


def site_folders():
    folders = [site.getusersitepackages(), *site.getsitepackages()]
    return [folder for folder in folders if os.path.isdir(folder)]


def prepare():
    """Returns all modules of the interpreter that is going to be frozen."""
    global path, folders, whole
    folders = site_folders()
    whole = read_list()
    path = [p for p in sys.path if p not in folders]
    del sys.modules["_resident"]
    import_all()
    put_aside()
    set_finders()
    del sys.modules["__main__"]  # each process has its own
    everything = {**sys.modules, **aside}
    gc.collect()
    gc.freeze()
    return everything


def find_executable():
    """The path by which this program was found, as getpath.py has it: links
    are not followed."""
    program = sys.orig_argv[0]
    if "/" in program:
        return os.path.abspath(program)
    for folder in os.environ.get("PATH", "").split(":"):
        file = os.path.join(folder, program)
        if os.access(file, os.X_OK) and os.path.isfile(file):
            return os.path.abspath(file)
    return sys.executable


def enter_environment(known):
    """In a virtual environment, sets what depends on it. Returns the folders of
    sys.path that are known."""
    site.venv(known)
    if sys.prefix != sys.base_prefix:
        sys._base_executable = os.path.realpath(sys.executable)
        if sys._base_executable == sys.executable:  # a copy
            sys._base_executable = os.path.join(
                sys._home or os.path.dirname(USUAL[0]), os.path.basename(sys.executable))
        aside.pop("sysconfig", None)  # has paths below sys.prefix
    return known


def begin():
    """In each new process."""
    if "TZ" in os.environ:
        time.tzset()
    site.USER_BASE = site.USER_SITE = None
    sys.executable = sys._base_executable = find_executable()
    own = os.environ.get("PYTHONPATH")
    if sys.executable in USUAL and not own and site_folders() == folders:
        return
    sys.path[:] = [*(own.split(":") if own else ()), *path]
    known = enter_environment(site.removeduppaths())
    site.addusersitepackages(known)
    site.addsitepackages(known)
    site.execsitecustomize()
    if site.ENABLE_USER_SITE:
        site.execusercustomize()
