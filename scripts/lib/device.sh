# Queries about the RDMA device.
# shellcheck shell=bash

# device_interfaces: prints the network interfaces of active RDMA ports; those of InfiniBand ports are found in sysfs.
device_interfaces() {
    rdma link show 2>/dev/null | sed -n 's/.* state ACTIVE .*netdev \([^ ]*\).*/\1/p'
    local folder
    for folder in /sys/class/infiniband/*/device/net/*; do
        [[ ! -e $folder ]] || echo "${folder##*/}"
    done
}

# device_address: prints an IP address of the first interface that has one, preferably IPv4.
device_address() {
    local interface family address
    for interface in $(device_interfaces); do
        for family in -4 -6; do
            address=$(ip "$family" -o addr show dev "$interface" scope global up |
                awk '{ sub("/.*", "", $4); print $4; exit }')
            if [[ -n $address ]]; then
                echo "$address"
                return 0
            fi
        done
    done
    return 1
}

# listens PORT: tells whether a program listens for RDMA connections there.
listens() {
    local ids
    ids=$(rdma resource show cm_id 2>/dev/null) || true
    [[ $ids =~ state\ LISTEN\ [^$'\n']*src-addr\ [^\ ]*:$1(\ |$'\n'|$) ]]
}

free_port() {
    local port
    for _ in {1..100}; do
        port=$((20000 + RANDOM % 10000))
        listens "$port" || break
    done
    echo "$port"
}

# await_listener PORT PROCESS SECONDS
await_listener() {
    local end=$((SECONDS + $3))
    until listens "$1"; do
        kill -0 "$2" 2>/dev/null && ((SECONDS < end)) || return 1
        # Asking takes time that an emulated program needs for its start.
        sleep 0.4
    done
}
