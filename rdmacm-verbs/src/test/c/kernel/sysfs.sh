#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the folder $1 look like the sysfs of a machine with the cards of the stand-in for the kernel, see kernel.h.
set -eu

# device NAME INDEX DRIVER VENDOR_AND_DEVICE NODE_TYPE GID_TYPE: its entries in infiniband and infiniband_verbs.
device() {
    card=$1/class/infiniband/$2 verbs=$1/class/infiniband_verbs/uverbs$3
    mkdir -p "$card/device" "$card/ports/1/pkeys" "$card/ports/1/gids" "$card/ports/1/gid_attrs/types" \
        "$card/ports/1/gid_attrs/ndevs" "$verbs" "$1/bus/pci/drivers/$4"
    ln -s "$1/bus/pci/drivers/$4" "$card/device/driver"
    echo "pci:$5" >"$card/device/modalias"
    echo "0002:c903:00fa:4e0$3" >"$card/node_guid"
    echo "0002:c903:00fa:4e0$3" >"$card/sys_image_guid"
    echo "$6" >"$card/node_type"
    echo 16.35.2000 >"$card/fw_ver"
    echo 0 >"$card/hw_rev"
    echo stand-in >"$card/board_id"
    echo 0xffff >"$card/ports/1/pkeys/0"
    echo "$7" >"$card/ports/1/gid_attrs/types/0"
    # The interface of the loop, so that tests find an address of the card.
    echo lo >"$card/ports/1/gid_attrs/ndevs/0"
    echo 0000:0000:0000:0000:0000:ffff:7f00:0001 >"$card/ports/1/gids/0"
    echo 1 >"$verbs/abi_version"
    echo "231:$((192 + $3))" >"$verbs/dev"
    echo "$2" >"$verbs/ibdev"
}

rm -rf "$1"
mkdir -p "$1/class/infiniband_verbs"
echo 6 >"$1/class/infiniband_verbs/abi_version"
device "$1" mlx5_0 0 mlx5_core v000015B3d00001017sv000015B3sd00000020bc02sc00i00 "1: CA" "RoCE v2"
