#!/bin/sh
# test_page.sh SOURCE-DIR: tools/page in a project that is not there, with stand-ins for Node and npm
# that write down what they were asked for: what it fetches and builds, when, and what it says where
# that cannot be.
set -eu
source=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bin=$scratch/bin
project=$scratch/project
page=$project/build/page/index.html
failures=0

stand_in() { # NAME, its script on standard input
    { echo "#!/bin/sh" && cat; } >"$bin/$1"
    chmod +x "$bin/$1"
}

begin() { # a project that was never built, on a machine with Node and npm
    rm -rf "$bin" "$project"
    mkdir -p "$bin" "$project/tools" "$project/viewer/page/src"
    for tool in sh cat cmp cp dirname find mkdir mktemp rm touch; do
        ln -s "$(command -v $tool)" "$bin/$tool"
    done
    cp "$source/tools/page" "$project/tools/page"
    echo one >"$project/viewer/page/package-lock.json"
    echo one >"$project/viewer/page/src/main.ts"
    echo "echo v18.20.4" | stand_in node
    stand_in npm <<END
echo "\$1" >>"$scratch/asked"
case \$1 in
ci) rm -rf node_modules && mkdir -p node_modules ;;
run) mkdir -p ../../build/page && cat src/main.ts >../../build/page/index.html ;;
esac
END
}

call() { # leaves $code, $asked, $scratch/output
    code=0
    : >"$scratch/asked"
    PATH="$bin" "$project/tools/page" >"$scratch/output" 2>&1 </dev/null || code=$?
    asked=$(tr '\n' ' ' <"$scratch/asked")
}

age() { # what is there is from yesterday
    find "$project" -exec touch -d yesterday {} +
}

expect() { # WHAT TEST...
    what=$1
    shift
    if "$@"; then
        echo "ok: $what"
    else
        failures=$((failures + 1))
        echo "failed: $what (exit code $code, asked for: $asked)"
        cat "$scratch/output"
    fi
}

says() { grep -q "$1" "$scratch/output"; }

begin
call
expect "first: succeeds" [ $code = 0 ]
expect "first: fetches and builds" [ "$asked" = "ci run " ]
expect "first: the page is there" [ -s "$page" ]
call
expect "again: nothing to do" [ "$code$asked" = 0 ]
age
echo two >"$project/viewer/page/src/main.ts"
call
expect "a source changed: builds" [ "$asked" = "run " ]
expect "a source changed: the page is new" grep -q two "$page"
age
echo "const x = 1;" >"$project/viewer/page/src/extra.ts"
call
expect "a source came: builds" [ "$asked" = "run " ]
age
rm "$project/viewer/page/src/extra.ts"
call
expect "a source went: builds" [ "$asked" = "run " ]
age
echo two >"$project/viewer/page/package-lock.json"
call
expect "the list of packages changed: fetches and builds" [ "$asked" = "ci run " ]

begin
rm "$bin/npm"
call
expect "no npm: fails" [ $code = 1 ]
expect "no npm: says so" says "there is no npm"

begin
echo "echo v12.22.9" | stand_in node
call
expect "an old Node: fails" [ $code = 1 ]
expect "an old Node: says so" says "Node 12.22.9 is too old"

begin
echo "echo no network; exit 1" | stand_in npm
call
expect "no network: fails" [ $code = 1 ]
expect "no network: says what npm said" says "no network"
expect "no network: says what that means" says "could not fetch"

begin
call
age
echo "echo bad types; exit 2" | stand_in npm
echo three >"$project/viewer/page/src/main.ts"
call
expect "a mistake in a source: fails" [ $code = 1 ]
expect "a mistake in a source: shows it" says "bad types"
expect "a mistake in a source: the page of before stays" says "built before stays"
rm "$page"
call
expect "no page was built before: does not say that it stays" [ "$(says stays || echo no)" = no ]

begin
echo "exit 0" | stand_in npm
mkdir -p "$project/viewer/page/node_modules"
call
expect "a build that leaves nothing: fails" [ $code = 1 ]

[ $failures = 0 ]
