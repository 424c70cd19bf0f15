# Helpers for all scripts: messages, the current user, the PATH.
# shellcheck shell=bash

# Messages go to standard error, so that standard output belongs to the command that is run.
say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# die [STATUS] MESSAGE...: 125 stands for "the script itself failed", as with env, timeout and nohup.
die() {
    local status=125
    if [[ $1 =~ ^[0-9]+$ ]]; then status=$1; shift; fi
    say "$*"
    exit "$status"
}

is_root() { [[ $(id -u) -eq 0 ]]; }

have() { command -v "$1" >/dev/null 2>&1; }

# Where ip, rdma, modprobe and depmod are, which may be missing from the PATH of an ordinary user.
export PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
