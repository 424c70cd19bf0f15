#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds into the folder $1 what lets the real libefa work without a card: libfakeefa.so, which is preloaded and answers
# for the kernel and the card; sys, the files that libibverbs looks for in /sys; and libefatwin.so, functions in C that
# the tests compare with. Without a compiler or the headers there is nothing: the reason is printed, and kept in
# $1/missing.txt for the tests that are skipped.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
rm -f "$out/missing.txt"

missing() {
    rm -f "$out"/*.so
    echo "$1" >"$out/missing.txt"
    echo "tests with the stand-in for EFA are skipped: $1" >&2
    exit 0
}

# Under another name first: a JVM may have the last one open.
link() {
    target=$1
    shift
    # shellcheck disable=SC2086  # several words
    gcc -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -fPIC -shared -pthread ${FAKE_CFLAGS:-} \
        -o "$target.new" "$@"
    mv "$target.new" "$target"
}

file() {
    mkdir -p "$out/sys/$(dirname "$1")"
    echo "$2" >"$out/sys/$1"
}

command -v gcc >/dev/null || missing "there is no gcc"
printf '#include <infiniband/efadv.h>\n#include <rdma/efa-abi.h>\n' | gcc -fsyntax-only -x c - 2>/dev/null ||
    missing "gcc cannot compile infiniband/efadv.h: install libibverbs-dev and the headers of the C library"
ldconfig -p 2>/dev/null | grep -q 'libefa\.so\.1' || missing "libefa.so.1 is not installed (package ibverbs-providers)"

link "$out/libfakeefa.so" "$here/efa.c" "$here/efanic.c" "$here/syscalls.c" -ldl
link "$out/libefatwin.so" "$here/twin.c" -libverbs

device=class/infiniband/efa_0
file $device/node_guid 0200:00ff:fe00:0001
file $device/sys_image_guid 0200:00ff:fe00:0001
file $device/node_type '7: unspecified'
file $device/fw_ver 1.0.0.0
file $device/hw_rev 0
file $device/board_id EFA
file $device/device/modalias pci:v00001D0Fd0000EFA1sv00001D0Fsd0000EFA1bc02sc00i00
file $device/ports/1/gids/0 fe80:0000:0000:0000:0002:00ff:fe00:0001
file $device/ports/1/gid_attrs/types/0 IB/RoCE\ v1
file $device/ports/1/pkeys/0 0xffff
file class/infiniband_verbs/abi_version 6
file class/infiniband_verbs/uverbs0/abi_version 1
file class/infiniband_verbs/uverbs0/dev 231:192
file class/infiniband_verbs/uverbs0/ibdev efa_0
