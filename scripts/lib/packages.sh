# What the scripts need: programs, libraries and headers, whatever package they are in. What is missing is installed with
# apt if that is allowed, or the command that installs it is printed.
# shellcheck shell=bash

# For the programs at run time, for the tests, the benchmarks, cross compiling and the guest. A driver is a part of
# libibverbs.
# shellcheck disable=SC2034  # read by the scripts that source this file
{
    NEEDS_RUN=(library:libibverbs.so.1 library:librdmacm.so.1 driver:rxe program:ip program:rdma)
    NEEDS_TEST=(program:gcc header:stdio.h header:infiniband/verbs.h header:rdma/rdma_cma.h program:rping
        program:ibv_devinfo program:curl program:nc program:ps)
    NEEDS_BENCH=(program:ib_send_lat)
    NEEDS_CROSS=(program:aarch64-linux-gnu-gcc cross-header:stdio.h)
    NEEDS_GUEST=(static:busybox program:cpio program:modprobe program:zstd program:xz program:ip)
    # The root of another distribution: what a test or a script calls, rdma-core, and a compiler for the stand-ins.
    PACKAGES_ROOT=(base-files base-passwd bash coreutils dash debianutils diffutils findutils gawk grep gzip hostname
        sed tar mount util-linux procps netbase busybox-static iproute2 kmod curl netcat-traditional
        ibverbs-providers ibverbs-utils rdmacm-utils rdma-core perftest gcc libc6-dev libibverbs-dev librdmacm-dev)
    PACKAGES_ROOT_JDK=(openjdk-25-jdk-headless)
}

# The packages that have them: of Debian and Ubuntu, and of Fedora and its kin.
packages_of() { # NEED
    case $1 in
        library:libibverbs.so.1) echo libibverbs1 libibverbs ;;
        library:librdmacm.so.1) echo librdmacm1 librdmacm ;;
        driver:*) echo ibverbs-providers libibverbs ;;
        program:ip | program:rdma) echo iproute2 iproute ;;
        program:gcc) echo gcc gcc ;;
        header:stdio.h) echo libc6-dev glibc-devel ;;
        header:infiniband/verbs.h) echo libibverbs-dev rdma-core-devel ;;
        header:rdma/rdma_cma.h) echo librdmacm-dev rdma-core-devel ;;
        program:rping) echo rdmacm-utils librdmacm-utils ;;
        program:ibv_devinfo) echo ibverbs-utils libibverbs-utils ;;
        program:nc) echo netcat-traditional nmap-ncat ;;
        program:ps) echo procps procps-ng ;;
        program:ib_send_lat) echo perftest perftest ;;
        program:aarch64-linux-gnu-gcc) echo gcc-aarch64-linux-gnu gcc-aarch64-linux-gnu ;;
        cross-header:stdio.h) echo libc6-dev-arm64-cross sysroot-aarch64-fc-glibc ;;
        static:busybox) echo busybox-static busybox ;;
        program:modprobe) echo kmod kmod ;;
        program:xz) echo xz-utils xz ;;
        program:mvn) echo maven maven ;;
        program:qemu-system-x86_64) echo qemu-system-x86 qemu-system-x86 ;;
        program:qemu-system-aarch64) echo qemu-system-arm qemu-system-aarch64 ;;
        *) echo "${1#*:} ${1#*:}" ;;
    esac
}

# library_folders: prints where the dynamic linker looks.
library_folders() {
    local folders
    IFS=: read -r -a folders <<<"${LD_LIBRARY_PATH:-}"
    printf '%s\n' "${folders[@]}" /lib /lib64 /usr/lib /usr/lib64 /usr/local/lib /usr/local/lib64 /{usr/,}lib/*-linux-gnu*
}

# static_program NAME: prints its path. Ubuntu's and Debian's package "busybox" is dynamic; only busybox-static runs
# without libraries.
static_program() {
    local path
    for path in "/bin/$1" "/usr/bin/$1" "/usr/sbin/$1"; do
        if [[ -x $path ]] && ! ldd "$path" >/dev/null 2>&1; then
            echo "$path"
            return 0
        fi
    done
    return 1
}

# is_there NEED: looks for the file itself, with builtins of the shell: this must be fast if nothing is missing.
is_there() {
    local name=${1#*:} folder
    case $1 in
        program:*) have "$name" ;;
        library:*)
            while read -r folder; do [[ -z $folder || ! -e $folder/$name ]] || return 0; done < <(library_folders)
            # in a folder that is only in /etc/ld.so.conf
            have ldconfig && [[ $(ldconfig -p 2>/dev/null) == *"$name ("* ]]
            ;;
        driver:*)
            while read -r folder; do
                [[ -z $folder ]] || ! compgen -G "$folder/libibverbs/lib$name-*.so" >/dev/null || return 0
            done < <(library_folders)
            return 1
            ;;
        header:*) [[ -e /usr/include/$name || -e /usr/local/include/$name || -e ${CPATH:-/nonexistent}/$name ]] ;;
        cross-header:*) compgen -G "/usr/aarch64-*linux-gnu/*include/$name" >/dev/null ;;
        static:*) static_program "$name" >/dev/null ;;
    esac
}

# may_install: tells whether packages may be installed: by root, in continuous integration, or if --install asked for it.
may_install() { is_root || [[ ${CI:-} == true || ${RDMACM_INSTALL:-} == yes ]]; }

# as_root COMMAND...: runs it as root; returns 126 if that is not possible. A password is asked for only with --install.
as_root() {
    if is_root; then
        "$@"
    elif have sudo && sudo -n true 2>/dev/null; then
        sudo -n -- "$@"
    elif have sudo && [[ ${RDMACM_INSTALL:-} == yes && -t 2 ]]; then
        sudo -- "$@"
    else
        return 126
    fi
}

apt_install() {
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends "$@" </dev/null
}

# install_command PACKAGES OTHERS: prints what installs them here: the packages of Debian, or those of Fedora.
install_command() {
    if have apt-get; then
        echo "sudo apt-get update && sudo apt-get install -y $1"
    elif have dnf; then
        echo "sudo dnf install -y $2"
    else
        echo "the package manager of this system (in Debian they are in $1, in Fedora in $2)"
    fi
}

# require_all NEED...: succeeds if all are there at the end; prints what is missing and how to install it if not.
require_all() {
    local need package other missing=() packages=() others=() log command
    for need in "$@"; do
        is_there "$need" || missing+=("$need")
    done
    [[ ${#missing[@]} -gt 0 ]] || return 0
    for need in "${missing[@]}"; do
        read -r package other <<<"$(packages_of "$need")"
        [[ " ${packages[*]} " == *" $package "* ]] || packages+=("$package")
        [[ " ${others[*]} " == *" $other "* ]] || others+=("$other")
    done
    command=$(install_command "${packages[*]}" "${others[*]}")
    if ! have apt-get || ! may_install || ! as_root true; then
        say "missing: ${missing[*]//:/ }. Install with: $command"
        return 1
    fi
    say "installing ${packages[*]}"
    log=$(mktemp)
    # The package lists may be missing or old; they are fetched only if the first try fails.
    if apt_install "${packages[@]}" >"$log" 2>&1 ||
        { as_root apt-get update -q >"$log" 2>&1 </dev/null && apt_install "${packages[@]}" >>"$log" 2>&1; }; then
        rm -f "$log"
        return 0
    fi
    tail -n 5 "$log" >&2
    rm -f "$log"
    say "could not install them: try $command"
    return 1
}
