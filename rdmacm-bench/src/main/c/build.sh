#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the C side of the benchmarks into the folder $1: the provider without a device, the loops, and what stands in
# for a card. Without a compiler or the headers there is none: the reason is printed, and kept in $1/missing.txt for
# whoever runs them.
set -eu
here=$(dirname "$0")
kernel=$here/../../../../rdmacm-verbs/src/test/c/kernel
rm -rf "$1"
mkdir -p "$1"

missing() {
    echo "$2" >"$1/missing.txt"
    echo "the benchmarks without a device are left out: $2" >&2
    exit 0
}

command -v gcc >/dev/null || missing "$1" "there was no gcc when they were built"
echo '#include <infiniband/verbs.h>' | gcc -fsyntax-only -x c - 2>/dev/null ||
    missing "$1" "gcc could not compile infiniband/verbs.h: install libibverbs-dev and the headers of the C library"

# Aligned: otherwise it is a matter of luck whether a loop of some instructions takes a tenth longer.
for library in nullverbs loop; do
    gcc -std=gnu11 -D_GNU_SOURCE -O2 -falign-functions=64 -falign-loops=64 -Wall -Wextra -Werror -pthread -fPIC \
        -shared "-Wl,-soname,lib$library.so" -o "$1/lib$library.so" "$here/$library.c"
done
# What stands in for the kernel and the card in the tests.
sh "$kernel/build.sh" "$1/mlx5"
[ ! -f "$1/mlx5/missing.txt" ] || missing "$1" "$(cat "$1/mlx5/missing.txt")"
mv "$1/mlx5/libkernel.so" "$1/libkernel.so"
rm -r "$1/mlx5"
cp "$kernel/sysfs.sh" "$1/sysfs.sh"
