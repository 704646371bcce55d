#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Build the Debian packages of a tarball of `make dist`.
#
#   tools/deb.sh TARBALL VERSION DIR
#
# DIR gets a copy of the tree with tools/debian as its debian/, the packages that it builds,
# and SHA256SUMS of them. What the packages contain depends on the tarball alone. lintian reads
# them at the end. CONFIGS names the configurations whose simulators are packed (default w16).
# Exit status 2: a tool or a package is missing, or versions differ; 1: the build or lintian fails.
set -u
umask 022                      # the source package has the modes of the files

tarball=$(realpath "$1") version=$2
dir=$3

for tool in dpkg-buildpackage dh lintian; do
	command -v $tool >/dev/null || { echo "deb.sh: $tool is not there; run: tools/deps.sh firmware deb" >&2; exit 2; }
done
rm -rf "$dir"
mkdir -p "$dir"
dir=$(realpath "$dir")
tree=$dir/weft-$version
tar -xzf "$tarball" -C "$dir" || exit 1
cp "$tarball" "$dir/weft_$version.orig.tar.gz"
cp -r "$tree/tools/debian" "$tree/debian"
packaged=$(cd "$tree" && dpkg-parsechangelog -S Version) || exit 1
if [ "${packaged%-*}" != "$version" ]; then
	echo "deb.sh: tools/debian/changelog begins with version $packaged, the tree is $version" >&2
	exit 2
fi

# debhelper gives the build a home of its own; the compiler's cache stays where it is.
cache=$(ccache -k cache_dir 2>/dev/null) && export CCACHE_DIR=$cache
config=${XDG_CONFIG_HOME:-$HOME/.config}/ccache/ccache.conf
[ -f "$config" ] && export CCACHE_CONFIGPATH=$config
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

log=$dir/build.log
(cd "$tree" && DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-parallel=$(nproc)}" dpkg-buildpackage -us -uc) >"$log" 2>&1 || {
	tail -40 "$log" >&2
	echo "deb.sh: dpkg-buildpackage failed; all it said is in $log" >&2
	exit 1
}
rm -rf "$tree"
(cd "$dir" && sha256sum -- *.deb *.dsc *.tar.* >SHA256SUMS) || exit 1
# lintian leaves its indexes of ELF files behind in TMPDIR.
mkdir "$dir/lintian"
TMPDIR=$dir/lintian lintian --fail-on error,warning "$dir"/*.changes
status=$?
rm -r "$dir/lintian"
[ $status = 0 ] || {
	echo "deb.sh: lintian objects to what is in $dir" >&2
	exit 1
}
