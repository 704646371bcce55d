/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft-card as a process of its own, behind a socket; and commands whose output a
 * test reads.
 */
#ifndef WEFT_TESTS_CARD_PROCESS_H
#define WEFT_TESTS_CARD_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

struct card_process {
	pid_t pid;
	char path[108], where[120], device[128];       /* socket, "@socket", "usb:@socket" */
};

/* With --chip rtl an unsigned image, so that it answers soon. Answers already; ends with the test, also when that fails. Fails the test if it cannot be started. extra: more arguments, NULL at the end, or NULL. */
void card_process_start(struct card_process *c, const char *serial, char *const extra[]);
void card_process_stop(struct card_process *c);

/* weft-broker with that card, or all of these, NULL at the end, in a folder that everyone may enter; pid, path, where and device
 * are the broker's. It has the card when it says so; log: a file with what it says. Ends as a card does. */
void broker_process_start(struct card_process *b, const struct card_process *const cards[], const char *log, char *const extra[]);
void broker_process_stop(struct card_process *b);

/* A port of the loopback that nobody listens on. */
unsigned free_port(void);

/* weft with these arguments: its exit status and what it printed, both streams. */
int run_line(char *text, size_t len, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
