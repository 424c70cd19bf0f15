# Runs a command in a QEMU guest that sees the files of this machine.
# shellcheck shell=bash

# All files of a run are in one folder:
#   settings, command   what the guest has to do    control.in   signals for the command
#   out, err            what the command printed    control.out  "up", "started", "listening", "exit N"
#   console             the kernel's messages

GUEST_CACHE=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/rdmacm/guest
#   kernels/MACHINE/VERSION   a kernel, its modules and initramfs
#   roots/SUITE-MACHINE       the files of another distribution
#   apt/SUITE-MACHINE         its package lists
#   chosen/...                which kernel is used if none is named

# What the variables RDMA_... ask for, set by guest_ready.
guest_machine=''   # its processor, as uname prints it
guest_suite=''     # its distribution; empty if it has the files of this machine
guest_root=''      # their folder, if they are others
guest_kernel=''    # the folder of its kernel
guest_initramfs=''
guest_jdk=''       # a JDK for it, if its files are others

# guest_asked: tells whether a guest is asked for that is not like this machine.
guest_asked() { [[ -n ${RDMA_KERNEL:-}${RDMA_DISTRIBUTION:-}${RDMA_ARCHITECTURE:-} ]]; }

# choose_guest: reads the variables.
choose_guest() {
    case ${RDMA_ARCHITECTURE:-$(uname -m)} in
        x86_64 | x86-64 | amd64) guest_machine=x86_64 ;;
        aarch64 | arm64) guest_machine=aarch64 ;;
        *)
            say "the guest needs a machine with an x86-64 or aarch64 processor"
            return 1
            ;;
    esac
    guest_suite=${RDMA_DISTRIBUTION:-}
    # The files of this machine are for its own processor.
    [[ -n $guest_suite || $guest_machine == "$(uname -m)" ]] || guest_suite=sid
    [[ $guest_suite =~ ^([a-z][a-z0-9-]*)?$ ]] || die "RDMA_DISTRIBUTION=$guest_suite: must be the name of a suite, such as trixie"
    [[ ${RDMA_KERNEL:-} =~ ^([0-9][0-9A-Za-z.+~-]*)?$ ]] || die "RDMA_KERNEL=$RDMA_KERNEL: must be a version, such as 6.12"
    [[ -z $guest_suite ]] || guest_root=$GUEST_CACHE/roots/$guest_suite-$guest_machine
}

# guest_ready: downloads what is missing, under a lock because two with-rdma may run at once.
guest_ready() {
    local lock
    choose_guest || return 1
    require_all "program:qemu-system-$guest_machine" "${NEEDS_GUEST[@]}" || return 1
    mkdir -p "$GUEST_CACHE"
    exec {lock}>"$GUEST_CACHE/lock"
    flock "$lock"
    [[ -z $guest_root ]] || fetch_root || return 1
    fetch_kernel || return 1
    guest_kernel=$GUEST_CACHE/kernels/$guest_machine/$(<"$(chosen_kernel)")
    build_initramfs || return 1
    exec {lock}>&-
    [[ -z $guest_root ]] || choose_jdk
}

# choose_jdk: this machine's, or one that RDMA_JDK names, or the one that is among the packages.
choose_jdk() {
    local folder
    if [[ -n ${RDMA_JDK:-} ]]; then
        [[ -x $RDMA_JDK/bin/java ]] || die "RDMA_JDK=$RDMA_JDK: no JDK is there"
        guest_jdk=$RDMA_JDK
    elif [[ $guest_machine == "$(uname -m)" ]]; then
        guest_jdk=$(find_jdk 2>/dev/null) || true
    else
        for folder in "$guest_root"/usr/lib/jvm/*; do
            if [[ -x $folder/bin/java && ! -L $folder ]]; then guest_jdk=${folder#"$guest_root"}; fi
        done
    fi
}

# The options for all machines and accelerators: a short boot without probing for absent hardware.
qemu_options() { # ACCEL RUN
    local accel=$1 run=$2 words
    case $guest_machine in
        x86_64)
            printf '%s\n' -M pc,hpet=off
            [[ $accel == kvm ]] || printf '%s\n' -cpu qemu64
            words="console=ttyS0 nopti tsc=reliable clocksource=tsc no_timer_check"
            # QEMU 7.2 translates a library again wherever it lies at another address than before; QEMU 10 does not.
            [[ $accel == kvm ]] || words+=" norandmaps"
            ;;
        aarch64)
            if [[ $accel == kvm ]]; then printf '%s\n' -M virt,gic-version=host; else printf '%s\n' -M virt -cpu neoverse-n1; fi
            # Without the last two, starting a JVM takes several times as long in emulation.
            words="console=ttyAMA0 nokaslr kpti=off"
            ;;
    esac
    if [[ $accel == kvm ]]; then
        printf '%s\n' -accel kvm -cpu host
    else
        # One thread for all CPUs: with a thread per CPU, code that a JVM had just compiled was not always visible to
        # the other CPU, and the JVM crashed, once in some hundred starts. It costs little, unless there are two JVMs,
        # each of which keeps to a CPU of its own, as in the demo.
        printf '%s\n' -accel "tcg,thread=${RDMA_GUEST_THREADS:-single}"
    fi
    printf '%s\n' -nodefaults -no-user-config -no-reboot -display none \
        -smp "${RDMA_GUEST_CPUS:-2}" -m "${RDMA_GUEST_MEMORY:-2G}" \
        -kernel "$guest_kernel/vmlinux" -initrd "$guest_initramfs" \
        -append "$words quiet panic=-1 mitigations=off random.trust_cpu=on ${RDMA_GUEST_APPEND:-}" \
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

# /dev/kvm may exist and yet hang a guest (nested virtualization), so it is tested by booting a kernel.
kvm_works() {
    [[ -r /dev/kvm && -w /dev/kvm && $guest_machine == "$(uname -m)" ]] || return 1
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
    # Without the host's files the first stage fails and powers the guest off, which shows that it has booted.
    if timeout -k 1 5 "qemu-system-$guest_machine" "${options[@]}" </dev/null >/dev/null 2>&1; then answer=yes; fi
    rm -rf "$run"
    echo "$boot $answer" >"$known"
    [[ $answer == yes ]]
}

choose_accel() {
    [[ ${RDMA_GUEST_THREADS:-single} =~ ^(single|multi)$ ]] || die "RDMA_GUEST_THREADS=$RDMA_GUEST_THREADS: must be single or multi"
    case ${RDMA_ACCEL:-} in
        kvm | tcg) echo "$RDMA_ACCEL" ;;
        '') if kvm_works; then echo kvm; else echo tcg; fi ;;
        *) die "RDMA_ACCEL=$RDMA_ACCEL: must be kvm or tcg" ;;
    esac
}

# Single quotes, which every shell understands.
quote() { printf "'%s' " "${1//\'/\'\\\'\'}"; }

shared_folder() {
    local folder
    folder=$(git rev-parse --show-toplevel 2>/dev/null) || folder=$PWD
    [[ $folder == / ]] || echo "$folder"
}

# visible_folders: prints which of this machine's folders a guest with other files sees at the same paths: the libraries
# that Maven has downloaded, and the JDK.
visible_folders() {
    [[ -n $guest_root ]] || return 0
    local folder folders=()
    for folder in "${HOME:-/nonexistent}/.m2" "$guest_jdk"; do
        if [[ -n $folder && -d $folder ]]; then folders+=("$(quote "$folder")" "$(quote "$(readlink -f "$folder")")"); fi
    done
    echo "${folders[*]}"
}

# guest_name: prints what the guest is, for a message.
guest_name() {
    local version
    version="kernel $(<"$guest_kernel/version")"
    [[ -z $guest_suite ]] || version+=", $guest_suite"
    [[ $guest_machine == "$(uname -m)" ]] || version+=", $guest_machine"
    echo "$version"
}

# write_down RUN SHARED ACCEL COMMAND...: writes the files that the guest's scripts read.
write_down() {
    local run=$1 shared=$2 accel=$3 variable
    shift 3
    {
        echo "kernel=$(quote "$guest_kernel")"
        echo "root=$(quote "$guest_root")"
        echo "visible=$(quote "$(visible_folders)")"
        echo "shared=$(quote "$shared")"
        echo "hostname=$(quote "$(uname -n)")"
        echo "device=${RDMA_DEVICE:-rxe} host= netem="
    } >"$run/settings"
    [[ $accel != tcg ]] || export RDMACM_EMULATED=yes
    # In emulation, loading a JDK class takes 20 to 30 times longer. So use the fast compiler, only for what runs often,
    # the simple garbage collector, and the class archive at its preferred address, and do not verify other classes.
    if [[ $accel == tcg && -z ${RDMACM_JAVA_OPTS+set} ]]; then
        export RDMACM_JAVA_OPTS="-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0 -XX:-BytecodeVerificationRemote -XX:CompileThresholdScaling=10"
    fi
    {
        printf 'cd %s\n' "$(quote "$PWD")"
        # A background job of a shell ignores INT, and so would the command. busybox's env cannot change that.
        printf 'exec /usr/bin/env -i --default-signal=INT,QUIT '
        while IFS= read -r -d '' variable; do
            case $variable in
                RDMA_RUNNER=* | RDMA_WAY=* | RDMA_KERNEL=* | RDMA_DISTRIBUTION=* | RDMA_ARCHITECTURE=* | RDMA_DEVICE=*) ;;
                *) quote "$variable" ;;
            esac
        done < <(env -0)
        [[ -z $guest_jdk ]] || { quote "JAVA_HOME=$guest_jdk"; quote "PATH=$PATH:$guest_jdk/bin"; }
        for variable; do quote "$variable"; done
        echo
    } >"$run/command"
}

# relay FILE QEMU CONTROL [SIDE]: prints FILE as it grows, each line prefixed with "SIDE: ", until QEMU ends. The guest
# writes to a file, so that nothing is lost when it powers off; if our reader goes away, the command gets PIPE.
relay() {
    trap '' INT TERM HUP QUIT USR1 USR2
    local label=(cat)
    [[ -z ${4-} ]] || label=(sed -u "s/^/$4: /")
    tail -q -c +1 -s 0.1 -f --pid="$2" "$1" 2>/dev/null | "${label[@]}" || true
    ! kill -0 "$2" 2>/dev/null || echo PIPE >&"$3"
}

# watch_over RUN QEMU SECONDS: kills a guest that does not boot in time, or does not power off after its command.
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

# All guests by their folders, and for each: QEMU, our end of the control line, the watcher and the relays.
guests=()
declare -A guest_qemu=() guest_control=() guest_watch=() guest_relays=()

# forward SIGNAL NUMBER: passes a signal to the commands; exits if one of them has not started yet.
forward() {
    local run
    for run in "${guests[@]}"; do
        if ! grep -q '^started' "$run/control.out"; then
            say "ended by SIG$1 before the command was started"
            exit $((128 + $2)) # the EXIT trap ends the guests
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

# new_guest: creates the folder of another guest, in $run.
new_guest() {
    local line
    run=$(mktemp -d)
    guests+=("$run")
    trap leave_guests EXIT
    mkfifo "$run/control.in"
    exec {line}<>"$run/control.in"
    guest_control[$run]=$line
}

# start_guest RUN SECONDS SIDE QEMU_OPTION...: if SIDE is empty, its output is printed without a prefix.
start_guest() {
    local run=$1 patience=$2 side=$3 line=${guest_control[$1]} qemu
    shift 3
    : >"$run/control.out"
    : >"$run/out"
    : >"$run/err"
    # In a session of its own, or Ctrl-C in a terminal would end QEMU. It is killed when this script ends.
    setsid setpriv --pdeathsig KILL "qemu-system-$guest_machine" "$@" </dev/null >"$run/qemu" 2>&1 {line}>&- &
    qemu=$!
    guest_qemu[$run]=$qemu
    relay "$run/out" "$qemu" "$line" "$side" </dev/null 2>/dev/null &
    guest_relays[$run]=$!
    relay "$run/err" "$qemu" "$line" "$side" </dev/null >&2 &
    guest_relays[$run]+=" $!"
    {
        watch_over "$run" "$qemu" "$patience"
        # this script was killed and could not clean up
        kill -0 $$ 2>/dev/null || rm -rf "$run"
    } </dev/null >/dev/null 2>&1 &
    guest_watch[$run]=$!
}

# finish_guest RUN: waits until it has ended.
finish_guest() {
    local relays
    # A signal interrupts wait, so wait again until the guest has ended.
    until ! kill -0 "${guest_qemu[$1]}" 2>/dev/null; do wait "${guest_qemu[$1]}" 2>/dev/null || true; done
    read -r -a relays <<<"${guest_relays[$1]}"
    wait "${relays[@]}" || true
}

# guest_status RUN: prints the exit status of the command; fails if there is none.
guest_status() { sed -n 's/^exit //p' "$1/control.out" | grep .; }

# explain RUN: prints the first messages of a guest that ended without an exit status, without stack traces.
explain() { cat "$1/qemu" "$1/console" 2>/dev/null | grep -v '^\[[ 0-9.]*\]  ' | head -n 15 >&2 || true; }

# boot SECONDS QEMU_OPTION...: runs the guest of $run until it ends; fails if it did not start the command.
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

    say "way guest: QEMU with $accel, $(guest_name)"
    forward_signals
    # About one in fifty emulated guests hangs before its kernel prints anything, so there is a second try. The first
    # one gets a quarter of the time, which is still several times what it needs.
    if ! boot $((patience / 4)) "${options[@]}" "${more[@]}"; then
        say "the guest did not boot: trying again"
        boot "$patience" "${options[@]}" "${more[@]}" || true
    fi
    if ! guest_status "$run" >/dev/null; then
        explain "$run"
        die "the guest ended without an exit status"
    fi
    exit "$(guest_status "$run")"
}
