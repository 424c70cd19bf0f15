#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the stand-in for librdmacm into the folder $1. Without a compiler or the headers there is none: the reason is
# printed, and kept in $1/missing.txt for the tests that are skipped. FAKE_CFLAGS: more options, for a sanitizer.
set -eu
here=$(dirname "$0")
mkdir -p "$1"
rm -f "$1/missing.txt"

missing() {
    rm -f "$1/libfakerdmacm.so"
    echo "$2" >"$1/missing.txt"
    echo "tests with the stand-in for librdmacm are skipped: $2" >&2
    exit 0
}

command -v gcc >/dev/null || missing "$1" "there is no gcc"
echo '#include <rdma/rdma_cma.h>' | gcc -fsyntax-only -x c - 2>/dev/null ||
    missing "$1" "gcc cannot compile rdma/rdma_cma.h: install librdmacm-dev and the headers of the C library"

# Under another name first: a JVM may have the last one open.
# shellcheck disable=SC2086  # several words
gcc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -fPIC -shared -pthread ${FAKE_CFLAGS:-} -o "$1/libfakerdmacm.so.new" \
    "$here"/*.c
mv "$1/libfakerdmacm.so.new" "$1/libfakerdmacm.so"
