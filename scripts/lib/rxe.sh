# Ways without a guest: an existing device, or SoftRoCE (or SoftiWARP, with RDMA_DEVICE=siw) on this kernel.
# shellcheck shell=bash

# Several with-rdma may run at once and share a device that the first one has created and the last one removes: the lock
# "setup" is held while it is created or removed, the lock "users" is held shared as long as it is used.
RXE_STATE=/run/rdmacm-rxe

# soft_module: prints the module of the device that is created.
soft_module() { if [[ ${RDMA_DEVICE:-rxe} == siw ]]; then echo siw; else echo rdma_rxe; fi; }

soft_name() { if [[ ${RDMA_DEVICE:-rxe} == siw ]]; then echo SoftiWARP; else echo SoftRoCE; fi; }

# A device is usable only with the device node that librdmacm opens; in a container, sysfs may show the host's devices.
device_present() {
    compgen -G '/sys/class/infiniband/*' >/dev/null || return 1
    if [[ ! -e /dev/infiniband/rdma_cm ]] && is_root; then
        modprobe -aq rdma_ucm ib_uverbs ib_umad 2>/dev/null || true
    fi
    [[ -e /dev/infiniband/rdma_cm ]]
}

device_names() { printf '%s\n' /sys/class/infiniband/* | sed 's,.*/,,' | paste -sd ' ' -; }

device_is_ours() { [[ -e $RXE_STATE/made && $(<"$RXE_STATE/made") == "${RDMA_DEVICE:-rxe}0" ]]; }

# suited_interface: prints a dummy interface that is up and has a large MTU and an IPv4 address.
suited_interface() {
    local name
    for name in $(ip -o link show type dummy up 2>/dev/null | sed 's/^[0-9]*: \([^:@]*\).*/\1/'); do
        if [[ $(<"/sys/class/net/$name/mtu") -ge 4200 && -n $(ip -4 -o addr show dev "$name" scope global) ]]; then
            printf '%s\n' "$name"
            return 0
        fi
    done
    return 1
}

# An MTU of 4200 allows the largest RDMA MTU (4096); the multicast tests need the route.
make_interface() {
    network_is_free || { say "another interface has the network 192.168.99.0/24"; return 1; }
    ip link add rdmacm0 type dummy 2>/dev/null || return 1
    echo rdmacm0 >>"$RXE_STATE/interface"
    ip link set rdmacm0 mtu 4200 multicast on up &&
        ip addr add 192.168.99.1/24 dev rdmacm0 &&
        ip route add 224.0.0.0/4 dev rdmacm0 || return 1
    ip addr add fd99::1/64 dev rdmacm0 nodad 2>/dev/null || true # no IPv6 here: IPv4 alone
}

remove_rxe() {
    if [[ -e $RXE_STATE/made ]]; then rdma link delete "$(<"$RXE_STATE/made")" 2>/dev/null || true; fi
    if [[ -e $RXE_STATE/interface ]]; then ip link delete "$(<"$RXE_STATE/interface")" 2>/dev/null || true; fi
    rm -f "$RXE_STATE/made" "$RXE_STATE/interface"
}

# allowed_rxe: asks whoever sits at a terminal, once a boot: it may be their own machine and their network.
allowed_rxe() {
    local answer=$RXE_STATE/answer
    [[ ${RDMA_WAY:-} != rxe && ${CI:-} != true && -t 2 ]] || return 0
    if [[ ! -e $answer ]]; then
        say "no RDMA device here. It can be one of software, for as long as it is used: $(soft_module) is loaded, and" \
            "unless there is a dummy interface, there will be rdmacm0 with 192.168.99.1/24, fd99::1/64 and the" \
            "multicast route 224.0.0.0/4. Without it, a virtual machine is started."
        read -r -p "with-rdma: create it? [y/N] " REPLY </dev/tty || return 1
        if [[ $REPLY == [yY]* ]]; then echo yes >"$answer"; else echo no >"$answer"; fi
    fi
    [[ $(<"$answer") == yes ]]
}

# network_is_free: tells whether no route of this machine but the default one leads to the network of rdmacm0.
network_is_free() { [[ -z $(ip -4 route show root 192.168.0.0/16 2>/dev/null | grep '^192\.168\.\(99\.\|0\.0/16\)' || true) ]]; }

make_rxe() {
    local interface
    have rdma && have ip || return 1
    [[ ! -e $RXE_STATE/made ]] || device_is_ours || return 1 # one of another kind is in use
    modprobe -aq "$(soft_module)" rdma_ucm ib_uverbs ib_umad 2>/dev/null || true # may be built in
    interface=$(suited_interface) || { make_interface && interface=rdmacm0; } || { remove_rxe; return 1; }
    if ! rdma link add "${RDMA_DEVICE:-rxe}0" type "${RDMA_DEVICE:-rxe}" netdev "$interface" 2>/dev/null; then
        remove_rxe
        return 1
    fi
    echo "${RDMA_DEVICE:-rxe}0" >"$RXE_STATE/made"
    device_present || { remove_rxe; return 1; }
}

# use_rxe: registers as a user of our device, and creates it if necessary. The command will replace this process, so a
# background process waits for its end and removes the device after its last use.
use_rxe() {
    local setup users
    is_root || return 1
    mkdir -p "$RXE_STATE" 2>/dev/null || return 1
    exec {setup}>"$RXE_STATE/setup.lock" {users}>"$RXE_STATE/users.lock"
    flock -w 60 "$setup" || return 1
    if ! { device_present && device_is_ours; } && ! { allowed_rxe && make_rxe; }; then
        exec {setup}>&- {users}>&-
        return 1
    fi
    flock -s "$users"
    leave_after_us "$$" "$setup" "$users" </dev/null >/dev/null 2>&1 &
    disown
    exec {setup}>&- {users}>&-
}

leave_after_us() {
    local command=$1 setup=$2 users=$3
    trap '' INT TERM HUP QUIT
    # This is the lock that use_rxe holds, inherited: release it for others.
    flock -u "$setup"
    tail -s 0.2 -f --pid="$command" /dev/null
    flock "$setup"
    if flock -n -x "$users"; then remove_rxe; fi
}

# Registered memory is locked memory, so raise its limit as far as allowed.
raise_memlock() {
    ulimit -l unlimited 2>/dev/null || ulimit -S -l "$(ulimit -H -l)" 2>/dev/null || true
}
