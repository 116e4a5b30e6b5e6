#!/bin/sh
# test_package.sh SOURCE-DIR [CC]: builds and installs the library, static and shared, into a
# temporary prefix, and makes the programs of tests/outside against it, through find_package and
# through pkg-config.
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

build_and_install() { # KIND SHARED
    quietly cmake -S "$source" -B "$scratch/build-$1" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_COMPILER="$compiler" -DBUILD_SHARED_LIBS="$2" \
        -DCMAKE_INSTALL_PREFIX=/nowhere
    quietly cmake --build "$scratch/build-$1"
    quietly cmake --install "$scratch/build-$1" --prefix "$scratch/$1"
    # Moved: nothing installed may remember where it was built or first put.
    mv "$scratch/$1" "$scratch/moved-$1"
    rm -rf "$scratch/build-$1"
    prefix=$scratch/moved-$1
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
}

try_cmake() {
    quietly cmake -S "$source/tests/outside" -B "$prefix/outside" -G Ninja -DCMAKE_C_COMPILER="$compiler" \
        -DCMAKE_PREFIX_PATH="$prefix"
    quietly cmake --build "$prefix/outside"
    run_programs "$prefix/outside"
}

try_pkg_config() {
    export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
    for library in rigor-io rigor-lp; do
        [ "$(pkg-config --modversion rigor)" = "$(pkg-config --modversion $library)" ]
    done
    mkdir "$prefix/by-hand"
    # shellcheck disable=SC2046 # flags are words
    for program in core:rigor io:rigor-io lp:rigor-lp; do
        $compiler -std=c17 -Wall -Werror "$source/tests/outside/outside_${program%:*}.c" \
            $(pkg-config --cflags --libs "${program#*:}") -lm \
            -Wl,-rpath,"$prefix/lib" -o "$prefix/by-hand/outside_${program%:*}"
    done
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

for kind in static:OFF shared:ON; do
    echo "== ${kind%:*}"
    build_and_install "${kind%:*}" "${kind#*:}"
    check_files bin/rigor include/rigor/rigor.h lib/cmake/rigor/rigorConfig.cmake \
        share/man/man1/rigor.1 share/rigor/scene.schema.json share/rigor/scenes
    "$prefix/bin/rigor" --version
    echo "-- find_package"
    try_cmake
    echo "-- pkg-config"
    try_pkg_config
done
try_without_lp
