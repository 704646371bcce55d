#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Make a Python environment with packages from PyPI, once.
#
#   tools/venv.sh DIR PACKAGE...
#
# DIR is the environment's folder, made if it is not there, with the Python that PYTHON names (default: python3). The packages are installed only if
# the list differs from that of the last time. Exit status: 0; 77 if the packages cannot be had
# (no network); 1 for other failures.
set -u

dir=$1
shift
list="$*"
mkdir -p "$(dirname "$dir")" || exit 1
exec 9>"$dir.lock"             # several tests may ask for one environment at the same time
flock 9 || exit 1
[ -f "$dir/packages" ] && [ "$(cat "$dir/packages")" = "$list" ] && exit 0
if [ ! -x "$dir/bin/python" ]; then
	"${PYTHON:-python3}" -m venv "$dir" >&2 || exit 1
fi
if ! "$dir/bin/python" -m pip install -q --disable-pip-version-check --retries 1 "$@" >&2; then
	echo "venv: PyPI cannot be reached, or does not have: $list" >&2
	exit 77
fi
echo "$list" >"$dir/packages"
