# SPDX-License-Identifier: Apache-2.0
"""Lets a process have a part of one processor, no more: slow motion.

    slow_motion.py PID FACTOR

Until that process ends, or this one is ended, it gets at most one second of processor time in FACTOR seconds, all its threads
together: it is stopped (SIGSTOP) when it had more, and goes on when that is made up for. Time that it did not use is not saved,
but for CREDIT seconds. Beside cards whose clock is FACTOR times slower (weft-card --pace) it does what it would do at full
speed with one processor of its own; and a machine on which others work has the FACTORth part of a processor to spare more surely
than a whole one. Where it does not, the process is slower than it should be, never faster.

Stopping wakes each of its threads twice, which a process that is not stopped does not pay. So what a stop costs is found
first, of the process at rest, and is not counted. Prints "ready" when that is known; and at the end the seconds of processor time that
were not counted.
"""
import os
import signal
import sys
import time

CREDIT = 0.0005
LOOK = 0.002       #: seconds between two looks
STOPS = 50         #: of the process at rest


def cost_of_stop(pid, had):
    """Processor time of a stop, in seconds; had() is that of the process, which rests."""
    used = []
    for stop in False, True:
        begin = had()
        for _ in range(STOPS):
            if stop:
                os.kill(pid, signal.SIGSTOP)
            time.sleep(LOOK)
            os.kill(pid, signal.SIGCONT)
            time.sleep(LOOK)
        used.append(had() - begin)
    return max(used[1] - used[0], 0.0) / STOPS


def main(pid, factor):
    clock = ~pid << 3 | 2               # the processor time of a process, all threads (clock_getcpuclockid())

    def had():
        return time.clock_gettime(clock)

    cost, stops = cost_of_stop(pid, had), 0
    last, at, owed, stopped = had(), time.monotonic(), 0.0, False

    def end(*_):
        os.kill(pid, signal.SIGCONT)
        print(f"{stops * cost:.6f}", flush=True)
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    print("ready", flush=True)
    while True:
        time.sleep(LOOK)
        try:
            has, now = had(), time.monotonic()
            owed = max(owed + has - last - (now - at) / factor, -CREDIT)
            last, at = has, now
            if (owed > 0) != stopped:
                stopped = not stopped
                stops += stopped
                owed -= cost if stopped else 0
                os.kill(pid, signal.SIGSTOP if stopped else signal.SIGCONT)
        except (OSError, ProcessLookupError):
            return


main(int(sys.argv[1]), float(sys.argv[2]))
