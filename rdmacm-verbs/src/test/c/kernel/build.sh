#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the stand-in for the kernel into the folder $1: libkernel.so, which is to be preloaded, libtwin.so with the
# operations in C that those in Java are compared with, and the folder sys for SYSFS_PATH. Without a compiler or the
# headers there is none: the reason is printed, and kept in $1/missing.txt for the tests that are skipped.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
rm -f "$out/missing.txt"

missing() {
    rm -f "$out/libkernel.so"
    echo "$1" >"$out/missing.txt"
    echo "tests with the stand-in for the kernel are skipped: $1" >&2
    exit 0
}

command -v gcc >/dev/null || missing "there is no gcc"
echo '#include <infiniband/mlx5dv.h>' | gcc -fsyntax-only -x c - 2>/dev/null ||
    missing "gcc cannot compile infiniband/mlx5dv.h: install libibverbs-dev and the headers of the C library"

# Under another name first: a JVM may have the last one open.
gcc -shared -fPIC -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -Wno-address-of-packed-member -pthread \
    -o "$out/libkernel.so.new" "$here"/*.c -ldl
mv "$out/libkernel.so.new" "$out/libkernel.so"
gcc -shared -fPIC -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -o "$out/libtwin.so.new" "$here"/twin/*.c \
    -lmlx5 -libverbs
mv "$out/libtwin.so.new" "$out/libtwin.so"
sh "$here/sysfs.sh" "$out/sys"
