#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Handwritten digits on the Verilated chip: every image is shown, run cycle by
# cycle with every tensor compared with the golden model, and named; then the
# accuracy over all held-out images on the functional model.
#
#   O=build tools/demo.sh       from the project's root, after make
#
# Exit status 1: something differs, or fewer than 95 % are right.
set -u
set -o pipefail

weft=${O:-build}/weft
model=tests/models/digits_int8.tflite
least=95
tmp=$(mktemp -d) || exit 3
trap 'rm -rf "$tmp"' EXIT

# Reads the report in $1 and the image in $2, prints them side by side with the
# true label $3. Exit status 1: tensors differ; 4: another digit is named.
show() {
	python3 - "$@" <<'PYTHON'
import array, json, os, struct, sys, zlib

report_file, image_file, label = sys.argv[1:4]


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


def int8_of(file):
    """Values of an int8 .npy."""
    data = open(file, "rb").read()
    return array.array("b", data[10 + struct.unpack("<H", data[8:10])[0]:])


report = json.load(open(report_file))
check = report["check"]
scores = int8_of(report["outputs"][0]["file"])
named = max(range(len(scores)), key=lambda i: scores[i])
text = [
    os.path.basename(image_file),
    "predicted %d, true label %s" % (named, label),
    "score %d of 255" % (scores[named] + 128),
    "%d cycles, utilization %.1f %%" % (report["cycles"], 100 * report["utilization"]),
    "%d tensors, %d elements compared: %d mismatches" % (check["tensors"], check["elements"], check["mismatches"]),
]
for y, row in enumerate(gray_rows(image_file)):
    art = "".join(" .:-=+*#%@"[v * 10 // 256] * 2 for v in row)
    print("  %s   %s" % (art, text[y - 1] if 0 < y <= len(text) else ""))
print(flush=True)
if check["mismatches"]:
    sys.exit(1)
sys.exit(0 if str(named) == label else 4)
PYTHON
}

status=0 right=0 count=0
echo "$model on the RTL (w16), check of every tensor"
echo
for image in tests/models/digits/*_label[0-9].png; do
	label=${image##*label} label=${label%.png}
	count=$((count + 1))
	"$weft" run "$model" --device rtl --check -i "$image" -o "$tmp/out" --json >"$tmp/report" || {
		echo "demo: $image: weft run ended with status $?" >&2
		status=1
		continue
	}
	show "$tmp/report" "$image" "$label"
	case $? in
	0) right=$((right + 1)) ;;
	4) ;;
	*) status=1 ;;
	esac
done
if [ "$count" -eq 0 ]; then
	echo 'demo: no image was run' >&2
	status=1
fi

echo "On the RTL: $right of $count digits named right."
echo -n 'Held-out images on the functional model: '
line=$("$weft" accuracy "$model" tests/models/digits_test_x.npy tests/models/digits_test_y.npy) || status=1
echo "$line"
awk -v least=$least '{ exit !($1 > 0 && 100 * $1 >= least * $3) }' <<<"$line" || {
	echo "demo: fewer than $least % are right" >&2
	status=1
}
exit $status
