"""The build backend that the source names, as far as pip needs it for a download.

pip asks the backend for the metadata of every source that it downloads. The real
backend configures the whole source; this one copies the metadata from it.
"""
import os
import shutil


def prepare_metadata_for_build_wheel(folder, _config=None):
    name = "numpy.dist-info"
    os.mkdir(os.path.join(folder, name))
    shutil.copy("PKG-INFO", os.path.join(folder, name, "METADATA"))
    return name
