"""Puts the server, the supervisor of sessions, the root images and the compiled
code of their programs, as built in this repository, into the wheel."""

import pathlib
import shutil
import subprocess

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = TOP / "build"
SERVER = "wasm-sandbox"
IMAGE = "share/wasmsand/root.tar"
FOLDERS = "share/wasmsand/code", "share/wasmsand/images"  # the second may be missing
# Of the build, and where the server looks for it.
FILES = {
    SERVER: f"bin/{SERVER}",
    "libexec/wasmsand-supervisor": "libexec/wasmsand-supervisor",
    "libexec/wasmsand-netd": "libexec/wasmsand-netd",
    IMAGE: IMAGE,
}


def build_all():
    """What is not there is built; the first time that takes long."""
    if all((BUILD / name).exists() for name in (*FILES, FOLDERS[0])):
        return
    if subprocess.run(["make", "-C", TOP, "all", "rootfs"],
                      check=False).returncode:
        raise SystemExit(f"`make all rootfs` in {TOP} failed, see above; "
                         "`tools/setup` installs what it needs")


class WithServer(build_py):
    def run(self):
        super().run()
        build_all()
        package = pathlib.Path(self.build_lib) / "wasmsand"
        for name, target in FILES.items():
            (package / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(BUILD / name, package / target)
        for name in FOLDERS:
            shutil.rmtree(package / name, ignore_errors=True)
            if (BUILD / name).exists():
                shutil.copytree(BUILD / name, package / name)


class OfThisMachine(bdist_wheel):
    """Any Python 3, but only this kind of machine."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"build_py": WithServer, "bdist_wheel": OfThisMachine})
