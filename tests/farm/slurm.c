/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft farm on a Slurm cluster: one controller and four nodes on the loopback (cluster.sh). A node is
 * killed while it has a job; the report is that of GNU parallel on this machine. Processor times and
 * times of both are printed. slurm-wlm and munge must be installed (make test T=farm/slurm sees to
 * that); without them the test is skipped.
 *
 * Takes about two minutes, in most of which Slurm waits for the node; test-full, with ResNet-50 in 16 segments and 64
 * seeds, longer.
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

/* $C: the cluster's folder; $D: the farms', with a space and a newline in its name. */
#define FARM "D=\"$TMPDIR/slurm farms\n%%j\"; C=$TMPDIR/cluster; mkdir -p \"$D\"; . $C/env; F=\"$W/weft farm\"; "

static int status_up;

static int up(void **state)
{
	(void)state;
	setenv("W", test_env("WEFT_BUILD", "build"), 1);
	status_up = shell("tests/farm/cluster.sh up $TMPDIR/cluster");
	return status_up && status_up != 77;
}

static int down(void **state)
{
	(void)state;
	return status_up ? 0 : shell("tests/farm/cluster.sh down $TMPDIR/cluster; rm -rf \"$TMPDIR/cluster\" \"$TMPDIR\"/slurm*farms*");
}

static void need_cluster(void)
{
	if (!status_up)
		return;
	printf("slurm-wlm and munge are not installed; make test T=farm/slurm does that\n");
	skip();
}

/*
 * The same jobs by both engines, in folders of their own; with a node to kill, that ends as soon as two
 * results are there and it has a job.
 */
static void both(const char *name, const char *jobs, const char *node)
{
	char kill[1024] = "true";

	if (node)
		snprintf(kill, sizeof(kill), "( for _ in $(seq 600); do [ $(ls \"$D/%s\" 2>/dev/null | grep -c result) -ge 2 ] && "
		         "[ -n \"$(squeue -h -t R -w %s)\" ] && { tests/farm/cluster.sh kill $C %s; touch \"$D/killed\"; break; }; sleep 0.1; done ) &", name, node, node);
	else
		snprintf(kill, sizeof(kill), "touch \"$D/killed\";");
	assert_int_equal(shell(FARM "rm -f \"$D/killed\"; $F \"$D/%s-here\" %s >\"$D/here.line\" && { %s $F \"$D/%s\" --engine slurm %s >\"$D/there.line\"; } && "
	                       "[ -e \"$D/killed\" ] && diff \"$D/%s-here/report\" \"$D/%s/report\" && grep -q '^== job 1' \"$D/%s/report\" && "
	                       "[ $(ls \"$D/%s\" | grep -c 'result$') = $(($(wc -l <\"$D/%s/times.tsv\") - 1)) ] && "
	                       "printf '%%s, GNU parallel: ' %s && tail -n 1 \"$D/here.line\" | cut -d';' -f1,2 && printf '%%s, Slurm: ' %s && tail -n 1 \"$D/there.line\" | cut -d';' -f1,2",
	                       name, jobs, kill, name, jobs, name, name, name, name, name, name, name), 0);
}

/* Each job's name has what a shell would take for its own. */
static void names(void **state)
{
	(void)state;
	need_cluster();
	both("names", "each printf '<%s>' {} ::: 'a b' 'new\nline' 'q\"$HOME`id`*' '' '%%A %%a' '--wrap'", NULL);
}

/*
 * The jobs of a farm that is there once more, on one node; the report is the same. Prints the efficiency of four nodes, which
 * is the jobs' processor time on one node by that on four.
 */
static void one_node(const char *name, const char *jobs)
{
	assert_int_equal(shell(FARM "$F \"$D/%s-one\" --engine slurm --sbatch --nodelist=n1 %s >\"$D/one.line\" && diff \"$D/%s/report\" \"$D/%s-one/report\" && "
	                       "printf '%%s, Slurm, one node: ' %s && tail -n 1 \"$D/one.line\" | cut -d';' -f1,2 && "
	                       "awk -F'\t' 'FNR == 1 { file++; next } { cpu[file] += $3 } END { printf \"%s: efficiency of four nodes against one, in processor time of jobs: %%.1f %%%%\\n\", "
	                       "100 * cpu[2] / cpu[1] }' \"$D/%s/times.tsv\" \"$D/%s-one/times.tsv\"",
	                       name, jobs, name, name, name, name, name, name), 0);
}

/* A run in segments: test-full, ResNet-50 in 16 of them. */
static void segments(void **state)
{
	const bool full = test_level() > 1;
	char jobs[1024];

	(void)state;
	need_cluster();
	if (!test_have_rtl("w16"))
		skip();
	if (full)
		assert_int_equal(shell("python3 -B tools/train/standard_nets.py $TMPDIR/nets >/dev/null"), 0);
	snprintf(jobs, sizeof(jobs), "segments %s --device rtl --check --jobs %d",
	         full ? "$TMPDIR/nets/resnet50_v1.5_224_int8.tflite" : "tests/models/digits_int8.tflite", full ? 16 : 4);
	both("segments", jobs, NULL);
	one_node("segments", jobs);
	assert_int_equal(shell("rm -rf $TMPDIR/nets"), 0);
}

/* A campaign of random graphs, in the middle of which a node is killed: what it had is requeued, and counts once. */
static void campaign(void **state)
{
	char jobs[512];

	(void)state;
	need_cluster();
	if (!test_have_rtl("w16"))
		skip();
	const long n = test_count(8, 16, 64);
	snprintf(jobs, sizeof(jobs), "seeds 1..%ld sh -c 'sleep 0.5; exec \"$0\"' %s/tests/cosim/random", n, test_env("WEFT_BUILD", "build"));
	both("campaign", jobs, "n2");
	assert_int_equal(shell(FARM "! grep 'not ok' \"$D/campaign/report\""), 0);
}

/* Jobs that Slurm ends without a result are submitted again; then the farm says which did not come. */
static void killed_bad(void **state)
{
	(void)state;
	need_cluster();
	/* Its first process kills the command that would write the result, the first time. */
	assert_int_equal(shell(FARM "$F \"$D/again\" --engine slurm each sh -c '[ -e \"$0/seen\" ] || { touch \"$0/seen\"; kill -9 $PPID; sleep 1; }; echo good' \"$D\" ::: 1 >\"$D/out\" 2>&1 && "
	                       "grep -q '1 of 1 jobs were ended without a result: submitted again' \"$D/out\" && grep -qx good \"$D/again/report\""), 0);
	assert_int_equal(shell(FARM "SLURM_CONF=/nonexistent $F \"$D/none\" --engine slurm each true ::: 1 >\"$D/out\" 2>&1; [ $? = 3 ] && grep -q 'sbatch: exit status 1' \"$D/out\""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names), cmocka_unit_test(segments), cmocka_unit_test(campaign), cmocka_unit_test(killed_bad),
	};

	return cmocka_run_group_tests(tests, up, down);
}
