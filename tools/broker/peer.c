/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "broker.h"

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

/*
 * Says whether the process behind the socket had group gid among its groups when it connected. No directory
 * service is asked.
 */
static bool in_group(int fd, gid_t gid)
{
	gid_t few[32], *all = few;
	socklen_t len = sizeof(few);
	bool found = false;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, all, &len)) {
		/* More than fit: len says how many bytes there are. */
		all = len > sizeof(few) && len <= 65536 * sizeof(gid_t) ? malloc(len) : NULL;
		if (!all || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, all, &len))
			len = 0;
	}
	for (size_t i = 0; i < len / sizeof(gid_t); i++)
		found |= all[i] == gid;
	if (all != few)
		free(all);
	return found;
}

void peer_of(int fd, int admin_gid, struct peer *p)
{
	struct ucred u = { .uid = (uid_t)-1, .gid = (gid_t)-1 };
	socklen_t len = sizeof(u);
	char path[64];

	memset(p, 0, sizeof(*p));
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &u, &len);
	p->pid = (uint32_t)u.pid;
	p->uid = u.uid;
	p->gid = u.gid;
	p->admin = u.uid == 0 || (admin_gid >= 0 && (u.gid == (gid_t)admin_gid || in_group(fd, (gid_t)admin_gid)));
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)u.pid);
	FILE *f = fopen(path, "r");
	if (f && fgets(p->name, sizeof(p->name), f))
		p->name[strcspn(p->name, "\n")] = '\0';
	if (f)
		fclose(f);
	for (char *s = p->name; *s; s++)
		if (*s < ' ' || *s > '~')
			*s = '?';
	if (!p->name[0])
		strcpy(p->name, "a process");
}
