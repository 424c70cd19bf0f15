# Two QEMU guests that are connected by a wire: the hosts of a server and of a client.
# shellcheck shell=bash disable=SC2154  # what guest.sh sets

# The subnets of the wire, and of a second one that keeps working when the first is cut or impaired.
WIRES=(192.168.98 192.168.97)

port_is_free() { ! grep -qi "^ *[0-9]*: [0-9A-F]*:$(printf '%04X' "$1") " /proc/net/tcp /proc/net/tcp6; }

listening_here() { grep -qi "^ *[0-9]*: [0-9A-F]*:$(printf '%04X' "$1") [0-9A-F:]* 0A " /proc/net/tcp; }

unused_port() {
    local port
    for _ in {1..100}; do
        port=$((20000 + RANDOM % 10000))
        port_is_free "$port" && break
    done
    echo "$port"
}

# wire_options HOST PORT...: prints the options for the wires; the server's QEMU listens, the client's connects.
wire_options() {
    local host=$1 how=listen number=0 port
    shift
    [[ $host -eq 1 ]] || how=connect
    for port in "$@"; do
        printf '%s\n' -netdev "socket,id=wire$number,$how=127.0.0.1:$port" \
            -device "virtio-net-pci,netdev=wire$number,mac=52:54:00:98:0$number:0$host,romfile="
        number=$((number + 1))
    done
}

# prepare_host HOST ACCEL SHARED COMMAND...: creates its folder, in $run.
prepare_host() {
    local host=$1 other=$((3 - $1)) accel=$2 shared=$3 names=(server client)
    shift 3
    new_guest
    export RDMACM_LOCAL_ADDRESS=${WIRES[0]}.$host RDMACM_PEER_ADDRESS=${WIRES[0]}.$other
    export RDMACM_LOCAL_CONTROL_ADDRESS=${WIRES[1]}.$host RDMACM_PEER_CONTROL_ADDRESS=${WIRES[1]}.$other
    write_down "$run" "$shared" "$accel" "$@"
    {
        echo "host=$host"
        echo "netem=$(quote "$netem")"
        echo "hostname=${names[host - 1]}"
    } >>"$run/settings"
}

# await WORDS RUN SECONDS: waits until the guest reports one of the words (a pattern); fails if it ends before.
await() {
    local left=$(($3 * 5))
    until grep -qsE "^($1)" "$2/control.out"; do
        kill -0 "${guest_qemu[$2]}" 2>/dev/null && ((left-- > 0)) || return 1
        sleep 0.2
    done
}

# conduct SERVER CLIENT: starts both commands, and ends the one that is left over. Runs in the background.
conduct() {
    trap '' INT TERM HUP QUIT USR1 USR2
    local server=$1 client=$2 late
    await up "$server" 1000 && await up "$client" 1000 || return 0
    echo GO >&"${guest_control[$server]}"
    await 'listening|exit' "$server" "${RDMA_LISTEN_TIMEOUT:-120}" ||
        say "the server does not listen: starting the client anyway"
    echo GO >&"${guest_control[$client]}"
    until grep -qs "^exit" "$client/control.out"; do
        if [[ $(guest_status "$server" || echo 0) -ne 0 ]] || ! kill -0 "${guest_qemu[$client]}" 2>/dev/null; then
            break
        fi
        sleep 0.5
    done
    # One side has ended.
    late=$server
    if ! kill -0 "${guest_qemu[$server]}" 2>/dev/null || grep -qs "^exit" "$server/control.out"; then late=$client; fi
    if ! await exit "$late" "$grace" && kill -0 "${guest_qemu[$late]}" 2>/dev/null; then
        echo ended >"$late/ended"
        echo TERM >&"${guest_control[$late]}"
        await exit "$late" 30 || kill -KILL "${guest_qemu[$late]}" 2>/dev/null || true
    fi
}

# host_options HOST RUN: prints all options of QEMU.
host_options() {
    qemu_options "$accel" "$2"
    guest_options "$2" "$shared"
    wire_options "$1" "${ports[@]}"
}

# boot_hosts SECONDS SERVER CLIENT: runs both until they end; fails if they did not start the commands.
boot_hosts() {
    local patience=$1 server=$2 client=$3 ports=() port options
    ports=("$(unused_port)" "$(unused_port)")
    rm -f "$server/ended" "$client/ended"
    mapfile -t options < <(host_options 1 "$server")
    start_guest "$server" "$patience" server "${options[@]}"
    for port in "${ports[@]}"; do
        until listening_here "$port" || ! kill -0 "${guest_qemu[$server]}" 2>/dev/null; do sleep 0.1; done
    done
    mapfile -t options < <(host_options 2 "$client")
    start_guest "$client" "$patience" client "${options[@]}"
    conduct "$server" "$client" </dev/null &
    conductor=$!
    finish_guest "$client"
    finish_guest "$server"
    wait "$conductor" || true
    grep -q '^started' "$server/control.out"
}

# report SIDE RUN: prints how its command ended, and sets $ended to its status, or 0 if it was ended by TERM.
report() {
    local how
    if how=$(guest_status "$2"); then
        ended=$how
        if [[ -e $2/ended ]]; then how="$how (ended by TERM)" ended=0; fi
        say "$1: exit status $how"
    elif [[ $1 == server && $may_go == yes ]]; then
        say "$1: its host is gone"
        ended=0
    else
        say "$1: the guest ended without an exit status"
        explain "$2"
        ended=125
    fi
}

# run_hosts COMMAND... -- COMMAND...: runs the server's and the client's command. Exits with the client's status or, if
# that is 0, the server's.
run_hosts() {
    local accel shared run server client commands=() ended status
    local netem=$netem grace=${RDMA_GRACE:-30} patience=${RDMA_BOOT_TIMEOUT:-120}
    until [[ $# -eq 0 || $1 == -- ]]; do
        commands+=("$1")
        shift
    done
    [[ ${#commands[@]} -gt 0 && $# -gt 1 ]] || { usage >&2; exit 125; }
    shift
    accel=$(choose_accel)
    shared=$(shared_folder)
    # The kernel calibrates the time stamp counter, which fails on a busy machine: a clock has run four times too fast.
    # Tests of faults on the wire depend on time, and this clock needs no calibration.
    [[ $accel == kvm || $guest_machine != x86_64 ]] || local RDMA_GUEST_APPEND="clocksource=acpi_pm ${RDMA_GUEST_APPEND:-}"
    # both guests share the CPUs
    export RDMA_GUEST_CPUS=${RDMA_GUEST_CPUS:-1}
    prepare_host 1 "$accel" "$shared" "${commands[@]}"
    server=$run
    prepare_host 2 "$accel" "$shared" "$@"
    client=$run
    say "two hosts: QEMU with $accel, $(guest_name)${netem:+, netem $netem}"
    forward_signals
    # two tries, as with one guest
    if ! boot_hosts $((patience / 4)) "$server" "$client"; then
        say "a guest did not boot: trying again"
        boot_hosts "$patience" "$server" "$client" || true
    fi
    report server "$server"
    status=$ended
    report client "$client"
    [[ $ended -eq 0 ]] || status=$ended
    exit "$status"
}
