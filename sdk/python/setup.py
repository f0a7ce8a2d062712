"""Puts the server and the root image of this repository into the wheel."""

import pathlib
import shutil

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

BUILD = pathlib.Path(__file__).resolve().parents[2] / "build"
FILES = {"wasm-sandbox": "bin/wasm-sandbox",
         "share/wasmsand/root.tar": "share/wasmsand/root.tar"}


class WithServer(build_py):
    def run(self):
        super().run()
        for source, name in FILES.items():
            if not (BUILD / source).exists():
                raise SystemExit(f"{BUILD / source} is missing: "
                                 "run `make all rootfs` in the repository")
            target = pathlib.Path(self.build_lib) / "wasmsand" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(BUILD / source, target)


class OfThisMachine(bdist_wheel):
    """Any Python 3, but only this kind of machine."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"build_py": WithServer, "bdist_wheel": OfThisMachine})
