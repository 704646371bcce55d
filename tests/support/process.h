/* SPDX-License-Identifier: Apache-2.0 */
/* What a process of a test's uses, by /proc, and a connection to it. Each fails the test if it cannot be had. */
#ifndef WEFT_TESTS_PROCESS_H
#define WEFT_TESTS_PROCESS_H

#include <sys/types.h>

/* A line of /proc/PID/status that says KiB: "VmRSS:", "VmSize:". 0 if there is no such line. */
unsigned long process_kib(pid_t pid, const char *line);

/* Processor time of all its threads so far, user and system, in milliseconds. */
unsigned long process_ms(pid_t pid);

/* Processor time that it takes in the next second, in milliseconds. */
unsigned long process_ms_of_second(pid_t pid);

/* A descriptor that is connected to the stream socket at path; the caller closes it. */
int connect_unix(const char *path);

/* A descriptor that is connected to that port of this machine, on which somebody listens within two minutes; the caller closes it. */
int connect_port(unsigned port);

#endif
