/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft farm on Dask: workers that it starts itself, and a scheduler with four workers on the loopback, one of
 * which is killed while it has a job. The report is that of GNU parallel. Processor times of both are printed. Dask
 * comes from PyPI into an environment of its own, or from that which WEFT_VENV names; without PyPI the test is
 * skipped, but fails where CI=true.
 *
 * Takes about half a minute; test-full, with 64 seeds, longer.
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
#include "tests/support/venv.h"

/* $D: the farms' folder, with a space and a newline in its name; $C: the cluster's. */
#define FARM "D=\"$TMPDIR/dask farms\n%%j\"; C=$TMPDIR/cluster; export DASK_TEMPORARY_DIRECTORY=$C; mkdir -p \"$D\"; F=\"$W/weft farm\"; "

static void need_dask(void)
{
	char venv[512], *path;

	test_venv(venv, sizeof(venv), "dask", "'dask==2026.*' 'distributed==2026.*'");
	path = realpath(venv, NULL);       /* the engine looks for python3 from another folder */
	assert_non_null(path);
	setenv("VENV", path, 1);
	free(path);
}

static int set_up(void **state)
{
	(void)state;
	return setenv("W", test_env("WEFT_BUILD", "build"), 1) || shell("mkdir $TMPDIR/cluster");
}

/* Ends the cluster's processes by their numbers. */
static int leave(void **state)
{
	(void)state;
	return shell("for p in $TMPDIR/cluster/*.process; do [ -e $p ] && kill -9 $(cat $p) 2>/dev/null; done; rm -rf \"$TMPDIR/cluster\" \"$TMPDIR\"/dask*farms*");
}

/* Both engines, in folders of their own: `options` are those of the second one. */
static void both(const char *name, const char *jobs, const char *options, const char *meanwhile)
{
	assert_int_equal(shell(FARM "touch \"$D/begun\" && $F \"$D/%s-here\" %s >\"$D/here.line\" && { %s PATH=$VENV/bin:$PATH $F \"$D/%s\" --engine dask %s %s >\"$D/there.line\"; } && "
	                       "diff \"$D/%s-here/report\" \"$D/%s/report\" && grep -q '^== job 1' \"$D/%s/report\" && ! ls \"$D/%s\" | grep aside && "
	                       "[ $(ls \"$D/%s\" | grep -c 'result$') = $(($(wc -l <\"$D/%s/times.tsv\") - 1)) ] && "
	                       "printf '%%s, GNU parallel: ' %s && tail -n 1 \"$D/here.line\" | cut -d';' -f1,2 && printf '%%s, Dask: ' %s && tail -n 1 \"$D/there.line\" | cut -d';' -f1,2",
	                       name, jobs, meanwhile, name, options, jobs, name, name, name, name, name, name, name, name), 0);
}

/* Workers on this machine. Each job's name has what a shell would take for its own. */
static void here(void **state)
{
	(void)state;
	need_dask();
	both("names", "each printf '<%s>' {} ::: 'a b' 'new\nline' 'q\"$HOME`id`*' '' '%%A %%a' '--wrap'", "--slots 2", "");
}

/* A scheduler and four workers. One is killed as soon as a job of its has begun: the job is run by another, and counts once. */
static void cluster(void **state)
{
	char jobs[512];

	(void)state;
	need_dask();
	assert_int_equal(shell(FARM "$VENV/bin/dask scheduler --host 127.0.0.1 --port 0 --scheduler-file $C/file --no-dashboard >$C/scheduler.log 2>&1 & "
	                       "echo $! >$C/scheduler.process; for _ in $(seq 600); do [ -s $C/file ] && break; sleep 0.1; done; [ -s $C/file ] || { cat $C/scheduler.log; exit 1; }; "
	                       "for n in 1 2 3 4; do $VENV/bin/dask worker --scheduler-file $C/file --nthreads 1 --no-nanny --no-dashboard --name w$n --local-directory $C/w$n "
	                       ">$C/w$n.log 2>&1 & echo $! >$C/w$n.process; done; "
	                       "$VENV/bin/python -c 'import sys; from distributed import Client; Client(scheduler_file=sys.argv[1]).wait_for_workers(4, 120)' $C/file"), 0);
	/* The first job writes down the processes above it, the command and the worker, and waits until they have been killed. */
	snprintf(jobs, sizeof(jobs), "seeds 1..%ld sh -c 'f=\"$0/begun\"; [ $WEFT_SEED != 1 ] || [ -e \"$f\" ] || { echo $PPID $(ps -o ppid= -p $PPID) >\"$f.new\"; mv \"$f.new\" \"$f\"; "
	         "sleep 60; }; echo $WEFT_SEED' \"$D\"", test_count(16, 64, 1000));
	both("campaign", jobs, "--scheduler $(sed -n 's/.*\"address\": *\"\\([^\"]*\\)\".*/\\1/p' $C/file | head -1)",
	     "rm \"$D/begun\"; ( for _ in $(seq 600); do [ -e \"$D/begun\" ] && { kill -9 $(cat \"$D/begun\") && touch \"$D/killed\"; break; }; sleep 0.1; done ) & ");
	assert_int_equal(shell(FARM "[ -e \"$D/killed\" ] && grep -qx 1 \"$D/campaign/report\""), 0);
}

static void refused_bad(void **state)
{
	(void)state;
	need_dask();
	assert_int_equal(shell(FARM "bad() { line=$1; shift; got=$(\"$@\" 2>&1); s=$?; [ $s = 3 ] && case $got in *\"$line\"*) true;; *) echo \"$s: $got\"; false;; esac; }; "
	                       "mkdir -p $C/empty && python3 -m venv --without-pip $C/empty && "
	                       "bad 'python3 has no dask' env PATH=$C/empty/bin:$PATH $F \"$D/none\" --engine dask each true ::: 1 && "
	                       "bad 'no scheduler answers at \"tcp://127.0.0.1:1\"' env PATH=$VENV/bin:$PATH $F \"$D/none\" --engine dask --scheduler tcp://127.0.0.1:1 each true ::: 1 && "
	                       "bad '1 of 2 jobs have no result' env PATH=$VENV/bin:$PATH $F \"$D/lost\" --engine dask --slots 1 each sh -c '[ $0 = good ] || kill -9 $PPID; echo $0' {} ::: good bad"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(here), cmocka_unit_test(cluster), cmocka_unit_test(refused_bad) };

	return cmocka_run_group_tests(tests, set_up, leave);
}
