# The guest's kernel: the distribution's package, downloaded and unpacked into a cache, never installed.
# shellcheck shell=bash disable=SC2154  # lib: the folder of this file, and what guest.sh sets

# Loaded at boot, with the one of the device. Others (veth, virtio_net, sch_netem ...) can be loaded with modprobe.
GUEST_MODULES=(virtio_pci virtio_console 9pnet_virtio 9p overlay dummy
    ib_core ib_uverbs rdma_cm rdma_ucm ib_umad)
# rdma_rxe of Linux 6.1 needs crc32_generic without declaring it; later kernels have no such module.
GUEST_MODULES_IF_THERE=(virtio_rng crc32_generic)

# The modules that are kept: a tenth of all.
KEPT_MODULES='kernel/(arch/(x86|arm64)/crypto|crypto|lib|net|fs/(9p|netfs|fscache|overlayfs|configfs)|drivers/(block/virtio|char/(hw_random|virtio_console)|infiniband|net/(dummy|veth|virtio_net|net_failover|macvlan|bonding)|virtio))'

# standard_kernel: prints the version of the distribution's own kernel. Debian names it by a package that depends on it;
# so does Ubuntu, whose cloud and minimal kernels lack InfiniBand as Debian's cloud kernel does.
standard_kernel() {
    local name
    for name in "linux-image-$(debian_name "$guest_machine")" linux-image-generic; do
        LC_ALL=C guest_apt apt-cache depends "$name" 2>/dev/null |
            sed -n 's/.*Depends: linux-image-\([0-9][^ ]*\)$/\1/p' | head -n 1 | grep . && return 0
    done
    return 1
}

# known_kernels: prints the versions that the package lists offer, the newest last. Kernels for clouds or real time,
# and what stands beside a kernel (debug symbols, unsigned images), have further words in their names.
known_kernels() {
    local names
    mapfile -t names < <(guest_apt apt-cache pkgnames linux-image- 2>/dev/null |
        grep -E "^linux-image-[0-9]+\.[0-9]+\.[0-9]+[^-]*(-[0-9]+)?-($(debian_name "$guest_machine")|generic)\$")
    [[ ${#names[@]} -gt 0 ]] || return 1
    # A name may be known only because another package mentions it.
    { guest_apt apt-cache show --no-all-versions "${names[@]}" 2>/dev/null || true; } |
        sed -n 's/^Package: linux-image-//p' | sort -V
}

# wanted_kernel: prints the version to use: the newest one of RDMA_KERNEL, or the standard one.
wanted_kernel() {
    [[ -n ${RDMA_KERNEL:-} ]] || { standard_kernel; return; }
    # 6.1 stands for 6.1.0-56-amd64, but not for 6.12.
    known_kernels | awk -v wanted="$RDMA_KERNEL" '
        index($0, wanted) == 1 && (length($0) == length(wanted) || substr($0, length(wanted) + 1, 1) ~ /[.+-]/) { last = $0 }
        END { if (last == "") exit 1; print last }'
}

# kernel_packages VERSION: prints the packages that hold it. Ubuntu, and Debian since 2026, keep modules apart.
kernel_packages() {
    echo "linux-image-$1"
    LC_ALL=C guest_apt apt-cache depends "linux-image-$1" 2>/dev/null |
        sed -nE 's/^ *Depends: (linux-(base|modules|binary)-[0-9].*)$/\1/p'
    ! guest_apt apt-cache show "linux-modules-extra-$1" >/dev/null 2>&1 || echo "linux-modules-extra-$1"
}

# extract_kernel IMAGE OUT: extracts the uncompressed kernel, which avoids the slow decompression in the guest.
extract_kernel() {
    local image=$1 out=$2 sectors offset length magic unpack
    if [[ $guest_machine == x86_64 ]]; then
        # See Documentation/arch/x86/boot.rst: setup_sects at 0x1f1, payload_offset and payload_length at 0x248.
        sectors=$(od -An -tu1 -j $((0x1f1)) -N 1 "$image")
        read -r offset length < <(od -An -tu4 -j $((0x248)) -N 8 "$image")
        offset=$((offset + (sectors + 1) * 512))
    elif [[ $(dd if="$image" bs=1 skip=4 count=4 status=none | tr -d '\0') == zimg ]]; then
        # An EFI program that unpacks the kernel: offset and length of the payload at 8.
        read -r offset length < <(od -An -tu4 -j 8 -N 8 "$image")
    else
        offset=0 length=$(stat -c %s "$image")
    fi
    magic=$(od -An -tx1 -j "$offset" -N 4 "$image" | tr -d ' ')
    case $magic in
        fd377a58) unpack=(xz -dc) ;;
        28b52ffd) unpack=(zstd -q -dc --long=31) ;;
        1f8b*) unpack=(gzip -dc) ;;
        4d5a*) unpack=(cat) ;; # the kernel itself, for aarch64
        *) say "kernel packed in an unknown way ($magic)"; return 1 ;;
    esac
    # On x86-64, all formats but gzip are followed by the unpacked size: four bytes that are not part of the stream.
    [[ $guest_machine != x86_64 || $magic == 1f8b* ]] || length=$((length - 4))
    dd if="$image" iflag=skip_bytes,count_bytes skip="$offset" count="$length" bs=1M status=none |
        "${unpack[@]}" >"$out"
    case $guest_machine in
        x86_64) [[ $(od -An -tx1 -N 4 "$out" | tr -d ' ') == 7f454c46 ]] ;;
        aarch64) [[ $(od -An -tx1 -j 56 -N 4 "$out" | tr -d ' ') == 41524d64 ]] ;;
    esac
}

# unpack_kernel FOLDER DEB...: leaves vmlinux and lib/modules/VERSION in FOLDER.
unpack_kernel() {
    local folder=$1 deb version
    shift
    for deb in "$@"; do
        dpkg-deb --fsys-tarfile "$deb" >"$folder/deb.tar" || return 1
        # Newer packages keep the modules under /usr. A package may have nothing but dependencies.
        tar -tf "$folder/deb.tar" | { grep -E \
            "^\./(boot/vmlinuz|(usr/)?lib/modules/[^/]*/(vmlinuz|modules\.(builtin|order)|$KEPT_MODULES.*\.ko))" ||
            true; } >"$folder/deb.files"
        tar -xf "$folder/deb.tar" -C "$folder" --no-same-owner -T "$folder/deb.files" || return 1
    done
    rm -f "$folder/deb.tar" "$folder/deb.files"
    if [[ -d $folder/usr/lib/modules ]]; then
        mkdir -p "$folder/lib" && cp -a "$folder/usr/lib/modules" "$folder/lib/" && rm -r "${folder:?}/usr"
    fi
    version=$(ls "$folder/lib/modules")
    find "$folder/lib/modules" -name '*.ko.zst' -exec zstd -q -d --rm {} +
    find "$folder/lib/modules" -name '*.ko.xz' -exec xz -d {} +
    depmod -b "$folder" "$version"
    # Debian's newer packages have the kernel beside its modules.
    for image in "$folder"/boot/vmlinuz-* "$folder/lib/modules/$version/vmlinuz"; do
        [[ ! -e $image ]] || { extract_kernel "$image" "$folder/vmlinux" && rm "$image"; } || return 1
    done
    [[ -e $folder/vmlinux ]] || return 1
    rm -rf "${folder:?}/boot"
    echo "$version" >"$folder/version"
}

# download_kernel VERSION: fills its folder.
download_kernel() {
    local packages fresh folder=$GUEST_CACHE/kernels/$guest_machine/$1
    [[ ! -e $folder/version ]] || return 0
    mapfile -t packages < <(kernel_packages "$1")
    say "downloading and unpacking ${packages[*]} (once, 70 to 120 MB)"
    mkdir -p "${folder%/*}"
    fresh=$(mktemp -d "$folder.XXXXXX")
    if ! download_packages "$fresh" "${packages[@]}" || ! unpack_kernel "$fresh" "$fresh"/*.deb; then
        rm -rf "$fresh"
        say "the kernel could not be downloaded or unpacked: ${packages[*]}"
        return 1
    fi
    rm -f "$fresh"/*.deb
    chmod 755 "$fresh"
    mv "$fresh" "$folder"
}

# fetch_kernel: downloads the wanted kernel if it is missing, and keeps its version in a file, because apt needs a second
# to tell it. When the package lists have changed, the version is determined again.
fetch_kernel() {
    local chosen version lists
    chosen=$(chosen_kernel)
    lists=$(guest_lists)
    if [[ -e $chosen && ! $lists -nt $chosen && -e $GUEST_CACHE/kernels/$guest_machine/$(<"$chosen")/version ]]; then
        return 0
    fi
    if ! version=$(wanted_kernel) && [[ ! -e $chosen ]]; then
        # A fresh machine has no package lists, and old lists may lack a kernel.
        refresh_lists || true
        if ! version=$(wanted_kernel); then
            version=$(known_kernels | sort -V | paste -sd ' ') || true
            if ! have apt-cache; then
                say "the kernel of a guest is a package of Debian or Ubuntu, and there is no apt here: use a device of" \
                    "this machine, or as root SoftRoCE (RDMA_WAY=rxe)"
            elif [[ -z $version ]]; then
                say "no kernel package is known here: run 'sudo apt-get update'"
            else
                say "${guest_suite:-this distribution} has no kernel${RDMA_KERNEL:+ $RDMA_KERNEL} for $guest_machine; it has $version"
            fi
            return 1
        fi
    fi
    if [[ -n $version ]] && download_kernel "$version"; then
        mkdir -p "${chosen%/*}"
        echo "$version" >"$chosen"
    elif [[ -e $chosen && -e $GUEST_CACHE/kernels/$guest_machine/$(<"$chosen")/version ]]; then
        # without a network, the one that is there
        touch "$chosen"
    else
        return 1
    fi
}

# chosen_kernel: prints the file that holds the version of the wanted kernel.
chosen_kernel() {
    echo "$GUEST_CACHE/chosen/${guest_suite:-here}-$guest_machine-${RDMA_KERNEL:-standard}"
}

# download_packages FOLDER NAME...: updates the package lists if the archive has newer versions.
download_packages() {
    local folder=$1
    shift
    # apt's sandbox user cannot access this folder.
    (cd "$folder" && guest_apt apt-get download -q -o APT::Sandbox::User=root "$@" >/dev/null 2>&1) && return 0
    refresh_lists || return 1
    (cd "$folder" && guest_apt apt-get download -q -o APT::Sandbox::User=root "$@" >/dev/null)
}

# build_initramfs: packs a static busybox, the modules in loading order, and our two scripts; sets guest_initramfs. The
# name of the file tells its content, because working copies with other scripts use the same cache.
build_initramfs() {
    local root version module busybox
    busybox=$(guest_busybox) || return 1
    guest_initramfs=$guest_kernel/initramfs-${RDMA_DEVICE:-rxe}-$(cat "$lib/kernel.sh" "$lib"/guest/* "$busybox" | cksum | tr ' ' -)
    [[ ! -e $guest_initramfs ]] || return 0
    find "$guest_kernel" -maxdepth 1 -name 'initramfs-*' -mtime +30 -delete

    version=$(<"$guest_kernel/version")
    root=$(mktemp -d "$guest_kernel/packing.XXXXXX")
    mkdir -p "$root"/{bin,modules,proc,sys,dev,lower,over,new,guest}
    cp "$busybox" "$root/bin/busybox"
    install -m 755 "$lib/guest/init" "$root/init"
    install -m 755 "$lib/guest/second-stage" "$root/second-stage"
    # shellcheck disable=SC2094  # removed, not read
    for module in "${GUEST_MODULES_IF_THERE[@]}" "${GUEST_MODULES[@]}" "$(soft_module)"; do
        modprobe -d "$guest_kernel" -S "$version" --show-depends "$module" 2>/dev/null ||
            [[ " ${GUEST_MODULES_IF_THERE[*]} " == *" $module "* ]] ||
            { say "kernel $version lacks the module $module${RDMA_DEVICE:+ (RDMA_DEVICE=$RDMA_DEVICE)}"; rm -rf "$root" "$root.modules"; return 1; }
    done >"$root.modules"
    # "insmod PATH" in the order needed, some of them many times; "builtin NAME" needs nothing.
    awk '$1 == "insmod" && !seen[$2]++ { print $2 }' "$root.modules" | while read -r module; do
        cp "$module" "$root/modules/"
        echo "/modules/${module##*/}"
    done >"$root/modules/order"
    rm "$root.modules"
    (cd "$root" && find . | cpio -o -H newc --quiet -R 0:0) >"$root.cpio" || return 1
    rm -rf "$root"
    mv "$root.cpio" "$guest_initramfs"
}

# guest_busybox: prints the path of a static busybox for the guest's processor.
guest_busybox() {
    if [[ $guest_machine == "$(uname -m)" ]]; then static_program busybox; else echo "$guest_root/usr/bin/busybox"; fi
}
