#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Handwritten digits on the Verilated chip. int8: every image is shown, run cycle
# by cycle with every tensor compared with the golden model, and named. Then the
# same for int16x8 and float8, images not shown, and a table of the three: accuracy
# over all held-out images on the functional model, cycles of the RTL, file size.
#
#   O=build tools/demo.sh       from the project's root, after make
#
# Exit status 1: something differs, or fewer than 95 % are right.
set -u
set -o pipefail

weft=${O:-build}/weft
models=tests/models
least=95
tmp=$(mktemp -d) || exit 3
trap 'rm -rf "$tmp"' EXIT

# Reads the report in $1 and the image in $2, prints them side by side with the
# true label $3, unless $4 is "quiet". Appends to $tmp/cost: cycles, MACs on the
# NPU, all MACs. Exit status 1: tensors differ; 4: another digit is named.
show() {
	python3 - "$tmp/cost" "$@" <<'PYTHON'
import json, os, struct, sys, zlib

cost_file, report_file, image_file, label = sys.argv[1:5]
quiet = sys.argv[5:] == ["quiet"]


def gray_rows(file):
    """Rows of an 8-bit gray PNG without interlace."""
    data = open(file, "rb").read()
    at, packed = 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", body)
            assert (depth, colour, interlace) == (8, 0, 0), file
        if kind == b"IDAT":
            packed += body
        at += 12 + length
    raw, before, rows = zlib.decompress(packed), [0] * width, []
    for y in range(height):
        kind, *line = raw[y * (width + 1):(y + 1) * (width + 1)]
        for x in range(width):
            a, b = (line[x - 1] if x else 0), before[x]
            c = before[x - 1] if x else 0
            nearest = min((a, b, c), key=lambda v: abs(a + b - c - v))
            line[x] = (line[x] + (0, a, b, (a + b) // 2, nearest)[kind]) & 255
        rows.append(line)
        before = line
    return rows


def numbers_of(file):
    """Values of an .npy of int8, int16 or fp16."""
    data = open(file, "rb").read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    code = next(c for name, c in ((b"|i1", "b"), (b"<i2", "h"), (b"<f2", "e")) if name in data[:start])
    return struct.unpack("<%d%s" % ((len(data) - start) // struct.calcsize(code), code), data[start:])


report = json.load(open(report_file))
check = report["check"]
scores = numbers_of(report["outputs"][0]["file"])
named = max(range(len(scores)), key=lambda i: scores[i])
macs = {unit: sum(o["macs"] for o in report["ops"] if o["unit"] == unit) for unit in ("npu", "host")}
print(report["cycles"], macs["npu"], sum(macs.values()), file=open(cost_file, "a"))
text = [
    os.path.basename(image_file),
    "predicted %d, true label %s" % (named, label),
    "score %d of 255" % (scores[named] + 128),
    "%d cycles, utilization %.1f %%" % (report["cycles"], 100 * report["utilization"]),
    "%d tensors, %d elements compared: %d mismatches" % (check["tensors"], check["elements"], check["mismatches"]),
]
for y, row in enumerate([] if quiet else gray_rows(image_file)):
    art = "".join(" .:-=+*#%@"[v * 10 // 256] * 2 for v in row)
    print("  %s   %s" % (art, text[y - 1] if 0 < y <= len(text) else ""))
if not quiet:
    print(flush=True)
if check["mismatches"]:
    sys.exit(1)
sys.exit(0 if str(named) == label else 4)
PYTHON
}

# Every image through $1 on the RTL; sets right and count, $tmp/cost is new. $2: "quiet" or nothing.
run_images() {
	local image label
	right=0 count=0
	: >"$tmp/cost"
	for image in "$models"/digits/*_label[0-9].png; do
		label=${image##*label} label=${label%.png}
		count=$((count + 1))
		"$weft" run "$1" --device rtl --check -i "$image" -o "$tmp/out" --json >"$tmp/report" || {
			echo "demo: $1: $image: weft run ended with status $?" >&2
			status=1
			continue
		}
		show "$tmp/report" "$image" "$label" "${@:2}"
		case $? in
		0) right=$((right + 1)) ;;
		4) ;;
		*)
			echo "demo: $1: $image: tensors differ" >&2
			status=1
			;;
		esac
	done
	if [ "$count" -eq 0 ]; then
		echo 'demo: no image was run' >&2
		status=1
	fi
}

# The greatest number of cycles of the images, and how much of the work was the NPU's.
cost() {
	awk '$1 > cycles { cycles = $1 } { npu = $2; all = $3 }
	END {
		if (npu == 0) print "on the host"
		else printf "%d cycles%s\n", cycles, npu < all ? sprintf(", %d of %d MACs on the NPU", npu, all) : ""
	}' "$tmp/cost"
}

status=0
echo "$models/digits_int8.tflite on the RTL (w16), check of every tensor"
echo
rows=()
for mode in int8.tflite int16x8.tflite fp8.tosa; do
	model=$models/digits_$mode
	if [ "$mode" = int8.tflite ]; then
		run_images "$model"
	else
		run_images "$model" quiet
	fi
	line=$("$weft" accuracy "$model" "$models/digits_test_x.npy" "$models/digits_test_y.npy") || status=1
	awk -v least=$least '{ exit !($1 > 0 && 100 * $1 >= least * $3) }' <<<"$line" || {
		echo "demo: $model: fewer than $least % are right" >&2
		status=1
	}
	rows+=("$(printf '%-8s  %-27s %-9s %6d bytes  %s' "${mode%.*}" "$line" "$right of $count" "$(wc -c <"$model")" "$(cost)")")
done

printf '%-8s  %-27s %-9s %12s  %s\n' mode 'held out, functional model' PNGs file 'RTL, one image'
printf '%s\n' "${rows[@]}"
exit $status
