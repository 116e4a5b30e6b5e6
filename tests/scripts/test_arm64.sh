#!/bin/sh
# test_arm64.sh SOURCE-DIR: the same bits on AArch64, by Debian's cross compiler and qemu-user.
#
# Builds the command and the unit tests of the library for AArch64, runs the tests, and ten scenes of
# data/golden_hashes.txt. Libraries for AArch64 are unpacked from Debian's packages into a folder of
# the test's own: the system is not changed. Needs RIGOR_LONG=1 and a network.
set -eu
source=$(cd "$1" && pwd)
if [ "${RIGOR_LONG:-0}" = 0 ]; then
    echo "skipped: AArch64: RIGOR_LONG=1 is needed"
    exit 0
fi
for program in aarch64-linux-gnu-gcc qemu-aarch64 apt-get; do
    if ! command -v "$program" >/dev/null; then
        echo "skipped: AArch64: there is no $program"
        exit 0
    fi
done

folder=$source/build/arm64
root=$folder/root
build=$folder/build
packages=$folder/packages
mkdir -p "$packages/lists/partial" "$packages/cache/archives/partial" "$root" "$folder/emulated"
log=$folder/log

# The packages with all that they need, for a machine of that kind on which nothing is installed.
apt() {
    apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
        -o Dir::State::lists="$packages/lists" -o Dir::State::status="$packages/status" \
        -o Dir::Cache="$packages/cache" -o APT::Install-Recommends=false -o APT::Sandbox::User= \
        -o Debug::NoLocking=1 "$@" >>"$log" 2>&1
}
: >"$log"
: >"$packages/status"
if ! apt update || ! apt -y --download-only install libc6-dev libqhull-dev libyaml-dev libexpat1-dev \
    libhdf5-dev zlib1g-dev libcmocka-dev; then
    cat "$log"
    echo "skipped: AArch64: apt-get finds no packages of libraries for it"
    exit 0
fi
for package in "$packages"/cache/archives/*.deb; do
    dpkg-deb -x "$package" "$root"
done

export PKG_CONFIG_SYSROOT_DIR="$root"
export PKG_CONFIG_LIBDIR="$root/usr/lib/aarch64-linux-gnu/pkgconfig:$root/usr/share/pkgconfig"
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_SYSROOT="$root" -DCMAKE_FIND_ROOT_PATH="$root" \
    -DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=NEVER -DCMAKE_CROSSCOMPILING_EMULATOR="qemu-aarch64;-L;$root" \
    -DCMAKE_BUILD_TYPE=Release -DRIGOR_LP=OFF -DRIGOR_TESTS=ON -DRIGOR_WERROR=ON >>"$log" 2>&1
tests=$(ninja -C "$build" -t targets all |
    sed -n 's/^\(test_\(base\|shape\|world\|broad\|narrow\|contact\|problem\|solve\|integrate\|step\)_[a-z_0-9]*\): phony$/\1/p')
# shellcheck disable=SC2086 # a list of names
ninja -C "$build" rigor-command $tests >>"$log" 2>&1 || {
    tail -n 60 "$log"
    echo "FAILED: no build for AArch64"
    exit 1
}

cat >"$folder/emulated/rigor" <<END
#!/bin/sh
exec qemu-aarch64 -L "$root" "$build/rigor" "\$@"
END
chmod +x "$folder/emulated/rigor"
failures=0
python3 -B "$source/tests/scripts/test_run_hashes.py" --some 10 "$folder/emulated" || failures=1
# One case in eight where cases repeat themselves: emulation is slow.
unset RIGOR_LONG
RIGOR_STRIDE=8 ctest --test-dir "$build" -L '^unit$' -R "^test_(base|shape|world|broad|narrow|contact|problem|solve|integrate|step)_" \
    -j "$(nproc)" --timeout 1800 --no-tests=error --no-label-summary --output-on-failure || failures=1
exit $failures
