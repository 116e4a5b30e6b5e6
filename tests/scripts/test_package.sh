#!/bin/sh
# test_package.sh SOURCE-DIR [CC]: builds and installs the library, static, and unpacks the Debian packages
# of tools/package, shared, into a temporary prefix, and makes the programs of tests/outside, in C and C++,
# against it, through find_package and through pkg-config. RIGOR_LONG=1, as root: installs the packages in a
# bare Debian 12 and tries them there.
set -eu
source=$1
compiler=${2:-cc}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "test_package: $1" >&2
    exit 1
}

quietly() { # shows what a command says only if it fails
    "$@" >"$scratch/log" 2>&1 || {
        cat "$scratch/log"
        fail "$* failed"
    }
}

# Moved: nothing installed may remember where it was built or first put.
build_static() {
    quietly cmake -S "$source" -B "$scratch/build-static" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_COMPILER="$compiler" -DBUILD_SHARED_LIBS=OFF -DCMAKE_INSTALL_PREFIX=/nowhere
    quietly cmake --build "$scratch/build-static"
    quietly cmake --install "$scratch/build-static" --prefix "$scratch/static"
    mv "$scratch/static" "$scratch/moved-static"
    rm -rf "$scratch/build-static"
    prefix=$scratch/moved-static
    libraries=$prefix/lib
}

build_packages() {
    quietly "$source/tools/package" "$scratch/build-shared" -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_COMPILER="$compiler"
    mkdir "$scratch/packages"
    mv "$scratch"/build-shared/*.deb "$scratch/packages"
    rm -rf "$scratch/build-shared"
    names=
    for package in "$scratch"/packages/*.deb; do
        names="$names $(dpkg-deb -f "$package" Package)"
        dpkg-deb -x "$package" "$scratch/moved-shared"
    done
    [ "$names" = " librigor-dev librigor0.1 python3-rigor rigor" ] || fail "packages:$names"
    # What is linked is asked for, by the packages that Debian has it in.
    dpkg-deb -f "$scratch"/packages/librigor0.1_*.deb Depends | grep -q 'libc6.*libhdf5.*libqhull.*libyaml' ||
        fail "librigor0.1 does not depend on what it links"
    prefix=$scratch/moved-shared/usr
    libraries=$(dirname "$(find "$prefix/lib" -name librigor.so)")
}

# The package for Python, with the command of the package rigor.
try_python() {
    (
        cd "$scratch"
        export PYTHONPATH="$prefix/lib/python3/dist-packages" PYTHONDONTWRITEBYTECODE=1
        /usr/bin/python3 -m rigor run tower count=3 --duration 0.1 --quiet --out tower.h5 >/dev/null
        /usr/bin/python3 "$source/tests/scripts/package_smoke.py" tower.h5
    )
}

check_files() { # FILE...
    for file; do
        [ -e "$prefix/$file" ] || fail "$file is not installed"
    done
}

run_programs() { # DIRECTORY
    "$1/outside_core"
    "$1/outside_io" "$1/outside.h5"
    "$1/outside_lp"
    "$1/outside_cpp"
}

try_cmake() {
    quietly cmake -S "$source/tests/outside" -B "$prefix/outside" -G Ninja -DCMAKE_C_COMPILER="$compiler" \
        -DCMAKE_PREFIX_PATH="$prefix"
    quietly cmake --build "$prefix/outside"
    run_programs "$prefix/outside"
}

try_pkg_config() {
    export PKG_CONFIG_PATH="$libraries/pkgconfig"
    for library in rigor-io rigor-lp; do
        [ "$(pkg-config --modversion rigor)" = "$(pkg-config --modversion $library)" ]
    done
    mkdir "$prefix/by-hand"
    # shellcheck disable=SC2046 # flags are words
    for program in core:rigor io:rigor-io lp:rigor-lp; do
        $compiler -std=c17 -Wall -Werror "$source/tests/outside/outside_${program%:*}.c" \
            $(pkg-config --cflags --libs "${program#*:}") -lm \
            -Wl,-rpath,"$libraries" -o "$prefix/by-hand/outside_${program%:*}"
    done
    # shellcheck disable=SC2046 # flags are words
    g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror "$source/tests/outside/outside_cpp.cpp" \
        $(pkg-config --cflags --libs rigor-io) -Wl,-rpath,"$libraries" -o "$prefix/by-hand/outside_cpp"
    run_programs "$prefix/by-hand"
}

# Without the library that needs Clp: no trace of it, and its absence is told.
try_without_lp() {
    echo "== without rigor-lp"
    quietly cmake -S "$source" -B "$scratch/build-bare" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_COMPILER="$compiler" -DRIGOR_LP=OFF
    quietly cmake --build "$scratch/build-bare"
    quietly cmake --install "$scratch/build-bare" --prefix "$scratch/bare"
    for file in include/rigor/lp.h lib/librigor-lp.a lib/pkgconfig/rigor-lp.pc; do
        [ ! -e "$scratch/bare/$file" ] || fail "$file is installed although RIGOR_LP is off"
    done
    "$scratch/bare/bin/rigor" solve --solver lp nothing.dat >"$scratch/log" 2>&1 || true
    grep -q 'lp is not built in' "$scratch/log" || fail "the command does not say that lp is not built in"
    if cmake -S "$source/tests/outside" -B "$scratch/outside-bare" -G Ninja \
        -DCMAKE_C_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$scratch/bare" >"$scratch/log" 2>&1; then
        fail "the component lp is found although it is not installed"
    fi
    grep -q 'rigor-lp is missing' "$scratch/log" || {
        cat "$scratch/log"
        fail "find_package does not say that lp is missing"
    }
}

# The packages in a Debian that has nothing else: they bring all that they need.
try_bare() {
    echo "== in a bare Debian 12"
    if [ "${RIGOR_LONG:-0}" = 0 ] || [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
        echo "skipped: packages in a bare Debian: RIGOR_LONG=1, root and debootstrap are needed"
        return
    fi
    bare=$scratch/bare
    mirror=$(cat /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null |
        grep -o 'http[^ ]*/debian/*\( \|$\)' | head -n 1)
    quietly debootstrap --variant=minbase bookworm "$bare" ${mirror:+"$mirror"}
    # The way to the mirror is this machine's.
    cp -a /etc/apt/apt.conf.d/. "$bare/etc/apt/apt.conf.d/"
    cp -L /etc/resolv.conf /etc/hosts "$bare/etc/"
    cp "$scratch"/packages/*.deb "$source/tests/outside/outside_core.c" \
        "$source/tests/scripts/package_smoke.py" "$bare/root/"
    cat >"$bare/root/try" <<'END'
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
cd /root
apt-get -q -q update
apt-get -q -q -y install --no-install-recommends ./librigor0.1_*.deb ./rigor_*.deb ./python3-rigor_*.deb >log 2>&1 ||
    { cat log; exit 1; }
rigor --version
python3 -m rigor run tower count=3 --duration 0.1 --quiet --out tower.h5 >/dev/null
python3 package_smoke.py tower.h5
apt-get -q -q -y install --no-install-recommends ./librigor-dev_*.deb gcc libc6-dev pkg-config >log 2>&1 ||
    { cat log; exit 1; }
cc -std=c17 outside_core.c $(pkg-config --cflags --libs rigor) -lm -o outside_core
./outside_core
apt-get -q -q -y remove librigor0.1 >log 2>&1
[ ! -e /usr/bin/rigor ]
END
    chroot "$bare" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin sh /root/try
}

check_and_try() {
    check_files bin/rigor include/rigor/rigor.h share/man/man1/rigor.1 share/rigor/scene.schema.json \
        share/rigor/scenes "${libraries#"$prefix/"}/cmake/rigor/rigorConfig.cmake"
    "$prefix/bin/rigor" --version
    echo "-- find_package"
    try_cmake
    echo "-- pkg-config"
    try_pkg_config
}

echo "== static"
build_static
check_and_try
echo "== packages of Debian, shared"
build_packages
check_and_try
echo "-- Python"
try_python
try_without_lp
try_bare
