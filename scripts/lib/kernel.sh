# The guest's kernel: the distribution's package, downloaded and unpacked into a cache, never installed.
# shellcheck shell=bash disable=SC2154  # lib: the folder of this file, set by who sources it

GUEST_CACHE=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/rdmacm/guest

# Loaded at boot. Others (veth, virtio_net, sch_netem ...) can be loaded with modprobe.
GUEST_MODULES=(virtio_pci virtio_console 9pnet_virtio 9p overlay dummy
    ib_core ib_uverbs rdma_cm rdma_ucm ib_umad rdma_rxe)
# rdma_rxe of Linux 6.1 needs crc32_generic without declaring it; later kernels have no such module.
GUEST_MODULES_IF_THERE=(virtio_rng crc32_generic)

# The modules that are kept: a tenth of all.
KEPT_MODULES='kernel/(arch/x86/crypto|crypto|lib|net|fs/(9p|netfs|fscache|overlayfs|configfs)|drivers/(block/virtio|char/(hw_random|virtio_console)|infiniband|net/(dummy|veth|virtio_net|net_failover|macvlan|bonding)|virtio))'

# Debian names the current kernel by a package that depends on it; so does Ubuntu, whose cloud and minimal
# kernels lack InfiniBand as Debian's cloud kernel does. Prints the packages to download, the image first.
kernel_packages() {
    local image
    image=$(LC_ALL=C apt-cache depends linux-image-amd64 2>/dev/null |
        sed -n 's/.*Depends: \(linux-image-[0-9][^ ]*\)$/\1/p' | head -n 1)
    if [[ -n $image ]]; then
        echo "$image"
        return 0
    fi
    image=$(LC_ALL=C apt-cache depends linux-image-generic 2>/dev/null |
        sed -n 's/.*Depends: \(linux-image-[0-9][^ ]*\)$/\1/p' | head -n 1)
    [[ -n $image ]] || return 1
    echo "$image"
    echo "${image/linux-image/linux-modules}"
    echo "${image/linux-image/linux-modules-extra}"
}

# extract_kernel BZIMAGE VMLINUX: extracts the uncompressed kernel, which avoids the slow decompression in the guest.
# See Documentation/arch/x86/boot.rst: setup_sects at 0x1f1, payload_offset and payload_length at 0x248.
extract_kernel() {
    local image=$1 out=$2 sectors offset length magic unpack
    sectors=$(od -An -tu1 -j $((0x1f1)) -N 1 "$image")
    read -r offset length < <(od -An -tu4 -j $((0x248)) -N 8 "$image")
    offset=$((offset + (sectors + 1) * 512))
    magic=$(od -An -tx1 -j "$offset" -N 4 "$image" | tr -d ' ')
    case $magic in
        fd377a58) unpack=(xz -dc) ;;
        28b52ffd) unpack=(zstd -q -dc --long=31) ;;
        1f8b*) unpack=(gzip -dc) ;;
        *) say "kernel packed in an unknown way ($magic)"; return 1 ;;
    esac
    # All formats but gzip are followed by the unpacked size: four bytes that are not part of the stream.
    [[ $magic == 1f8b* ]] || length=$((length - 4))
    dd if="$image" iflag=skip_bytes,count_bytes skip="$offset" count="$length" bs=1M status=none |
        "${unpack[@]}" >"$out"
    [[ $(od -An -tx1 -N 4 "$out" | tr -d ' ') == 7f454c46 ]]
}

# unpack_kernel FOLDER DEB...: leaves vmlinux and lib/modules/VERSION in FOLDER.
unpack_kernel() {
    local folder=$1 deb version
    shift
    for deb in "$@"; do
        dpkg-deb --fsys-tarfile "$deb" >"$folder/deb.tar"
        # Newer packages keep the modules under /usr.
        tar -tf "$folder/deb.tar" |
            grep -E "^\./(boot/vmlinuz|(usr/)?lib/modules/[^/]*/(modules\.(builtin|order)|$KEPT_MODULES.*\.ko))" |
            tar -xf "$folder/deb.tar" -C "$folder" -T - || return 1
    done
    rm -f "$folder/deb.tar"
    if [[ -d $folder/usr/lib/modules ]]; then
        mkdir -p "$folder/lib" && cp -a "$folder/usr/lib/modules" "$folder/lib/" && rm -r "${folder:?}/usr"
    fi
    version=$(ls "$folder/lib/modules")
    find "$folder/lib/modules" -name '*.ko.zst' -exec zstd -q -d --rm {} +
    find "$folder/lib/modules" -name '*.ko.xz' -exec xz -d {} +
    depmod -b "$folder" "$version"
    extract_kernel "$folder"/boot/vmlinuz-* "$folder/vmlinux" || return 1
    rm -r "${folder:?}/boot"
    echo "$version" >"$folder/version"
}

# fetch_kernel: fills $GUEST_CACHE/kernel if it is missing.
fetch_kernel() {
    local packages fresh
    [[ -e $GUEST_CACHE/kernel/version ]] && return 0
    # Only root can fetch the package lists, which a fresh machine does not have.
    if ! packages=$(kernel_packages) || ! apt-cache show "${packages%%$'\n'*}" >/dev/null 2>&1; then
        as_root apt-get update -q >/dev/null 2>&1 || true
        packages=$(kernel_packages) || {
            say "no kernel package is known here: run 'sudo apt-get update'"
            return 1
        }
    fi
    mapfile -t packages <<<"$packages"
    say "downloading and unpacking ${packages[*]} (once, some 70 MB)"
    fresh=$(mktemp -d "$GUEST_CACHE/kernel.XXXXXX")
    # apt's sandbox user cannot access this folder.
    if ! download_packages "$fresh" "${packages[@]}" || ! unpack_kernel "$fresh" "$fresh"/*.deb; then
        rm -rf "$fresh"
        say "the kernel could not be downloaded or unpacked: ${packages[*]}"
        return 1
    fi
    rm -f "$fresh"/*.deb
    chmod 755 "$fresh"
    rm -rf "$GUEST_CACHE/kernel"
    mv "$fresh" "$GUEST_CACHE/kernel"
}

# download_packages FOLDER NAME...: updates the package lists if the archive has newer versions.
download_packages() {
    local folder=$1
    shift
    (cd "$folder" && apt-get download -q -o APT::Sandbox::User=root "$@" >/dev/null 2>&1) && return 0
    as_root apt-get update -q >/dev/null 2>&1 || return 1
    (cd "$folder" && apt-get download -q -o APT::Sandbox::User=root "$@" >/dev/null)
}

# build_initramfs: packs a static busybox, the modules in loading order, and our two scripts.
build_initramfs() {
    local root version module busybox key
    busybox=$(static_busybox) || return 1
    key=$(cat "$GUEST_CACHE/kernel/version" "$lib/kernel.sh" "$lib"/guest/* "$busybox" | cksum)
    [[ $(cat "$GUEST_CACHE/initramfs.key" 2>/dev/null) != "$key" ]] || return 0

    version=$(<"$GUEST_CACHE/kernel/version")
    root=$(mktemp -d "$GUEST_CACHE/initramfs.XXXXXX")
    mkdir -p "$root"/{bin,modules,proc,sys,dev,lower,over,new}
    cp "$busybox" "$root/bin/busybox"
    install -m 755 "$lib/guest/init" "$root/init"
    install -m 755 "$lib/guest/second-stage" "$root/second-stage"
    # shellcheck disable=SC2094  # removed, not read
    for module in "${GUEST_MODULES_IF_THERE[@]}" "${GUEST_MODULES[@]}"; do
        modprobe -d "$GUEST_CACHE/kernel" -S "$version" --show-depends "$module" 2>/dev/null ||
            [[ " ${GUEST_MODULES_IF_THERE[*]} " == *" $module "* ]] ||
            { say "kernel $version lacks the module $module"; rm -rf "$root" "$root.modules"; return 1; }
    done >"$root.modules"
    # "insmod PATH" in the order needed, some of them many times; "builtin NAME" needs nothing.
    awk '$1 == "insmod" && !seen[$2]++ { print $2 }' "$root.modules" | while read -r module; do
        cp "$module" "$root/modules/"
        echo "/modules/${module##*/}"
    done >"$root/modules/order"
    rm "$root.modules"
    (cd "$root" && find . | cpio -o -H newc --quiet -R 0:0) >"$root.cpio" || return 1
    rm -rf "$root"
    # A guest that is starting may have the old file open, so replace it instead of overwriting it.
    mv "$root.cpio" "$GUEST_CACHE/initramfs"
    echo "$key" >"$GUEST_CACHE/initramfs.key"
}

static_busybox() {
    local path
    for path in /bin/busybox /usr/bin/busybox; do
        # Ubuntu's and Debian's package "busybox" is dynamic; only busybox-static runs without libraries.
        if [[ -x $path ]] && ! ldd "$path" >/dev/null 2>&1; then
            echo "$path"
            return 0
        fi
    done
    say "busybox is not static: run 'sudo apt-get install -y busybox-static'"
    return 1
}

# prepare_kernel: creates kernel and initramfs, under a lock because two with-rdma may run at once.
prepare_kernel() (
    mkdir -p "$GUEST_CACHE"
    exec {lock}>"$GUEST_CACHE/lock"
    flock "$lock"
    fetch_kernel && build_initramfs
)
