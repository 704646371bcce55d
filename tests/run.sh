#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Run cmocka programs and count their test cases.
#
#   tests/run.sh BUILD GOAL KIND/NAME...
#
# BUILD/tests/KIND/NAME is the program; GOAL (check, test, test-full) is named
# in the command that reruns a failure, and reaches the programs as WEFT_LEVEL
# so that they can choose their size. Environment:
#   JOBS     programs at a time, by default as many as there are cores
#   TIMEOUT  seconds that one program may take, default 1800
# The current directory is the project's root. Each program gets a TMPDIR of its
# own, removed behind it.
#
# Counting: cmocka's TAP lines. Cases that the plan promises and that never
# reported (crash, timeout) are failures, as is a program that exits non-zero
# without saying which case failed, or that runs no case at all, or that leaves
# a file or a socket behind.
set -u

build=$1 goal=$2
shift 2
timeout_s=${TIMEOUT:-1800}
jobs=${JOBS:-$(nproc)}
log_dir=$build/tests/log
mkdir -p "$log_dir"
rm -f "$build/tests/summary"

temp=$(mktemp -d "${TMPDIR:-/tmp}/weft-tests-XXXXXX") || exit 1
chmod 711 "$temp"   # a test that becomes another user still reaches its sockets in there
trap 'rm -rf "$temp"' EXIT
trap 'exit 130' INT TERM

export WEFT_LEVEL=$goal
export WEFT_BUILD=$build
export CMOCKA_MESSAGE_OUTPUT=TAP
export WEFT_BROKER=none        # the machine's broker, if it has one, is no test's business
export WEFT_CACHE=none         # what is tested is compiled, not found

# Prints: passed failed skipped
count() { # log status
	awk -v status="$2" '
		/^1\.\.[0-9]+/ { planned += substr($0, 4) + 0 }
		/^(not )?ok [0-9]+ # SKIP/ { skipped++; next }
		/^ok [0-9]+ - / { passed++ }
		/^not ok [0-9]+ - / { failed++ }
		END {
			lost = planned - passed - failed - skipped
			if (lost > 0) failed += lost
			if (status != 0 && failed == 0) failed = 1
			if (passed + failed + skipped == 0) failed = 1
			print passed + 0, failed + 0, skipped + 0
		}' "$1"
}

# Names skipped cases with the line printed just before, which says why.
skips() { # log
	awk '/^(not )?ok [0-9]+ # SKIP/ { print "    skipped: " $NF (why ? ": " why : "") }
		{ why = /^((not )?ok [0-9]|1\.\.|#)/ ? "" : $0 }' "$1"
}

run_one() { # kind/name
	local name=$1 log=$log_dir/${1//\//_}.log status start=$EPOCHREALTIME left
	local dir=$temp/${1//\//_}
	mkdir "$dir"
	TMPDIR=$dir timeout -k 10 "$timeout_s" "$build/tests/$name" >"$log" 2>&1 </dev/null
	status=$?
	local passed failed skipped word=pass seconds
	read -r passed failed skipped <<<"$(count "$log" $status)"
	left=$(ls -A "$dir" | tr '\n' ' ')
	rm -rf "$dir"
	if [ -n "$left" ] && [ "$failed" -eq 0 ]; then
		failed=1
		echo "left behind in TMPDIR: $left" >>"$log"
	fi
	seconds=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
	echo "$passed $failed $skipped" >"$log.count"
	if [ "$failed" -gt 0 ]; then
		word=FAIL
	elif [ "$passed" -eq 0 ]; then
		word=skip
	fi
	local text
	text=$(printf '%s  %-32s %d passed, %d failed, %d skipped, %s s' \
		$word "$name" "$passed" "$failed" "$skipped" "$seconds")
	if [ $word = FAIL ]; then
		text+=$'\n'$(sed 's/^/    /' "$log")
		[ $status -eq 124 ] && text+=$'\n'"    no end after $timeout_s s"
		[ $status -gt 128 ] && text+=$'\n'"    ended by signal $((status - 128))"
		text+=$'\n'"    again: make $goal T=$name${WEFT_SEED:+ SEED=$WEFT_SEED}${WEFT_N:+ N=$WEFT_N}"
	elif [ "$skipped" -gt 0 ]; then
		text+=$'\n'$(skips "$log")
	fi
	echo "$text"
}

for name in "$@"; do
	rm -f "$log_dir/${name//\//_}.log.count"
done
running=0
for name in "$@"; do
	if [ "$running" -ge "$jobs" ]; then
		wait -n
		running=$((running - 1))
	fi
	run_one "$name" &
	running=$((running + 1))
done
wait

passed=0 failed=0 skipped=0
for name in "$@"; do
	p=0 f=1 s=0
	[ -f "$log_dir/${name//\//_}.log.count" ] && read -r p f s <"$log_dir/${name//\//_}.log.count"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
echo "$passed passed, $failed failed, $skipped skipped" | tee "$build/tests/summary"
[ "$failed" -eq 0 ]
