/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine Dask: a program of some lines in Python, which lies in the farm's folder, hands the numbers of the jobs
 * to Dask's scheduler, whose workers start `./weft farm . --job N` there.
 */
#include <stdio.h>
#include <string.h>

#include "farm.h"

#define NO_DASK 3              /* exit statuses of the program, which says more on its standard error */
#define NO_SCHEDULER 4

/*
 * A worker that dies is Dask's affair: another one runs the job, unless jobs' workers die again and again
 * (allowed-failures). A job that was ended without a result is tried again twice, as under Slurm.
 */
static const char program[] =
	"# Written by weft farm: runs the jobs whose numbers come on standard input on Dask's workers.\n"
	"#   python3 dask_farm.py ADDRESS SLOTS       ADDRESS \"\": workers of its own; SLOTS 0: as many as there are\n"
	"import itertools\n"
	"import os\n"
	"import subprocess\n"
	"import sys\n"
	"import tempfile\n"
	"\n"
	"# What happens to a job is said below, in one line.\n"
	"os.environ.setdefault('DASK_LOGGING__DISTRIBUTED', 'critical')\n"
	"try:\n"
	"    import dask\n"
	"    from distributed import Client, LocalCluster, as_completed\n"
	"except ImportError:\n"
	"    sys.exit(3)\n"
	"\n"
	"\n"
	"def run(folder, number):\n"
	"    status = subprocess.run(['./weft', 'farm', '.', '--job', number], cwd=folder, stdin=subprocess.DEVNULL).returncode\n"
	"    if status:\n"
	"        raise RuntimeError(f'job {number} was ended with status {status}')\n"
	"\n"
	"\n"
	"def follow(client, numbers, slots):\n"
	"    submit = lambda n: client.submit(run, os.getcwd(), n, pure=False, retries=2)\n"
	"    jobs = as_completed([submit(n) for n in itertools.islice(numbers, slots or None)])\n"
	"    for job in jobs:\n"
	"        if job.status == 'error':\n"
	"            print(f'weft: dask: {job.exception()}', file=sys.stderr)\n"
	"        for n in itertools.islice(numbers, 1):\n"
	"            jobs.add(submit(n))\n"
	"\n"
	"\n"
	"def main(address, slots):\n"
	"    numbers = iter([line.strip() for line in sys.stdin])\n"
	"    dask.config.set({'distributed.worker.memory.terminate': False})\n"
	"    if address:\n"
	"        try:\n"
	"            client = Client(address, timeout=30)\n"
	"        except (OSError, ValueError):\n"
	"            sys.exit(4)\n"
	"        with client:\n"
	"            return follow(client, numbers, slots)\n"
	"    with tempfile.TemporaryDirectory() as scratch, LocalCluster(\n"
	"            n_workers=slots or os.cpu_count(), threads_per_worker=1, dashboard_address=None, local_directory=scratch) as cluster:\n"
	"        with Client(cluster) as client:\n"
	"            follow(client, numbers, 0)\n"
	"\n"
	"\n"
	"if __name__ == '__main__':\n"
	"    main(sys.argv[1], int(sys.argv[2]))\n";

int engine_dask(const struct farm *f)
{
	const char *address = f->scheduler ? f->scheduler : "";
	char path[4096], slots[24];
	const char *const argv[] = { "python3", "dask_farm.py", address, slots, NULL };

	snprintf(slots, sizeof(slots), "%llu", (unsigned long long)f->slots);
	int status = write_file(farm_path(f, path, sizeof(path), "dask_farm.py"), (const uint8_t *)program, sizeof(program) - 1), ended;
	if (!status)
		status = engine_feed(f, argv, &ended);
	if (status >= 0)
		return status;
	if (ended == 127)
		return fail(EXIT_DEVICE, "python3 is not there");
	if (ended == NO_DASK)
		return fail(EXIT_DEVICE, "python3 has no dask: install Dask's packages dask and distributed, and have their python3 first in PATH");
	if (ended == NO_SCHEDULER)
		return fail(EXIT_DEVICE, "dask: no scheduler answers at \"%s\"", address);
	return fail(EXIT_DEVICE, "%zu of %zu jobs have no result (dask_farm.py's exit status is %d)", farm_missing(f), f->n, ended);
}
