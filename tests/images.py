"""A root image that differs from the plain one by one file."""
import io
import shutil
import tarfile


def add_image(plain, path, text):
    """Copies the image `plain` to `path`, with the file /etc/other that contains `text`."""
    shutil.copy(plain, path)
    with tarfile.open(path, "a") as tar:
        info = tarfile.TarInfo("./etc/other")
        info.size = len(text)
        tar.addfile(info, io.BytesIO(text.encode()))
    return str(path)
