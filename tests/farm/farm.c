/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft farm with GNU parallel: reports in order, names with any byte in them, results that are kept, and
 * what is refused. Takes some seconds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/level.h"
#include "tests/support/shell.h"

/* $W: the command; $D: a folder of our own, whose name has spaces, a newline and letters that shells know. */
static int in_folder(void **state)
{
	(void)state;
	return setenv("W", test_env("WEFT_BUILD", "build"), 1) ||
	       shell("mkdir -p \"$TMPDIR/farm\" && cd \"$TMPDIR/farm\" && mkdir -p 'a b\n$(c)%%j*'") || setenv("N", "farm/a b\n$(c)%j*", 1);
}

static int leave(void **state)
{
	(void)state;
	return shell("rm -rf \"$TMPDIR/farm\"");
}

#define FARM "D=\"$TMPDIR/$N\"; F=\"$W/weft farm\"; "

/* The segments' reports, in order; together they compare what one run compares, but for the ten outputs, at which that looks once more. */
static void segments(void **state)
{
	(void)state;
	assert_int_equal(shell(FARM "$F \"$D/s\" segments tests/models/digits_int8.tflite --device model --check --jobs 4 >/dev/null && "
	                       "[ $(grep -c '0 mismatches' \"$D/s/report\") = 4 ] && tail -1 \"$D/s/report\" | grep -qx '== 4 jobs, 0 failed' && "
	                       "one=$($W/weft run tests/models/digits_int8.tflite --check --no-capture | sed -n 's/.* \\([0-9]*\\) elements.*/\\1/p' | head -1) && "
	                       "sum=$(sed -n 's/.* \\([0-9]*\\) elements compared.*/\\1/p' \"$D/s/report\" | awk '{ n += $1 } END { print n }') && [ \"$one\" = $((sum + 10)) ]"), 0);
}

/* Names reach the program as they are, and the report in one line each. */
static void names(void **state)
{
	(void)state;
	assert_int_equal(shell(FARM "nl='new\nline'; $F \"$D/n\" each printf '<%%s>' {} ::: 'a b' \"$nl\" 'q\"$HOME`id`*' '' '--job' >/dev/null && "
	                       "printf '%%s\\n' '== job 0: printf <%%s> a b: status 0' '<a b>' '== job 1: printf <%%s> new\\x0aline: status 0' '<new' 'line>' "
	                       "'== job 2: printf <%%s> q\"$HOME`id`*: status 0' '<q\"$HOME`id`*>' '== job 3: printf <%%s> : status 0' '<>' "
	                       "'== job 4: printf <%%s> --job: status 0' '<--job>' '== 5 jobs, 0 failed' | diff - \"$D/n/report\""), 0);
}

/* Seeds reach the program in its environment; a job that fails is counted, and the farm says so. */
static void seeds(void **state)
{
	(void)state;
	assert_int_equal(shell(FARM "$F \"$D/e\" seeds 5..7 sh -c 'echo $WEFT_SEED $WEFT_N; [ $WEFT_SEED != 6 ] || kill -9 $$' >/dev/null; [ $? = 1 ] && "
	                       "grep -q '== job 1: seed 6: .*: status 137' \"$D/e/report\" && grep -qx '== 3 jobs, 1 failed' \"$D/e/report\" && "
	                       "[ $(grep -cx '[567] 1' \"$D/e/report\") = 3 ]"), 0);
}

/* What has a result does not run again; what was killed without one does, and leaves nothing behind. */
static void goes_on(void **state)
{
	(void)state;
	assert_int_equal(shell(FARM "run() { $F \"$D/g\" each sh -c 'echo x >>\"$1/count\"; echo good' x \"$D\" ::: 1 2 3; }; run >/dev/null && "
	                       "cp \"$D/g/report\" \"$D/first\" && rm \"$D/g/1.result\" && touch \"$D/g/1.aside-abcdef\" && run >/dev/null && "
	                       "[ $(wc -l <\"$D/count\") = 4 ] && diff \"$D/first\" \"$D/g/report\" && ! ls \"$D/g\" | grep aside && "
	                       "run >/dev/null && [ $(wc -l <\"$D/count\") = 4 ]"), 0);
}

static void refused_bad(void **state)
{
	(void)state;
	assert_int_equal(shell(FARM "bad() { want=$1 line=$2; shift 2; got=$($W/weft farm \"$@\" 2>&1); s=$?; [ $s = $want ] && case $got in *\"$line\"*) true;; "
	                       "*) echo \"$s: $got\"; false;; esac; }; "
	                       "$F \"$D/o\" each true ::: 1 >/dev/null && "
	                       "bad 2 'it has the jobs of other words than these' \"$D/o\" each true ::: 2 && "
	                       "bad 2 'no folder is named' && bad 2 'which jobs? segments, seeds or each' \"$D/x\" && "
	                       "bad 2 'is not segments, seeds or each' \"$D/x\" all true && bad 2 'seeds FIRST..LAST' \"$D/x\" seeds 7..5 true && "
	                       "bad 2 'is not local, slurm or dask' \"$D/x\" --engine moon each true ::: 1 && bad 2 'each PROGRAM' \"$D/x\" each true && "
	                       "bad 2 '--jobs N' \"$D/x\" segments tests/models/digits_int8.tflite && bad 2 'there are 1' \"$D/o\" --job 7 && "
	                       "printf 'nothing' >\"$D/o/0.result\" && bad 2 'no result of a job' \"$D/o\" each true ::: 1 && "
	                       "printf '99999' >\"$D/o/jobs\" && bad 2 'no list of jobs' \"$D/o\" each true ::: 1"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments), cmocka_unit_test(names), cmocka_unit_test(seeds), cmocka_unit_test(goes_on), cmocka_unit_test(refused_bad),
	};

	return cmocka_run_group_tests(tests, in_folder, leave);
}
