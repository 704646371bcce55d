#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Print a sha256 of the compiled program of every model file of the data, a row for each
# configuration, so that two states of the compiler can be compared with diff.
#
#   tools/hash_programs.sh [WEFT [DATA]] > rows
#
# WEFT is the command (default build/weft), DATA the folder (default WEFT_DATA, or ../shared/data).
# A row is: configuration, file, sha256. Where a file is refused, the message takes the sha256's
# place. Environment: JOBS, files at a time (default: all cores); CONFIGS (default w4 w8 w8b w16 w32).
set -u

weft=$(realpath "${1:-build/weft}") || exit 2
data=$(realpath "${2:-${WEFT_DATA:-../shared/data}}") || exit 2
temp=$(mktemp -d "${TMPDIR:-/tmp}/weft-hash-XXXXXX") || exit 3
trap 'rm -rf "$temp"' EXIT

hash_one() { # weft temp config file
	local out=$2/$BASHPID.weft sum
	if message=$(timeout 600 "$1" compile "$4" --config "$3" -o "$out" 2>&1); then
		sum=$(sha256sum <"$out")
		sum=${sum%% *}
	else
		sum="refused: ${message//$'\n'/ | }"
	fi
	rm -f "$out"
	printf '%s\t%s\t%s\n' "$3" "$4" "$sum"
}
export -f hash_one

cd "$data" || exit 2
for config in ${CONFIGS:-w4 w8 w8b w16 w32}; do
	find . -name '*.tflite' -o -name '*.onnx' -o -name '*.tosa' | LC_ALL=C sort |
		xargs -d '\n' -P "${JOBS:-$(nproc)}" -I{} bash -c 'hash_one "$@"' _ "$weft" "$temp" "$config" {}
done | LC_ALL=C sort
