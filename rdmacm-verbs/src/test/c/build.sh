#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds two stand-ins for libibverbs into the folder $1: libfakeverbs.so, which has the functions of the newest
# release, and old/libibverbs.so.1.14.44.0, which has those of rdma-core 44 and a file name that says so. Without a
# compiler or the headers there are none: the reason is printed, and kept in $1/missing.txt for the tests that are
# skipped. FAKE_CFLAGS: more options, for a sanitizer.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/objects" "$1/old"
out=$(cd "$1" && pwd)
rm -f "$out/missing.txt"

missing() {
    rm -f "$out/libfakeverbs.so" "$out/old"/*
    echo "$1" >"$out/missing.txt"
    echo "tests with the stand-in for libibverbs are skipped: $1" >&2
    exit 0
}

# Under another name first: a JVM may have the last one open.
link() {
    target=$1
    shift
    # shellcheck disable=SC2086  # several words
    gcc -shared -pthread ${FAKE_CFLAGS:-} -o "$target.new" "$@"
    mv "$target.new" "$target"
}

command -v gcc >/dev/null || missing "there is no gcc"
echo '#include <infiniband/verbs.h>' | gcc -fsyntax-only -x c - 2>/dev/null ||
    missing "gcc cannot compile infiniband/verbs.h: install libibverbs-dev and the headers of the C library"

cd "$out/objects"
rm -f ./*.o
# shellcheck disable=SC2086  # several words
gcc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -fPIC -pthread ${FAKE_CFLAGS:-} -c "$here"/*.c
link "$out/libfakeverbs.so" ./*.o
mv newer.o ..
link "$out/old/libibverbs.so.1.14.44.0" ./*.o
rm -f ../newer.o
