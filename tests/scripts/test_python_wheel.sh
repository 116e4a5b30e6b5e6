#!/bin/sh
# test_python_wheel.sh SOURCE-DIR BUILD-DIR PYTHON: makes the wheel of the Python package without a network,
# installs it in a clean environment (with Debian's numpy), and runs the package and the command from there.
set -eu
source=$1
build=$2
python=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Nothing may be fetched, and nothing of the caller's settings counts.
export PIP_NO_INDEX=1 PIP_CONFIG_FILE=/dev/null PIP_DISABLE_PIP_VERSION_CHECK=1
unset PYTHONPATH

"$python" -m pip wheel "$source" --quiet --no-deps --wheel-dir "$scratch" --config-settings build-dir="$build"
wheel=$(ls "$scratch"/rigor-*.whl)
echo "wheel: $(basename "$wheel")"
"$python" -m venv --system-site-packages "$scratch/environment"
"$scratch/environment/bin/pip" install --quiet "$wheel"
cd "$scratch"
inside=$(environment/bin/python -c 'import rigor; print(rigor.__file__)')
case $inside in
"$scratch"/environment/*) ;;
*)
    echo "test_python_wheel: rigor comes from $inside" >&2
    exit 1
    ;;
esac
environment/bin/python -m rigor --version
environment/bin/rigor run tower count=3 --duration 0.1 --quiet --out tower.h5 >/dev/null
environment/bin/python "$source/tests/scripts/package_smoke.py" tower.h5
environment/bin/python "$source/python/examples/first_world.py"
environment/bin/pip uninstall --quiet --yes rigor
if environment/bin/python -c 'import rigor' 2>/dev/null; then
    echo "test_python_wheel: rigor is still there after uninstalling" >&2
    exit 1
fi
