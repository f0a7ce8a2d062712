"""Puts the server, the root image and the compiled code of its programs, as
built in this repository, into the wheel."""

import pathlib
import shutil
import subprocess

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

BUILD = pathlib.Path(__file__).resolve().parents[2] / "build"
SERVER = "wasm-sandbox"
IMAGE = "share/wasmsand/root.tar"
CODE = "share/wasmsand/code"  # where the server looks for it


class WithServer(build_py):
    def run(self):
        super().run()
        package = pathlib.Path(self.build_lib) / "wasmsand"
        for name, target in ((SERVER, f"bin/{SERVER}"), (IMAGE, IMAGE)):
            if not (BUILD / name).exists():
                raise SystemExit(f"{BUILD / name} is missing: "
                                 "run `make all rootfs` in the repository")
            (package / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(BUILD / name, package / target)
        subprocess.run([BUILD / SERVER, "precompile", BUILD / IMAGE,
                        package / CODE], check=True)


class OfThisMachine(bdist_wheel):
    """Any Python 3, but only this kind of machine."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"build_py": WithServer, "bdist_wheel": OfThisMachine})
