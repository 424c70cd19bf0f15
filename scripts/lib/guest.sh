# A QEMU guest that runs one command on this machine's own files.
# shellcheck shell=bash

# Everything of one run lies in one folder:
#   settings, command   what the guest is to do     control.in   signals for the command
#   out, err            what the command printed    control.out  "up", "started", "listening", "exit N"
#   console             the kernel's messages

guest_ready() {
    [[ $(uname -m) == x86_64 ]] || { say "the guest needs an x86-64 machine"; return 1; }
    install_packages "${PACKAGES_GUEST[@]}" || return 1
    prepare_kernel
}

# The same options for both: short boot, no search for hardware that is not there.
qemu_options() { # ACCEL RUN
    local accel=$1 run=$2
    if [[ $accel == kvm ]]; then
        printf '%s\n' -accel kvm -cpu host
    else
        # One thread for all CPUs: with one each, code that a JVM had just compiled was not always seen by the other
        # CPU, and the JVM crashed (once in some hundred starts). It costs little: the guest is seldom busy twice.
        printf '%s\n' -accel tcg,thread=single -cpu qemu64
    fi
    printf '%s\n' -M pc,hpet=off -nodefaults -no-user-config -no-reboot -display none \
        -smp "${RDMA_GUEST_CPUS:-2}" -m "${RDMA_GUEST_MEMORY:-2G}" \
        -kernel "$GUEST_CACHE/kernel/vmlinux" -initrd "$GUEST_CACHE/initramfs" \
        -append "console=ttyS0 quiet panic=-1 mitigations=off nopti tsc=reliable clocksource=tsc no_timer_check random.trust_cpu=on ${RDMA_GUEST_APPEND:-}" \
        -serial "file:$run/console" \
        -device virtio-serial-pci \
        -chardev "pipe,id=control,path=$run/control" -device virtserialport,chardev=control,name=control
}

guest_options() { # RUN SHARED
    local run=$1 shared=$2
    printf '%s\n' \
        -chardev "file,id=out,path=$run/out" -device virtserialport,chardev=out,name=out \
        -chardev "file,id=err,path=$run/err" -device virtserialport,chardev=err,name=err \
        -device virtio-rng-pci \
        -fsdev local,id=host,path=/,security_model=none,readonly=on,multidevs=remap \
        -device virtio-9p-pci,fsdev=host,mount_tag=host \
        -fsdev "local,id=run,path=$run,security_model=none,readonly=on" \
        -device virtio-9p-pci,fsdev=run,mount_tag=run
    [[ -z $shared ]] || printf '%s\n' \
        -fsdev "local,id=shared,path=${shared//,/,,},security_model=none,multidevs=remap" \
        -device virtio-9p-pci,fsdev=shared,mount_tag=shared
}

# /dev/kvm may be there and yet hang a guest (nested hosts): believed only after a kernel came up by it.
kvm_works() {
    [[ -r /dev/kvm && -w /dev/kvm ]] || return 1
    local boot known=$GUEST_CACHE/kvm run options answer=no
    boot=$(</proc/sys/kernel/random/boot_id)
    if [[ -e $known && $(<"$known") == "$boot "* ]]; then
        [[ $(<"$known") == "$boot yes" ]]
        return
    fi
    run=$(mktemp -d)
    mkfifo "$run/control.in"
    : >"$run/control.out"
    mapfile -t options < <(qemu_options kvm "$run")
    # Without the host's files the first stage fails and powers the guest off: it came up, that is all we ask.
    if timeout -k 1 5 qemu-system-x86_64 "${options[@]}" </dev/null >/dev/null 2>&1; then answer=yes; fi
    rm -rf "$run"
    echo "$boot $answer" >"$known"
    [[ $answer == yes ]]
}

choose_accel() {
    case ${RDMA_ACCEL:-} in
        kvm | tcg) echo "$RDMA_ACCEL" ;;
        '') if kvm_works; then echo kvm; else echo tcg; fi ;;
        *) die "RDMA_ACCEL=$RDMA_ACCEL: it is kvm or tcg" ;;
    esac
}

# Single quotes: understood by every shell.
quote() { printf "'%s' " "${1//\'/\'\\\'\'}"; }

shared_folder() {
    local folder
    folder=$(git rev-parse --show-toplevel 2>/dev/null) || folder=$PWD
    [[ $folder == / ]] || echo "$folder"
}

# write_down RUN SHARED ACCEL COMMAND...: what the guest's two scripts read.
write_down() {
    local run=$1 shared=$2 accel=$3 variable
    shift 3
    {
        echo "kernel=$(quote "$GUEST_CACHE/kernel")"
        echo "shared=$(quote "$shared")"
        echo "hostname=$(quote "$(uname -n)")"
        echo "host= netem="
    } >"$run/settings"
    # A class of the JDK takes 20 to 30 times longer to load in emulation, compiled code twice: the quick
    # compiler, the quick collector, and the class archive where it was meant to be.
    if [[ $accel == tcg && -z ${RDMACM_JAVA_OPTS+set} ]]; then
        export RDMACM_JAVA_OPTS="-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0"
    fi
    {
        printf 'cd %s\n' "$(quote "$PWD")"
        # A shell's background job ignores INT, and so would the command. Not busybox's env.
        printf 'exec /usr/bin/env -i --default-signal=INT,QUIT '
        while IFS= read -r -d '' variable; do
            case $variable in
                RDMA_RUNNER=* | RDMA_WAY=*) ;;
                *) quote "$variable" ;;
            esac
        done < <(env -0)
        for variable; do quote "$variable"; done
        echo
    } >"$run/command"
}

# relay FILE QEMU CONTROL [SIDE]: prints FILE as it grows, each line after "SIDE: ", until QEMU is gone. A file takes
# what the guest prints at once, so nothing is under way when the guest powers off; when nobody reads any more, the
# command is told as it would be by a pipe.
relay() {
    trap '' INT TERM HUP QUIT USR1 USR2
    local label=(cat)
    [[ -z ${4-} ]] || label=(sed -u "s/^/$4: /")
    tail -q -c +1 -s 0.1 -f --pid="$2" "$1" 2>/dev/null | "${label[@]}" || true
    ! kill -0 "$2" 2>/dev/null || echo PIPE >&"$3"
}

# watch_over RUN QEMU SECONDS: ends a guest that does not come up, or that does not go down after its command.
watch_over() {
    trap '' INT TERM HUP QUIT USR1 USR2
    local run=$1 qemu=$2 left=$3
    until grep -qE '^(up|started)' "$run/control.out"; do
        kill -0 "$qemu" 2>/dev/null || return 0
        if ((left-- <= 0)); then
            echo "with-rdma: not up in time" >>"$run/console"
            kill -KILL "$qemu"
            return 0
        fi
        sleep 1
    done
    until grep -q '^exit' "$run/control.out"; do
        kill -0 "$qemu" 2>/dev/null || return 0
        sleep 2
    done
    sleep 20
    kill -KILL "$qemu" 2>/dev/null || true
}

# All guests of this with-rdma, by their folders, and of each: QEMU, our end of the control line, who watches, who prints.
guests=()
declare -A guest_qemu=() guest_control=() guest_watch=() guest_relays=()

# forward SIGNAL NUMBER: to the commands; while one of them was not started yet, the end.
forward() {
    local run
    for run in "${guests[@]}"; do
        if ! grep -q '^started' "$run/control.out"; then
            say "ended by SIG$1 before the command was started"
            exit $((128 + $2)) # which ends the guests
        fi
    done
    for run in "${guests[@]}"; do
        echo "$1" >&"${guest_control[$run]}"
    done
}

forward_signals() {
    local signal
    for signal in HUP INT QUIT USR1 USR2 TERM; do
        # shellcheck disable=SC2064  # both to be expanded now
        trap "forward $signal $(kill -l "$signal")" "$signal"
    done
}

leave_guests() {
    local run job
    for run in "${guests[@]}"; do
        for job in "${guest_qemu[$run]:-}" "${guest_watch[$run]:-}"; do
            [[ -z $job ]] || { kill -KILL "$job" && wait "$job"; } 2>/dev/null || true
        done
        rm -rf "$run"
    done
}

# new_guest: a folder for one more guest, in $run.
new_guest() {
    local line
    run=$(mktemp -d)
    guests+=("$run")
    trap leave_guests EXIT
    mkfifo "$run/control.in"
    exec {line}<>"$run/control.in"
    guest_control[$run]=$line
}

# start_guest RUN SECONDS SIDE QEMU_OPTION...: without SIDE ("") its output is printed as it is.
start_guest() {
    local run=$1 patience=$2 side=$3 line=${guest_control[$1]} qemu
    shift 3
    : >"$run/control.out"
    : >"$run/out"
    : >"$run/err"
    # A session of its own, or a terminal's Ctrl-C would end QEMU; and it does not outlive us.
    setsid setpriv --pdeathsig KILL qemu-system-x86_64 "$@" </dev/null >"$run/qemu" 2>&1 {line}>&- &
    qemu=$!
    guest_qemu[$run]=$qemu
    relay "$run/out" "$qemu" "$line" "$side" </dev/null 2>/dev/null &
    guest_relays[$run]=$!
    relay "$run/err" "$qemu" "$line" "$side" </dev/null >&2 &
    guest_relays[$run]+=" $!"
    {
        watch_over "$run" "$qemu" "$patience"
        # Killed without a chance to tidy up.
        kill -0 $$ 2>/dev/null || rm -rf "$run"
    } </dev/null >/dev/null 2>&1 &
    guest_watch[$run]=$!
}

# finish_guest RUN: waits for its end.
finish_guest() {
    local relays
    # A signal ends a wait: go on as long as the guest does.
    until ! kill -0 "${guest_qemu[$1]}" 2>/dev/null; do wait "${guest_qemu[$1]}" 2>/dev/null || true; done
    read -r -a relays <<<"${guest_relays[$1]}"
    wait "${relays[@]}" || true
}

# guest_status RUN: prints the exit status of the command; fails when there is none.
guest_status() { sed -n 's/^exit //p' "$1/control.out" | grep .; }

# explain RUN: what a guest that ended without an answer has said. The first lines tell most, but those of a stack
# trace.
explain() { cat "$1/qemu" "$1/console" 2>/dev/null | grep -v '^\[[ 0-9.]*\]  ' | head -n 15 >&2 || true; }

# boot SECONDS QEMU_OPTION...: the guest of $run from start to end; 1 when it did not get as far as the command.
boot() {
    start_guest "$run" "$1" '' "${@:2}"
    finish_guest "$run"
    grep -q '^started' "$run/control.out"
}

run_guest() {
    local accel shared options more patience=${RDMA_BOOT_TIMEOUT:-120} run
    accel=$(choose_accel)
    shared=$(shared_folder)
    new_guest
    write_down "$run" "$shared" "$accel" "$@"
    mapfile -t options < <(qemu_options "$accel" "$run")
    mapfile -t more < <(guest_options "$run" "$shared")

    say "way guest: QEMU with $accel, kernel $(<"$GUEST_CACHE/kernel/version")"
    forward_signals
    # Once in some fifty times an emulated guest hangs before its kernel says a word: a second try, as
    # nothing was done yet. The first is given a quarter of the time, several times what it takes.
    if ! boot $((patience / 4)) "${options[@]}" "${more[@]}"; then
        say "the guest did not come up: another try"
        boot "$patience" "${options[@]}" "${more[@]}" || true
    fi
    if ! guest_status "$run" >/dev/null; then
        explain "$run"
        die "the guest ended without an answer"
    fi
    exit "$(guest_status "$run")"
}
