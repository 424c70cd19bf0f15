# Debian and Ubuntu packages: installs what is missing, or says exactly what to run.
# shellcheck shell=bash

# What the programs need at run time, what the tests need besides, what the guest needs.
# shellcheck disable=SC2034  # read by the scripts that source this file
{
    PACKAGES_RUN=(libibverbs1 ibverbs-providers librdmacm1 iproute2 rdma-core)
    PACKAGES_TEST=(gcc libc6-dev libibverbs-dev librdmacm-dev rdmacm-utils ibverbs-utils)
    PACKAGES_BENCH=(perftest)
    PACKAGES_CROSS=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
    PACKAGES_GUEST=(qemu-system-x86 busybox-static cpio kmod zstd xz-utils iproute2)
}

# missing_packages NAME...: prints those that are not installed, one a line.
missing_packages() {
    have dpkg-query || { printf '%s\n' "$@"; return; }
    local name installed
    # One query for all of them, for a second run must not notice this step.
    installed=" $(dpkg-query -W -f '${db:Status-Status}=${Package} ' "$@" 2>/dev/null || true)"
    for name in "$@"; do
        [[ $installed == *" installed=$name "* ]] || printf '%s\n' "$name"
    done
}

# as_root COMMAND...: runs it as root when that takes no password; 126 when it would.
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

# install_packages NAME...: 0 when all of them are there at the end; the reason in one line when not.
install_packages() {
    local missing log
    mapfile -t missing < <(missing_packages "$@")
    [[ ${#missing[@]} -gt 0 ]] || return 0

    if ! have apt-get; then
        say "missing, install by this system's own means: ${missing[*]}"
        return 1
    fi
    if ! as_root true; then
        say "missing: run 'sudo apt-get update && sudo apt-get install -y ${missing[*]}'"
        return 1
    fi
    say "installing ${missing[*]}"
    log=$(mktemp)
    # The package lists may be absent or old: fetch them only when the first try fails.
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
