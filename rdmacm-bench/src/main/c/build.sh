#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the C side of the benchmarks into the folder $1: the provider without a device, the loop in C over it, the JNI
# library, and the loop over libibverbs with what stands in for a card. Without a compiler or the headers there is none:
# the reason is printed, and kept in $1/missing.txt for whoever runs them.
set -eu
here=$(dirname "$0")
mkdir -p "$1"
rm -f "$1/missing.txt"

missing() {
    rm -f "$1/libnullverbs.so" "$1/nullloop" "$1/libnulljni.so" "$1/libkernel.so" "$1/driverloop"
    echo "$2" >"$1/missing.txt"
    echo "the benchmarks without a device are left out: $2" >&2
    exit 0
}

command -v gcc >/dev/null || missing "$1" "there was no gcc when they were built"
echo '#include <infiniband/verbs.h>' | gcc -fsyntax-only -x c - 2>/dev/null ||
    missing "$1" "gcc could not compile infiniband/verbs.h: install libibverbs-dev and the headers of the C library"

# Of any JDK: JNI has not changed where it is used here.
jdk=
for home in "${2:-}" "${JAVA_HOME:-}" "$(dirname "$(dirname "$(readlink -f "$(command -v javac || echo /)")")")"; do
    if [ -z "$jdk" ] && [ -f "$home/include/jni.h" ]; then
        jdk=$home
    fi
done
[ -n "$jdk" ] || missing "$1" "no jni.h was found: set JAVA_HOME to a JDK"

build() {
    # Under another name first: a JVM may have the last one open.
    output=$1
    shift
    gcc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -pthread -o "$output.new" "$@"
    mv "$output.new" "$output"
}

build "$1/libnullverbs.so" -fPIC -shared -Wl,-soname,libnullverbs.so "$here"/nullverbs.c "$here"/nullsend.c \
    "$here"/nullpoll.c
build "$1/nullloop" "$here"/nullloop.c -L"$1" -lnullverbs "-Wl,-rpath,\$ORIGIN"
build "$1/libnulljni.so" -fPIC -shared -I"$jdk/include" -I"$jdk/include/linux" "$here"/nulljni.c

# The same loop for libmlx5, over what stands in for the kernel and the card in the tests.
kernel=$here/../../../../rdmacm-verbs/src/test/c/kernel
sh "$kernel/build.sh" "$1/mlx5"
[ ! -f "$1/mlx5/missing.txt" ] || missing "$1" "$(cat "$1/mlx5/missing.txt")"
mv "$1/mlx5/libkernel.so" "$1/libkernel.so"
rm -r "$1/mlx5"
cp "$kernel/sysfs.sh" "$1/sysfs.sh"
build "$1/driverloop" "$here"/nullloop.c -libverbs -ldl
