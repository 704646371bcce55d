#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Build the Debian packages of a tarball once more, and compare them with those that are there.
#
#   tools/deb_check.sh TARBALL VERSION FIRST SECOND
#
# FIRST has what tools/deb.sh left; SECOND is made by it in other circumstances: folder, home, umask, time
# zone, language, number of jobs, and without the compiler's cache (CACHE=1: with it, which is quicker and
# shows less). Prints a line for each file of SHA256SUMS. Exit status 1: one differs, or the second build
# fails; 2: FIRST has no packages.
set -u

tarball=$1 version=$2 first=$3 second=$4

grep -q '[.]deb$' "$first/SHA256SUMS" 2>/dev/null || { echo "deb_check.sh: $first has no packages: make deb" >&2; exit 2; }
first=$(realpath "$first")
home=$(mktemp -d) || exit 1
trap 'rm -rf "$home"' EXIT
(
	umask 077
	export TZ=Asia/Kathmandu DEB_BUILD_OPTIONS=parallel=3
	if [ -n "${CACHE:-}" ]; then
		# The cache is found by the home, which is another one; and it tells languages apart.
		CCACHE_CONFIGPATH=${XDG_CONFIG_HOME:-$HOME/.config}/ccache/ccache.conf CCACHE_DIR=$(ccache -k cache_dir)
		export CCACHE_CONFIGPATH CCACHE_DIR
	else
		export CCACHE_DISABLE=1 LC_ALL=C LANG=C
	fi
	HOME=$home XDG_CONFIG_HOME=$home tools/deb.sh "$tarball" "$version" "$second"
) || exit 1

same=0 differ=0
while read -r sum name; do
	if [ "$(sed -n "s/^\([0-9a-f]*\)  ${name//./[.]}\$/\1/p" "$second/SHA256SUMS")" = "$sum" ]; then
		same=$((same + 1)) word=same
	else
		differ=$((differ + 1)) word=DIFFERS
	fi
	printf '%-8s %s  %s\n' $word "$sum" "$name"
done <"$first/SHA256SUMS"
[ "$(wc -l <"$first/SHA256SUMS")" = "$(wc -l <"$second/SHA256SUMS")" ] || { echo "deb_check.sh: one build made more files than the other" >&2; exit 1; }
echo "$same files are the same bytes in both builds, $differ differ"
[ $differ = 0 ]
