/* SPDX-License-Identifier: Apache-2.0 */
/*
 * weft-broker: cards that many processes use at once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "broker.h"
#include "tools/card/redir_conn.h"

#define FDS_FIRST 3            /* the first descriptor that systemd hands over */
#define FDS_MAX 8
#define CLIENTS_MAX 1024
/* Descriptors that the broker and libusb need besides one for each client. */
#define FDS_BESIDE 64

static const char usage[] =
	"usage: weft-broker --listen SOCKET [options]\n\n"
	"Owns cards and lets many processes use them at once, each as if it had one of its own:\n"
	"weft run MODEL --device usb:@SOCKET. A socket that systemd hands over is used as well.\n\n"
	"  --listen SOCKET     serve clients on this Unix socket\n"
	"  --card SERIAL       serve this card (@SOCKET: a simulated one); repeatable; without it\n"
	"                      all that are plugged in and free\n"
	"  --memory MIB        card memory of one client (default: as much as its card has)\n"
	"  --clients N         at most so many at a time (default 64)\n"
	"  --job-seconds N     a job that keeps the card longer is stopped (default 60)\n"
	"  --handshake-ms N    a connection that has not said who it is goes (default 5000)\n"
	"  --admin-group NAME  members administer cards (default weft-admin, if it is there; root may)\n"
	"  --group NAME        members may connect: the socket of --listen is theirs\n"
	"  --user NAME         started as root: become this user once the sockets are open\n"
	"  --verbose           say who comes and goes, and which streams are refused\n";

/* Writes a line with `text` in the format to stderr. Returns 2, the exit status for a wrong command line. */
static int bad(const char *format, const char *text)
{
	fprintf(stderr, "weft-broker: ");
	fprintf(stderr, format, text);
	fputc('\n', stderr);
	return 2;
}

/* ---- options ---- */

/*
 * Sets *out to the number v of option `name`, which must be a decimal number from `least` to `most`. Returns 0,
 * or 2 after a line on stderr.
 */
static int number(const char *name, const char *v, unsigned long least, unsigned long most, unsigned long *out)
{
	char *end;

	errno = 0;
	*out = strtoul(v, &end, 10);
	if (v[0] >= '0' && v[0] <= '9' && !*end && !errno && *out >= least && *out <= most)
		return 0;
	fprintf(stderr, "weft-broker: %s: \"%s\" is not %lu to %lu\n", name, v, least, most);
	return 2;
}

struct arguments { struct broker_options o; const char *group; };

/* Takes one option (its letter) with its value v into *a. Returns 0, or 2 after a line on stderr. */
static int take(struct arguments *a, int opt, const char *v)
{
	struct broker_options *o = &a->o;
	unsigned long n = 0;
	int err = 0;

	switch (opt) {
	case 'l': o->listen = v; return 0;
	case 'c':
		if (o->n_cards == BROKER_CARDS)
			return bad("--card: \"%s\" is one too many", v);
		o->cards[o->n_cards++] = strncmp(v, "usb:", 4) ? v : v + 4;
		return 0;
	case 'm':
		err = number("--memory", v, 1, 4095, &n);
		o->memory = (uint64_t)n << 20;
		return err;
	case 'n':
		err = number("--clients", v, 1, CLIENTS_MAX, &n);
		o->clients = (unsigned)n;
		return err;
	case 'j':
		err = number("--job-seconds", v, 1, 86400, &n);
		o->job_ms = (unsigned)n * 1000;
		return err;
	case 't':
		err = number("--handshake-ms", v, 1, 3600000, &n);
		o->handshake_ms = (unsigned)n;
		return err;
	case 'a': o->admin_group = v; return 0;
	case 'g': a->group = v; return 0;
	case 'u': o->user = v; return 0;
	case 'v': o->verbose = true; return 0;
	case ':': return bad("%s wants a value", v);
	default:  return bad("option %s is not known; see --help", v);
	}
}

/*
 * Takes all options of the command line into *a; --help prints the usage and exits. Returns 0, or 2 after a
 * line on stderr.
 */
static int parse(struct arguments *a, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "listen", 1, NULL, 'l' }, { "card", 1, NULL, 'c' }, { "memory", 1, NULL, 'm' }, { "clients", 1, NULL, 'n' },
		{ "job-seconds", 1, NULL, 'j' }, { "handshake-ms", 1, NULL, 't' }, { "admin-group", 1, NULL, 'a' },
		{ "group", 1, NULL, 'g' }, { "user", 1, NULL, 'u' }, { "verbose", 0, NULL, 'v' }, { "help", 0, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int opt, err = 0;

	/* The ':' in front: no lines of getopt's own, and a missing value is ':'. */
	while (!err && (opt = getopt_long(argc, argv, ":hv", longs, NULL)) != -1) {
		if (opt == 'h') {
			fputs(usage, stdout);
			exit(0);
		}
		err = take(a, opt, opt == '?' || opt == ':' ? argv[optind - 1] : optarg);
	}
	if (!err && optind < argc)
		err = bad("\"%s\" is not an option; see --help", argv[optind]);
	return err;
}

/* ---- sockets ---- */

/*
 * Puts the sockets that systemd opened for this process (sd_listen_fds(3)), at most FDS_MAX, into fds. Returns
 * how many.
 */
static int handed_over(int *fds)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	int n = pid && count && strtol(pid, NULL, 10) == (long)getpid() ? atoi(count) : 0;

	n = n < 0 ? 0 : n > FDS_MAX ? FDS_MAX : n;
	for (int i = 0; i < n; i++)
		fds[i] = FDS_FIRST + i;
	return n;
}

/*
 * Makes fd, a listening socket, close on exec and never wait, so that a connection that is gone before it is
 * taken does not stop the loop. Returns false if it is no listening socket or that fails.
 */
static bool make_ready(int fd)
{
	int on = 0;
	socklen_t len = sizeof(on);

	if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) || !on)
		return false;
	return !fcntl(fd, F_SETFD, FD_CLOEXEC) && !fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/*
 * Opens the listening socket `path`, to which its owner and the group (NULL: none) may connect, as *fd. Returns
 * 0, or 2 after a line on stderr.
 */
static int open_socket(const char *path, const char *group, int *fd)
{
	const mode_t before = umask(0117);
	const struct group *g = group ? getgrnam(group) : NULL;
	char msg[256];

	*fd = group && !g ? -1 : redir_bind(path, msg, sizeof(msg));
	umask(before);
	if (group && !g)
		return bad("--group: there is no group \"%s\"", group);
	if (*fd < 0)
		return bad("%s", msg);
	if (!g || !chown(path, (uid_t)-1, g->gr_gid))
		return 0;
	snprintf(msg, sizeof(msg), "%s: %s", path, strerror(errno));
	close(*fd);
	unlink(path);
	return bad("%s", msg);
}

/*
 * Puts the sockets of systemd and the one that --listen names into fds, *n in all. Returns 0, or 2 after a line
 * on stderr, also if there are none.
 */
static int open_sockets(const struct arguments *a, int *fds, int *n)
{
	*n = handed_over(fds);
	for (int i = 0; i < *n; i++)
		if (!make_ready(fds[i]))
			return bad("%s", "what LISTEN_FDS hands over is no listening socket");
	if (!a->o.listen && !*n)
		return bad("%s", "--listen is not given, and systemd has handed over no socket; see --help");
	if (a->o.listen && *n == FDS_MAX)
		return bad("%s", "too many sockets");
	return a->o.listen ? open_socket(a->o.listen, a->group, &fds[(*n)++]) : 0;
}

/* ---- who we are ---- */

/*
 * Becomes that user, with its groups, for good; NULL, or the user that the process is already: nothing. Returns
 * 0, or 2 after a line on stderr.
 */
static int become(const char *user)
{
	const struct passwd *p = user ? getpwnam(user) : NULL;

	if (!user)
		return 0;
	if (!p)
		return bad("--user: there is no user \"%s\"", user);
	if (getuid() == p->pw_uid && geteuid() == p->pw_uid)
		return 0;
	if (initgroups(user, p->pw_gid) || setresgid(p->pw_gid, p->pw_gid, p->pw_gid) ||
	    setresuid(p->pw_uid, p->pw_uid, p->pw_uid)) {
		fprintf(stderr, "weft-broker: --user: cannot become \"%s\": %s\n", user, strerror(errno));
		return 2;
	}
	return 0;
}

/*
 * Sets b->admin_gid to the group of administrators, -1 if the default one does not exist. Returns 0, or 2 after
 * a line on stderr if one was named that does not exist.
 */
static int find_admins(struct broker *b)
{
	const char *name = b->o.admin_group ? b->o.admin_group : "weft-admin";
	const struct group *g = getgrnam(name);

	b->admin_gid = g ? (int)g->gr_gid : -1;
	return g || !b->o.admin_group ? 0 : bad("--admin-group: there is no group \"%s\"", name);
}

/*
 * Raises the limit of open descriptors to one for each client and FDS_BESIDE, or as far as the system allows.
 */
static void more_descriptors(const struct broker *b)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) || r.rlim_cur >= b->o.clients + FDS_BESIDE)
		return;
	r.rlim_cur = b->o.clients + FDS_BESIDE < r.rlim_max ? b->o.clients + FDS_BESIDE : r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
}

/* ---- running ---- */

/*
 * Starts a worker for each card that is named, or BROKER_CARDS of them. Returns 0, or 3 after a line on stderr;
 * b->n_workers then are those that run.
 */
static int start(struct broker *b)
{
	int err = 0;

	b->n_workers = b->o.n_cards ? b->o.n_cards : BROKER_CARDS;
	for (unsigned i = 0; i < b->n_workers; i++)
		b->workers[i] = (struct worker){ .b = b, .index = i, .where = b->o.n_cards ? b->o.cards[i] : "" };
	for (unsigned i = 0; i < b->n_workers && !err; i++)
		if ((err = worker_start(&b->workers[i])))
			b->n_workers = i;
	if (err)
		bad("cannot start: %s", strerror(-err));
	return err ? 3 : 0;
}

/* Ends all workers and frees all clients. */
static void stop(struct broker *b)
{
	pthread_mutex_lock(&b->lock);
	b->stop = true;
	pthread_mutex_unlock(&b->lock);
	for (unsigned i = 0; i < b->n_workers; i++)
		worker_join(&b->workers[i]);
	while (b->clients)
		client_free(b->clients);
}

int main(int argc, char **argv)
{
	struct arguments a = { .o = { .clients = 64, .handshake_ms = 5000, .job_ms = 60000 } };
	struct broker b = { .lock = PTHREAD_MUTEX_INITIALIZER };
	int fds[FDS_MAX + 1], n_fds = 0;
	sigset_t set;
	int err = parse(&a, argc, argv);

	/* Whoever has the cards goes to the USB, not through a broker. */
	setenv(WEFT_BROKER_ENV, "none", 1);
	b.o = a.o;
	if (!err)
		err = find_admins(&b);
	if (!err)
		err = open_sockets(&a, fds, &n_fds);
	if (!err)
		err = become(a.o.user);
	if (err)
		return err;
	more_descriptors(&b);
	signal(SIGPIPE, SIG_IGN);
	/* They come through a descriptor, to the main thread. */
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	b.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (b.wake < 0)
		return bad("%s", strerror(errno));
	err = start(&b);
	if (!err)
		err = serve(&b, fds, n_fds);
	stop(&b);
	for (int i = 0; i < n_fds; i++)
		close(fds[i]);
	close(b.wake);
	if (a.o.listen)
		unlink(a.o.listen);
	return err;
}
