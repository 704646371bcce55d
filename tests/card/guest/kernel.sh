#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Debian's kernel for the guest, unpacked but not installed:
#
#   tests/card/guest/kernel.sh DIR     makes DIR/vmlinux and DIR/*.ko
#
# About 70 MB are fetched by apt-get download, or found where apt keeps packages.
# Exit status 2, one line: it could not be had.
set -eu

dir=$1
[ -e "$dir/vmlinux" ] && [ -e "$dir/e1000.ko" ] && exit 0

die() {
	echo "kernel.sh: $1" >&2
	exit 2
}

for tool in apt-get apt-cache dpkg-deb xz; do
	command -v $tool >/dev/null || die "$tool is not there"
done
package=$(apt-cache depends linux-image-amd64 2>/dev/null | awk '/Depends: linux-image/ { print $2; exit }')
[ -n "$package" ] || die "apt knows no linux-image-amd64; run apt-get update"
work=$dir.new
rm -rf "$work"
mkdir -p "$work/deb"
(cd "$work" && timeout 300 apt-get -q download "$package" >/dev/null 2>&1) || die "$package cannot be downloaded"
dpkg-deb --fsys-tarfile "$work"/linux-image-*.deb |
	tar -x -C "$work/deb" --wildcards './boot/vmlinuz-*' '*/usb/common/*' '*/usb/core/*' '*/usb/host/xhci*' '*/usb/usbip/*' '*/e1000/*'
rm -f "$work"/linux-image-*.deb
find "$work/deb" \( -name usb-common.ko -o -name usbcore.ko -o -name xhci-hcd.ko -o -name xhci-pci.ko \
	-o -name usbip-core.ko -o -name vhci-hcd.ko -o -name e1000.ko \) \
	-exec cp {} "$work" \;

# The xz stream inside vmlinuz: booted unpacked, it saves the guest two seconds of an emulated core.
python3 - "$work"/deb/boot/vmlinuz-* "$work/vmlinux" <<'PY' || die "the kernel is not packed with xz"
import lzma, sys
data = open(sys.argv[1], "rb").read()
at = data.find(b"\xfd7zXZ\0")
kernel = lzma.LZMADecompressor().decompress(data[at:]) if at > 0 else b""
if kernel[:4] != b"\x7fELF":
    sys.exit(1)
open(sys.argv[2], "wb").write(kernel)
PY
rm -rf "$work/deb"
rm -rf "$dir"
mv "$work" "$dir"
