# Debian and Ubuntu packages: installs what is missing, or prints the command that does.
# shellcheck shell=bash

# The packages for the programs at run time, for the tests, the benchmarks, cross compiling and the guest.
# shellcheck disable=SC2034  # read by the scripts that source this file
{
    PACKAGES_RUN=(libibverbs1 ibverbs-providers librdmacm1 iproute2 rdma-core)
    PACKAGES_TEST=(gcc libc6-dev libibverbs-dev librdmacm-dev rdmacm-utils ibverbs-utils curl
        netcat-traditional)
    PACKAGES_BENCH=(perftest)
    PACKAGES_CROSS=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
    PACKAGES_GUEST=(busybox-static cpio kmod zstd xz-utils iproute2)
    # The root of another distribution: what a test or a script calls, rdma-core, and a compiler for the stand-ins.
    PACKAGES_ROOT=(base-files base-passwd bash coreutils dash debianutils diffutils findutils gawk grep gzip hostname
        sed tar mount util-linux procps netbase busybox-static iproute2 kmod curl netcat-traditional
        ibverbs-providers ibverbs-utils rdmacm-utils rdma-core perftest gcc libc6-dev libibverbs-dev librdmacm-dev)
    PACKAGES_ROOT_JDK=(openjdk-25-jdk-headless)
}

# missing_packages NAME...: prints those that are not installed, one per line.
missing_packages() {
    have dpkg-query || { printf '%s\n' "$@"; return; }
    local name installed
    # One query for all of them, because this step must be fast if nothing is missing.
    installed=" $(dpkg-query -W -f '${db:Status-Status}=${Package} ' "$@" 2>/dev/null || true)"
    for name in "$@"; do
        [[ $installed == *" installed=$name "* ]] || printf '%s\n' "$name"
    done
}

# as_root COMMAND...: runs it as root if no password is needed; returns 126 otherwise.
as_root() {
    if is_root; then
        "$@"
    elif have sudo && sudo -n true 2>/dev/null; then
        sudo -n -- "$@"
    else
        return 126
    fi
}

apt_install() {
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends "$@" </dev/null
}

# install_packages NAME...: succeeds if all are installed at the end; prints the reason in one line if not.
install_packages() {
    local missing log
    missing=$(missing_packages "$@")
    [[ -n $missing ]] || return 0
    mapfile -t missing <<<"$missing"

    if ! have apt-get; then
        say "missing, install with the package manager of this system: ${missing[*]}"
        return 1
    fi
    if ! as_root true; then
        say "missing: run 'sudo apt-get update && sudo apt-get install -y ${missing[*]}'"
        return 1
    fi
    say "installing ${missing[*]}"
    log=$(mktemp)
    # The package lists may be missing or old; they are fetched only if the first try fails.
    if apt_install "${missing[@]}" >"$log" 2>&1 ||
        { as_root apt-get update -q >"$log" 2>&1 </dev/null && apt_install "${missing[@]}" >>"$log" 2>&1; }; then
        rm -f "$log"
        return 0
    fi
    tail -n 5 "$log" >&2
    rm -f "$log"
    say "could not install: run 'sudo apt-get update && sudo apt-get install -y ${missing[*]}'"
    return 1
}
