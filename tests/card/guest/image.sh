#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The guest's memory file system:
#
#   tests/card/guest/image.sh BUILD OUT.cpio TEST_SCRIPT FILE...
#
# busybox, BUILD/guest/weft and BUILD/guest/guest with their libraries, the
# kernel's modules, the script as /test, the files under their own names in /.
set -eu

build=$1 out=$2 script=$3
shift 3
root=$out.root
rm -rf "$root"
mkdir -p "$root/bin" "$root/lib" "$root/lib64" "$root/modules"
cp "$(command -v busybox)" "$root/bin/busybox"
for tool in sh mount insmod mkdir cmp cat sleep poweroff grep sed kill ifconfig; do
	ln -s busybox "$root/bin/$tool"
done
cp "$build/guest/weft" "$build/guest/guest" "$root/bin/"
strip "$root/bin/weft" "$root/bin/guest" 2>/dev/null || true
ldd "$build/guest/weft" | awk '$3 ~ /^\// { print $3 }' | while read -r lib; do
	cp -L "$lib" "$root/lib/"
done
cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64/"
cp "$build"/guest/kernel/*.ko "$root/modules/"
cp tests/card/guest/init "$root/init"
cp "$script" "$root/test"
chmod +x "$root/init"
for file in "$@"; do
	cp -r "$file" "$root/"
done
(cd "$root" && find . | cpio -o -H newc --quiet) >"$out"
rm -rf "$root"
