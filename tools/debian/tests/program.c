/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user of the installed library writes: run a network of one input and one output once,
 * with zeros, on the Verilated RTL, and compare every tensor with golden.
 *
 *   program NET
 *
 * Prints the cycles. Exit status 1: it did not run, or something differs; one line says what.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

/* Runs it once. Returns 0, or a negative errno with msg. */
static int run(weft_session *s, const struct weft_port *port, char msg[WEFT_MSG_LEN])
{
	weft_tensor in = { .dtype = port->dtype, .rank = port->rank }, out = { 0 };
	struct weft_report *report = NULL;

	memcpy(in.dim, port->dim, sizeof(in.dim));
	in.data = calloc(1, weft_tensor_bytes(&in));
	snprintf(msg, WEFT_MSG_LEN, "out of memory");
	int rc = in.data ? weft_session_run(s, &in, &out, &report, msg) : -1;
	if (!rc) {
		printf("%llu cycles, %llu mismatches\n", (unsigned long long)report->cycles, (unsigned long long)report->mismatches);
		rc = report->mismatches || !report->cycles || !report->elements ? -1 : 0;
		snprintf(msg, WEFT_MSG_LEN, "not what golden has");
	}
	weft_report_free(report);
	weft_tensor_release(&out);
	free(in.data);
	return rc;
}

int main(int argc, char **argv)
{
	struct weft_session_options o = weft_session_options_default();
	char msg[WEFT_MSG_LEN] = "usage: program NET";
	struct weft_port port;
	weft_session *s = NULL;
	weft_net *net = NULL;

	o.device = WEFT_DEVICE_RTL;
	o.check = true;
	int rc = argc == 2 ? weft_net_load_file(argv[1], &net, msg) : -1;
	if (!rc)
		rc = weft_session_open(net, &o, &s, msg);
	if (!rc)
		rc = weft_net_input(net, 0, &port);
	if (!rc)
		rc = run(s, &port, msg);
	weft_session_close(s);
	weft_net_free(net);
	if (rc)
		fprintf(stderr, "program: %s\n", msg);
	return rc ? 1 : 0;
}
