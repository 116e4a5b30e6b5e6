#!/bin/sh
# test_setup.sh SOURCE-DIR: tools/setup on machines that are not there: its commands are stand-ins
# that say what is installed and write down what they were asked for.
set -eu
source=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bin=$scratch/bin
failures=0

stand_in() { # NAME, its script on standard input
    { echo "#!/bin/sh" && cat; } >"$bin/$1"
    chmod +x "$bin/$1"
}

# A machine: user id, whether sudo works without a password, packages installed and known to apt.
machine() { # UID SUDO
    rm -rf "$bin" "$scratch"/installed "$scratch"/asked "$scratch"/known
    mkdir "$bin"
    for tool in sed env cat; do
        ln -s "$(command -v $tool)" "$bin/$tool"
    done
    touch "$scratch/installed" "$scratch/asked" "$scratch/known"
    echo "echo $1" | stand_in id
    echo "echo cmake version 3.25.1" | stand_in cmake
    stand_in dpkg-query <<END
while read -r name; do
    [ "\$name" = "\$4" ] && printf installed && exit 0
done <"$scratch/installed"
exit 1
END
    stand_in apt-cache <<END
while read -r name; do
    [ "\$name" = "\$3" ] && echo "Package: \$name"
done <"$scratch/known"
exit 0
END
    stand_in apt-get <<END
echo "apt-get \$*" >>"$scratch/asked"
for word; do
    echo "\$word" >>"$scratch/installed"
done
END
    if [ "$2" = sudo ]; then
        stand_in sudo <<END
[ "\$1" = -n ] && exit 0
echo sudo >>"$scratch/asked"
exec "\$@"
END
    fi
}

have() { printf '%s\n' "$@" >>"$scratch/installed"; }
know() { printf '%s\n' "$@" >>"$scratch/known"; }

setup() { # ARGUMENT; leaves $code, $scratch/output, $scratch/errors
    code=0
    PATH="$bin" /bin/sh "$source/tools/setup" "$@" >"$scratch/output" 2>"$scratch/errors" \
        </dev/null || code=$?
}

expect() { # WHAT TEST...
    what=$1
    shift
    if "$@"; then
        echo "ok: $what"
    else
        failures=$((failures + 1))
        echo "failed: $what (exit code $code)"
        cat "$scratch/output" "$scratch/errors" "$scratch/asked"
    fi
}

asked_for() { # exactly these packages
    [ "$(sed -n 's/^apt-get.* install --no-install-recommends //p' "$scratch/asked")" = "$1" ]
}

libraries="libqhull-dev libyaml-dev libexpat1-dev libhdf5-dev zlib1g-dev coinor-libclp-dev"
run_packages="gcc libc6-dev cmake ninja-build pkg-config $libraries nodejs npm"
python_packages="python3 python3-yaml python3-jsonschema python3-h5py python3-numpy python3-pip python3-venv \
python3-matplotlib"
test_packages="clang libclang-rt-dev lld wasi-libc libclang-rt-dev-wasm32 dpkg-dev file debootstrap libcmocka-dev $python_packages chromium ffmpeg gnuplot-nox doxygen \
g++ libbullet-dev libode-dev libmujoco-dev clang-format-14 locales zsh fish libopenmpi-dev openmpi-bin"

# shellcheck disable=SC2086 # lists of names
{
    machine 0 none
    have $run_packages
    setup run
    expect "nothing is missing: succeeds" [ $code = 0 ]
    expect "nothing is missing: apt is left alone" [ ! -s "$scratch/asked" ]
    expect "nothing is missing: says nothing" [ ! -s "$scratch/output" ]

    machine 0 none
    have $run_packages
    sed -i '/ninja-build/d; /libhdf5-dev/d' "$scratch/installed"
    setup run
    expect "root: succeeds" [ $code = 0 ]
    expect "root: asks for what is missing alone" asked_for "ninja-build libhdf5-dev"
    expect "root: says why" grep -q "libhdf5-dev *HDF5: recordings" "$scratch/output"

    machine 1000 sudo
    know gcc libclang-rt-dev wasi-libc libclang-rt-dev-wasm32 chromium libmujoco-dev clang-format-14
    setup test
    expect "sudo: succeeds" [ $code = 0 ]
    expect "sudo: is used" grep -qx sudo "$scratch/asked"
    expect "sudo: asks for everything" asked_for "$run_packages $test_packages"

    machine 0 none
    have $run_packages $test_packages
    know gcc
    setup test
    expect "for ./test: what ./test --long needs is left alone" [ ! -s "$scratch/asked" ]
    setup long
    expect "for ./test --long: asks for more" asked_for "gcc-aarch64-linux-gnu qemu-user"

    machine 1000 none
    have gcc libc6-dev
    setup run
    expect "no rights: fails" [ $code = 1 ]
    expect "no rights: apt is left alone" [ ! -s "$scratch/asked" ]
    expect "no rights: says what to run" grep -qx "sudo apt-get install --no-install-recommends \
cmake ninja-build pkg-config $libraries nodejs npm" "$scratch/errors"

    machine 1000 none
    have gcc libc6-dev cmake ninja-build pkg-config $libraries
    setup run
    expect "no rights, only the page is in want: goes on" [ $code = 0 ]
    expect "no rights, only the page is in want: says so" grep -q "without the page" "$scratch/errors"
    expect "no rights, only the page is in want: says what to run" \
        grep -qx "sudo apt-get install --no-install-recommends nodejs npm" "$scratch/errors"
    setup test
    expect "no rights, tests: the page is needed" [ $code = 1 ]

    machine 0 none
    have gcc libc6-dev cmake ninja-build pkg-config $libraries
    echo "exit 100" | stand_in apt-get
    setup run
    expect "no network, only the page is in want: goes on" [ $code = 0 ]

    # A Node from elsewhere is one package, which Debian's npm would not go with.
    machine 0 none
    have gcc libc6-dev cmake ninja-build pkg-config $libraries nodejs
    echo "exit 0" | stand_in npm
    setup run
    expect "npm inside another package: apt is left alone" [ ! -s "$scratch/asked" ]

    # A release without a package of Chromium, of MuJoCo, or of that version of clang-format.
    for absent in chromium libmujoco-dev clang-format-14; do
        machine 0 none
        have $run_packages $test_packages
        sed -i "/libclang-rt-dev/d; /$absent/d" "$scratch/installed"
        know gcc
        setup test
        expect "no package $absent: succeeds" [ $code = 0 ]
        expect "no package $absent: apt is left alone" [ ! -s "$scratch/asked" ]
    done

    # clang-format of another version does not count.
    for version in 14.0.6:"" 18.1.3:clang-format-14; do
        machine 0 none
        have $run_packages $test_packages
        sed -i "/libclang-rt-dev/d; /clang-format-14/d" "$scratch/installed"
        know gcc clang-format-14
        echo "echo Debian clang-format version ${version%:*}" | stand_in clang-format
        setup test
        expect "clang-format ${version%:*}: asks for '${version#*:}'" asked_for "${version#*:}"
    done

    # A release whose clang brings the library of the fuzzers itself.
    machine 0 none
    know gcc chromium libmujoco-dev clang-format-14
    setup test
    expect "no package libclang-rt-dev: asks for the others" asked_for "$run_packages clang lld dpkg-dev file debootstrap libcmocka-dev \
$python_packages chromium ffmpeg gnuplot-nox doxygen g++ libbullet-dev libode-dev libmujoco-dev clang-format-14 locales zsh fish libopenmpi-dev openmpi-bin"

    # A clang that is there already needs the library of its own version.
    machine 0 none
    have $run_packages $test_packages
    sed -i /libclang-rt-dev/d "$scratch/installed"
    know gcc libclang-rt-18-dev
    stand_in clang <<'END'
[ "$1" = -dumpversion ] && echo 18.1.3 || echo /nowhere
END
    setup test
    expect "clang 18: its own library" asked_for "libclang-rt-18-dev"

    machine 0 none
    have $run_packages
    echo "echo cmake version 3.16.3" | stand_in cmake
    setup run
    expect "an old cmake: fails" [ $code = 1 ]
    expect "an old cmake: says so" grep -q "cmake 3.16 is too old" "$scratch/errors"

    machine 0 none
    echo "exit 100" | stand_in apt-get
    setup run
    expect "apt-get fails: so does set-up" [ $code = 1 ]
    expect "apt-get fails: says what to run" grep -q "^sudo apt-get install .*gcc" "$scratch/errors"
}
exit $failures
