# The files of a guest that is not this machine: of another distribution, or for another processor. A root made from
# packages, which are unpacked into the cache and not installed.
# shellcheck shell=bash disable=SC2154  # what guest.sh sets

# debian_name MACHINE: what Debian calls it.
debian_name() {
    case $1 in
        x86_64) echo amd64 ;;
        aarch64) echo arm64 ;;
        *) echo "$1" ;;
    esac
}

# guest_apt COMMAND...: runs a program of apt with the package lists that the guest's packages come from.
guest_apt() {
    if [[ -n $guest_suite ]]; then APT_CONFIG=$(suite_apt)/apt.conf "$@"; else "$@"; fi
}

# guest_lists: prints the folder of those lists.
guest_lists() { if [[ -n $guest_suite ]]; then echo "$(suite_apt)/lists"; else echo /var/lib/apt/lists; fi; }

# suite_apt: prints the folder of the suite's own configuration of apt, which ordinary users can update.
suite_apt() { echo "$GUEST_CACHE/apt/$guest_suite-$guest_machine"; }

refresh_lists() {
    if [[ -n $guest_suite ]]; then
        guest_apt apt-get update -q >/dev/null 2>&1
    else
        as_root apt-get update -q >/dev/null 2>&1
    fi
}

# machine_sources: prints the mirrors of this machine: URI, suffix of the suite (such as -security) or ".", component
# and origin, from whatever format its sources are written in.
machine_sources() {
    local site codename release component origin suffix
    # shellcheck disable=SC2016  # apt's own variables
    apt-get indextargets --format '$(SITE) $(CODENAME) $(RELEASE) $(COMPONENT) $(ORIGIN)' \
        'Created-By: Packages' "Architecture: $(dpkg --print-architecture)" |
        while read -r site codename release component origin; do
            # Without lists, apt does not know the code name.
            [[ $codename != '$'* ]] || codename=$release
            suffix=.
            [[ $codename != *-* ]] || suffix=-${codename#*-}
            [[ $origin =~ ^(Debian|Ubuntu)$ && $suffix =~ ^(\.|-updates|-security)$ ]] || continue
            # Debian's "unstable" is only itself.
            [[ $suffix == . || ! $guest_suite =~ ^(sid|unstable|experimental)$ ]] || continue
            echo "$site $suffix $component $origin"
        done | sort -u
}

# write_sources FOLDER: writes the list of sources of the suite: this machine's mirrors with another suite.
write_sources() {
    local site suffix component origin keyring sources
    sources=$(machine_sources)
    if [[ -z $sources ]]; then
        as_root apt-get update -q >/dev/null 2>&1 || true
        sources=$(machine_sources)
    fi
    [[ -n $sources ]] || { say "apt has no sources of Debian or Ubuntu here, so there is no $guest_suite"; return 1; }
    while read -r site suffix component origin; do
        keyring=/usr/share/keyrings/${origin,,}-archive-keyring.gpg
        [[ -e $keyring ]] || { say "missing: $keyring, of the package ${origin,,}-keyring or ${origin,,}-archive-keyring"; return 1; }
        echo "deb [signed-by=$keyring] $site $guest_suite${suffix#.} $component"
    done <<<"$sources" >"$1/sources.list"
}

# suite_lists: creates the suite's configuration of apt and fetches its package lists.
suite_lists() {
    local folder log
    folder=$(suite_apt)
    mkdir -p "$folder"/{lists/partial,cache/archives/partial}
    : >"$folder/status"
    write_sources "$folder" || return 1
    cat >"$folder/apt.conf" <<CONF
Dir::State "$folder";
Dir::State::status "$folder/status";
Dir::State::lists "$folder/lists";
Dir::Cache "$folder/cache";
Dir::Etc::sourcelist "$folder/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Architecture "$(debian_name "$guest_machine")";
APT::Architectures { "$(debian_name "$guest_machine")"; };
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
Acquire::Languages "none";
CONF
    log=$folder/update.log
    # Errors of the network are only warnings otherwise.
    if ! guest_apt apt-get update -q -o APT::Update::Error-Mode=any >"$log" 2>&1; then
        grep -E '^[EW]:' "$log" | head -n 3 >&2
        say "the package lists of $guest_suite ($guest_machine) could not be fetched from the mirrors of this machine"
        return 1
    fi
}

# fetch_root: makes the root in $guest_root if it is missing. It stays as it is until its folder is removed.
fetch_root() {
    local names=("${PACKAGES_ROOT[@]}") key folder fresh log
    # Another processor cannot use the JDK of this machine.
    [[ $guest_machine == "$(uname -m)" || -n ${RDMA_JDK:-} ]] || names+=("${PACKAGES_ROOT_JDK[@]}")
    key=$(cat "$lib/suite.sh" - <<<"${names[*]}" | cksum)
    [[ $(cat "$guest_root.key" 2>/dev/null) != "$key" ]] || return 0
    folder=$(suite_apt)
    log=$folder/download.log
    suite_lists || return 1
    say "making a root from packages of $guest_suite for $guest_machine (once, some 150 MB)"
    rm -f "$folder"/cache/archives/*.deb
    if ! guest_apt apt-get -y -q --download-only install "${names[@]}" >"$log" 2>&1; then
        grep -E '^E:|^ [a-z].*(Depends|but it)' "$log" | head -n 5 >&2
        say "the packages of $guest_suite could not be downloaded"
        return 1
    fi
    mkdir -p "${guest_root%/*}"
    fresh=$(mktemp -d "$guest_root.XXXXXX")
    if ! unpack_root "$fresh" "$folder"/cache/archives/*.deb; then
        rm -rf "$fresh"
        say "the packages of $guest_suite could not be unpacked"
        return 1
    fi
    rm -f "$folder"/cache/archives/*.deb
    chmod 755 "$fresh"
    rm -rf "$guest_root"
    mv "$fresh" "$guest_root"
    echo "$key" >"$guest_root.key"
}

# unpack_root FOLDER DEB...: unpacks the packages and does what little of their installation a guest needs.
unpack_root() {
    local folder=$1 deb name
    shift
    mkdir -p "$folder"/usr/{bin,sbin,lib,lib64} "$folder"/{dev,etc,proc,root,run,sys,tmp,var/tmp}
    for name in bin sbin lib lib64; do ln -s "usr/$name" "$folder/$name"; done
    for deb in "$@"; do
        dpkg-deb --fsys-tarfile "$deb" | tar -xf - -C "$folder" --no-same-owner --keep-directory-symlink \
            --exclude './usr/share/doc/*' --exclude './usr/share/man/*' --exclude './usr/share/locale/*' || return 1
    done
    for name in passwd group; do cp "$folder/usr/share/base-passwd/$name.master" "$folder/etc/$name"; done
    printf '127.0.0.1 localhost\n::1 localhost\n' >"$folder/etc/hosts"
    printf 'hosts: files\n' >"$folder/etc/nsswitch.conf"
    # what update-alternatives would link
    [[ -e $folder/usr/bin/awk ]] || ln -s gawk "$folder/usr/bin/awk"
    [[ -e $folder/usr/bin/nc ]] || ln -s nc.traditional "$folder/usr/bin/nc"
    [[ -e $folder/usr/bin/sh ]] || ln -s dash "$folder/usr/bin/sh"
}
