/* SPDX-License-Identifier: Apache-2.0 */
/* What a host says by USB/IP, on a port of the loopback that the process's number chooses. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/time.h>

#include "server_fuzz.h"

/* Listens on the first free port from one that other processes are unlikely to take. */
static struct server *listen_somewhere(struct usbdev *d, unsigned *port)
{
	struct server *s = NULL;
	char msg[256] = "";

	*port = 20000 + (unsigned)getpid() % 30000;
	for (int i = 0; i < 100 && !s; i++)
		s = usbip_listen(++*port, d, msg, sizeof msg);
	return s;
}

static bool work(void *server)
{
	struct server *s = server;

	s->ops->work(s);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct server *s;
	static struct usbdev *d;
	static unsigned port;
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	if (!s)
		fuzz_require((s = listen_somewhere(d = fuzz_card(), &port)), "a server");
	a.sin_port = htons((uint16_t)port);
	/* Closed at once, so that a million connections leave no ports waiting. */
	const struct linger at_once = { 1, 0 };
	int host = -1;
	/* The machine may be short of ports for a moment, and libFuzzer's clock interrupts: that is no finding. */
	for (int tries = 0; host < 0 && tries < 1000; tries++) {
		host = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		setsockopt(host, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
		if (!connect(host, (struct sockaddr *)&a, sizeof a))
			break;
		fuzz_require(errno == EADDRNOTAVAIL || errno == EINTR || errno == EAGAIN, strerror(errno));
		close(host);
		host = -1;
		usleep(1000);
	}
	fuzz_require(host >= 0, "a connection");
	fcntl(host, F_SETFL, O_NONBLOCK);
	fuzz_server(&(struct fuzz_host){ .work = work, .server = s, .d = d, .host = host }, data, size);
	return 0;
}
