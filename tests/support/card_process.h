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
	pid_t pid;                                     /* 0: it does not run */
	char path[108], where[120], device[128];       /* socket, "@socket", "usb:@socket" */
	char log[108];                                 /* a broker only: a file with what it says */
};

/* With --chip rtl an unsigned image, so that it answers soon. Answers already; ends with the test, also when that fails. Fails the test if it cannot be started. extra: more arguments, NULL at the end, or NULL. */
void card_process_start(struct card_process *c, const char *serial, char *const extra[]);
void card_process_stop(struct card_process *c);

/*
 * weft-broker with all of these cards, NULL at the end, in a folder that everyone may enter; *b is the broker's then. It
 * listens already, and has a card when its log says so. Stopping removes the log, and fails the test if the broker does not end
 * by itself with 0 and its socket gone.
 */
void broker_process_start(struct card_process *b, const struct card_process *const cards[], char *const extra[]);
void broker_process_stop(struct card_process *b);

/* A card and a broker in front of it, with more arguments for each. Stopping leaves out what does not run. */
void brokered_start(struct card_process *card, struct card_process *broker, char *const card_args[], char *const args[]);
void brokered_stop(struct card_process *card, struct card_process *broker);

/* A port of the loopback that nobody listens on. */
unsigned free_port(void);

/* weft with these arguments: its exit status and what it printed, both streams. */
int run_line(char *text, size_t len, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
