#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Install packages in a throw-away layer over this system and run their own tests there.
#
#   tests/packages/autopkgtest.sh DIR
#
# DIR has the packages and their source, as make deb leaves them; what autopkgtest says is in
# DIR/autopkgtest. The layer lies in memory and goes with this process; the system beneath it
# stays as it is. Exit status: 0 all tests pass; 77 the layer cannot be mounted; 1 otherwise.
set -u

dir=$(realpath "$1")
if [ "${2:-}" != inside ]; then
	[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || exit 77
	exec unshare -m "$0" "$dir" inside
fi

layer=$(mktemp -d) || exit 1
trap 'umount -R -l "$layer" && rmdir "$layer"' EXIT
mount -t tmpfs none "$layer" || exit 77
mkdir "$layer/upper" "$layer/work" "$layer/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$layer/upper,workdir=$layer/work" "$layer/root" || exit 77
for place in proc dev sys; do
	mount --rbind "/$place" "$layer/root/$place" && mount --make-rslave "$layer/root/$place" || exit 77
done

rm -rf "$dir/autopkgtest"
autopkgtest --output-dir "$dir/autopkgtest" "$dir"/*.deb "$dir"/*.dsc -- chroot "$layer/root" >"$dir/autopkgtest.log" 2>&1
status=$?
cat "$dir/autopkgtest/summary" 2>/dev/null
[ $status = 0 ] && exit 0
tail -40 "$dir/autopkgtest.log"
exit 1
