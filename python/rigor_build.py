"""Builds the wheel: the backend that pip calls (PEP 517), of Python's own library and CMake alone, so that
`pip install .` in a clone fetches nothing.

    pip wheel . --config-settings build-dir=build/release    # reuses a build that is there

One wheel serves every CPython from 3.11 on: the library is called through ctypes."""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sysconfig
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def version():
    header = (ROOT / "include" / "rigor" / "version.h").read_text()
    return re.search(r'RG_VERSION_TEXT +"([^"]+)"', header)[1]


def tag():
    return "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")


def metadata():
    return f"""Metadata-Version: 2.1
Name: rigor
Version: {version()}
Summary: Rigid bodies that never pass through each other, with the proof in the numbers
Requires-Python: >=3.11
Requires-Dist: numpy
Description-Content-Type: text/markdown

{(ROOT / "docs" / "python.md").read_text()}"""


WHEEL = f"Wheel-Version: 1.0\nGenerator: rigor_build\nRoot-Is-Purelib: false\nTag: {tag()}\n"
ENTRY_POINTS = "[console_scripts]\nrigor = rigor._viewer:main\n"


def build_package(folder):
    """Configures, unless that was done, and builds; returns where the package is."""
    folder = pathlib.Path(folder).resolve()
    if not (folder / "CMakeCache.txt").exists():
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        subprocess.run(["cmake", "-S", str(ROOT), "-B", str(folder), *generator, "-DCMAKE_BUILD_TYPE=Release",
                        "-DRIGOR_PYTHON_PACKAGE=ON"], check=True)
    subprocess.run(["cmake", "--build", str(folder), "--target", "rigor-python-package", "--parallel",
                    str(os.cpu_count())], check=True)
    return folder / "python" / "rigor"


def entries(package):
    """Names in the wheel, contents, whether it is a program."""
    for path in sorted(package.iterdir()):
        if path.is_file():
            yield f"rigor/{path.name}", path.read_bytes(), os.access(path, os.X_OK)
    folder = f"rigor-{version()}.dist-info"
    yield f"{folder}/METADATA", metadata().encode(), False
    yield f"{folder}/WHEEL", WHEEL.encode(), False
    yield f"{folder}/entry_points.txt", ENTRY_POINTS.encode(), False
    yield f"{folder}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes(), False


def pack(package, target):
    records = []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        def add(name, content, program):
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
        for name, content, program in entries(package):
            add(name, content, program)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            records.append(f"{name},sha256={digest},{len(content)}")
        record = f"rigor-{version()}.dist-info/RECORD"
        add(record, "\n".join([*records, f"{record},,", ""]).encode(), False)


# What pip calls.

def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"rigor-{version()}-{tag()}.whl"
    target = pathlib.Path(wheel_directory, name)
    folder = (config_settings or {}).get("build-dir")
    if folder:
        pack(build_package(ROOT / folder), target)
    else:
        with tempfile.TemporaryDirectory() as scratch:
            pack(build_package(scratch), target)
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("there is no source distribution: clone the repository")
