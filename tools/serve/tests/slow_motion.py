# SPDX-License-Identifier: Apache-2.0
"""Lets a process have a part of one processor, no more: slow motion.

    slow_motion.py PID FACTOR

Until that process ends, or this one is ended, it gets at most one second of processor time in FACTOR seconds, all its threads
together: it is stopped (SIGSTOP) when it had more, and goes on when that is made up for. Time that it did not use is not saved,
but for CREDIT seconds. Beside cards whose clock is FACTOR times slower (weft-card --pace) it does what it would do at full
speed with one processor of its own; and a machine on which others work has the FACTORth part of a processor to spare more surely
than a whole one. Where it does not, the process is slower than it should be, never faster.
"""
import os
import signal
import sys
import time

CREDIT = 0.0005
LOOK = 0.002       #: seconds between two looks


def main(pid, factor):
    clock = ~pid << 3 | 2               # the processor time of a process, all threads (clock_getcpuclockid())
    had, at, owed, stopped = time.clock_gettime(clock), time.monotonic(), 0.0, False

    def end(*_):
        os.kill(pid, signal.SIGCONT)
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    while True:
        time.sleep(LOOK)
        try:
            has, now = time.clock_gettime(clock), time.monotonic()
            owed = max(owed + has - had - (now - at) / factor, -CREDIT)
            had, at = has, now
            if (owed > 0) != stopped:
                stopped = not stopped
                os.kill(pid, signal.SIGSTOP if stopped else signal.SIGCONT)
        except (OSError, ProcessLookupError):
            return


main(int(sys.argv[1]), float(sys.argv[2]))
