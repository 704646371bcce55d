#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Check for the Debian packages that a build needs; install what is missing.
#
#   tools/deps.sh [lint] [formal] [firmware] [umockdev] [qemu] [emulator] [slurm] [fuzz] [clang] [deb]   the build's packages, and those named
#   tools/deps.sh --missing ...                         only print what is missing
#
# Each package is probed by a file or command that it brings, so that the same
# thing installed by other means counts, and a complete machine is not asked
# twice. Installing needs root: as root we install, otherwise sudo is used
# after consent. Exit status 2: something is missing and could not be had.
set -u

have() { command -v "$1" >/dev/null 2>&1; }

header() {
	for dir in /usr/include /usr/local/include "/usr/include/$(uname -m)-linux-gnu"; do
		[ -e "$dir/$1" ] && return 0
	done
	return 1
}

missing=
need() {
	package=$1
	shift
	"$@" || missing="$missing $package"
}

clang() { have clang || have clang-14; }
clangxx() { have clang++ || have clang++-14; }
sodium() { ls /usr/lib/*/libsodium.so.23 >/dev/null 2>&1; }
fuzzer() { ls /usr/lib/llvm-14/lib/clang/14*/lib/linux/libclang_rt.fuzzer-*.a >/dev/null 2>&1; }

only_print=
sets=
for arg in "$@"; do
	case $arg in
	--missing) only_print=1 ;;
	lint|formal|firmware|umockdev|qemu|emulator|slurm|fuzz|clang|deb) sets="$sets $arg" ;;
	*) echo "deps.sh: unknown argument '$arg' (lint, formal, firmware, umockdev, qemu, emulator, slurm, fuzz, clang, deb, --missing)" >&2; exit 2 ;;
	esac
done

need gcc have gcc
need g++ have g++
need libc6-dev header stdio.h
need clang clangxx
need verilator have verilator
need ccache have ccache
need pkg-config have pkg-config
need python3 have python3
need python3-venv python3 -c 'import ensurepip'
need zlib1g-dev header zlib.h
need libcmocka-dev header cmocka.h
need libcjson-dev header cjson/cJSON.h
need libpng-dev header png.h
need libjpeg-dev header jpeglib.h
need libprotobuf-c-dev header protobuf-c/protobuf-c.h
need protobuf-c-compiler have protoc-c
need libusb-1.0-0-dev header libusb-1.0/libusb.h
need parallel have parallel
need nettle-dev header nettle/sha2.h
need libusbredirparser-dev header usbredirparser.h
for set in $sets; do
	case $set in
	lint) need yosys have yosys ;;
	formal) need yosys have yosys-abc ;;
	firmware)
		need gcc-riscv64-unknown-elf have riscv64-unknown-elf-gcc
		need openssl have openssl ;;
	umockdev)
		need libsodium23 sodium
		need python3-cryptography-vectors test -d /usr/lib/python3/dist-packages/cryptography_vectors
		need libumockdev-dev header umockdev-1.0/umockdev.h
		need umockdev have umockdev-wrapper ;;
	clang)
		need clang clang ;;
	fuzz)
		need libclang-rt-14-dev fuzzer ;;
	deb)
		need dpkg-dev have dpkg-buildpackage
		need debhelper have dh
		need dh-python have pybuild
		need lintian have lintian
		need chrpath have chrpath
		need python3-setuptools /usr/bin/python3 -c 'import setuptools'
		need python3-wheel /usr/bin/python3 -c 'import wheel' ;;
	slurm)
		need slurm-wlm [ -x /usr/sbin/slurmctld ]
		need munge [ -x /usr/sbin/munged ] ;;
	emulator)
		need qemu-user have qemu-x86_64 ;;
	qemu)
		need qemu-system-x86 have qemu-system-x86_64
		need busybox-static have busybox
		need cpio have cpio
		need xz-utils have xz ;;
	esac
done

missing=${missing# }
if [ -n "$only_print" ]; then
	echo "$missing"
	exit 0
fi
[ -z "$missing" ] && exit 0

cure="apt-get install --no-install-recommends $missing"
if ! have apt-get; then
	echo "deps.sh: missing (names as in Debian): $missing" >&2
	exit 2
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
	if ! have sudo; then
		echo "deps.sh: packages are missing; as root run: $cure" >&2
		exit 2
	fi
	as_root="sudo -n"
	if [ "${CI:-}" != true ] && [ -t 0 ] && [ -t 2 ]; then
		printf 'Missing packages: %s\nInstall them now with "sudo %s"? [y/N] ' "$missing" "$cure" >&2
		read -r answer
		case $answer in
		y|Y|yes) as_root=sudo ;;
		*) echo "deps.sh: nothing installed; run: sudo $cure" >&2; exit 2 ;;
		esac
	elif ! sudo -n true 2>/dev/null; then
		echo "deps.sh: packages are missing; run: sudo $cure" >&2
		exit 2
	fi
fi

echo "Installing: $missing" >&2
# With sudo the variable has to cross over, hence env on the far side.
apt="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q"
if ! $apt update >&2 || ! $apt install -y --no-install-recommends $missing >&2; then
	echo "deps.sh: installing failed; as root run: apt-get update && $cure" >&2
	exit 2
fi
