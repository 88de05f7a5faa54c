"""What pyproject.toml cannot say: the declarations are made of the C headers when it is built."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent


class WithHeaders(sdist):
    """A source archive takes the headers along: it is built where the tree is not."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        shutil.copy(HERE / "build_ffi.py", base_dir)
        headers = Path(base_dir) / "headers"
        headers.mkdir(exist_ok=True)
        for header in (HERE.parent.parent / "include" / "tandem").glob("*.h"):
            shutil.copy(header, headers)


setup(cffi_modules=["build_ffi.py:ffi"], cmdclass={"sdist": WithHeaders})
