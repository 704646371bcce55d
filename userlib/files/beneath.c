/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths that never leave a folder. The kernel resolves them so if it can (openat2 with
 * RESOLVE_BENEATH). Otherwise each component is opened by itself with O_NOFOLLOW, from the
 * descriptor of the folder that it is in, so that nobody can exchange a folder for a link between a
 * check and the use of what was checked. Folders that have been entered are kept on a stack, and
 * ".." goes back to the one before.
 */
#define _GNU_SOURCE            /* O_PATH */
#include "beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_DEPTH 64           /* folders that are open at a time, the first one included */
#define MAX_LINKS 40           /* as many as the kernel follows */

/* How files are opened: a pipe does not make us wait for a writer. */
#define HOW (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* What is still to be walked, and where from. */
struct walk {
	char rest[PATH_MAX];       /* components that are left */
	int folder[MAX_DEPTH];     /* descriptors, the first one's first */
	int depth, links;
};

/*
 * Returns fd if it is an open regular file. Otherwise closes it and returns -EISDIR for a folder,
 * -EMEDIUMTYPE for anything else (pipe, device, socket), or the negative errno of fstat().
 */
static int regular(int fd)
{
	struct stat st;
	int err = fstat(fd, &st) ? -errno : S_ISREG(st.st_mode) ? 0 : S_ISDIR(st.st_mode) ? -EISDIR : -EMEDIUMTYPE;

	if (!err)
		return fd;
	close(fd);
	return err;
}

/*
 * Takes the next component off the front of w->rest, slashes before it included, and writes it to `name`, which
 * has NAME_MAX + 2 bytes; of one that is too long for a name, NAME_MAX + 1 characters, which no file has as its
 * name. What stays in w->rest is empty or begins with a slash. Returns true, or false with an empty name if none
 * is left.
 */
static bool next_component(struct walk *w, char *name)
{
	const char *p = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(p, "/"), keep = n <= NAME_MAX ? n : NAME_MAX + 1;

	memcpy(name, p, keep);
	name[keep] = '\0';
	memmove(w->rest, p + n, strlen(p + n) + 1);
	return n > 0;
}

/*
 * Reads the link `name` in the innermost open folder and puts the path that it holds in front of w->rest;
 * counts it in w->links. Returns 0; -EXDEV if that path begins with a slash; -ENOENT if it is empty;
 * -ELOOP if it is the 41st link; -ENAMETOOLONG if w->rest has no room for it; or the negative errno of
 * readlinkat().
 */
static int follow(struct walk *w, const char *name)
{
	char to[PATH_MAX];
	ssize_t n = readlinkat(w->folder[w->depth - 1], name, to, sizeof to - 1);

	if (n < 0)
		return -errno;
	to[n] = '\0';
	if (!n || *to == '/')
		return n ? -EXDEV : -ENOENT;
	if (++w->links > MAX_LINKS)
		return -ELOOP;
	if ((size_t)n + strlen(w->rest) + 1 > sizeof w->rest)
		return -ENAMETOOLONG;
	memmove(w->rest + n, w->rest, strlen(w->rest) + 1);   /* empty, or begins with a slash */
	memcpy(w->rest, to, (size_t)n);
	return 0;
}

/*
 * Closes the innermost open folder and takes it off the stack, so that the one above it is the current
 * one. Returns 0, or -EXDEV without a change if it is the first one.
 */
static int up(struct walk *w)
{
	if (w->depth == 1)
		return -EXDEV;
	close(w->folder[--w->depth]);
	return 0;
}

/*
 * Goes one component on from the innermost open folder. If `name` is a folder, it is opened and put on
 * the stack; if it is a link, what it says is put in front of w->rest (follow); otherwise it must be the
 * path's end, and *file becomes the descriptor of the regular file, opened for reading. Returns 0;
 * -ENOTDIR if a slash follows a file; -ENAMETOOLONG for a folder where MAX_DEPTH are open; -EMEDIUMTYPE
 * for a pipe, device or socket; an error of follow(); or the negative errno of looking at `name` or of
 * opening it. *file is not written for a folder or link; after a failure it is unchanged or
 * the errno that is returned.
 */
static int enter(struct walk *w, const char *name, int *file)
{
	const int at = w->folder[w->depth - 1];
	struct stat st;
	int fd = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		int err = -errno;
		close(fd);
		return err;
	}
	if (S_ISDIR(st.st_mode) && w->depth < MAX_DEPTH) {
		w->folder[w->depth++] = fd;
		return 0;
	}
	close(fd);
	if (S_ISLNK(st.st_mode))
		return follow(w, name);
	if (S_ISDIR(st.st_mode))
		return -ENAMETOOLONG;
	if (w->rest[strspn(w->rest, "/")] || strchr(w->rest, '/'))
		return -ENOTDIR;
	/* What it is now may be another thing; O_NOFOLLOW, and regular() judges what was opened. */
	fd = openat(at, name, HOW | O_NOFOLLOW);
	*file = fd >= 0 ? regular(fd) : errno == ENXIO ? -EMEDIUMTYPE : -errno;   /* ENXIO: a socket */
	return *file < 0 ? *file : 0;
}

/*
 * Walks the whole path in w->rest from w->folder[0]; "." is skipped and ".." goes back. The folders that
 * it enters stay on w's stack, and the caller closes them. Returns the descriptor of the regular file at
 * its end, -EISDIR if the path ends at a folder, or the first error of enter() or up().
 */
static int walk_path(struct walk *w)
{
	char name[NAME_MAX + 2];
	int file = -1, err = 0;

	while (!err && file < 0 && next_component(w, name))
		err = !strcmp(name, ".") ? 0 : !strcmp(name, "..") ? up(w) : enter(w, name, &file);
	return err ? err : file < 0 ? -EISDIR : file;
}

int weft_open_beneath_stepwise(const char *folder, const char *name)
{
	struct walk w = { .depth = 1 };

	if (!*name || *name == '/')
		return *name ? -EXDEV : -ENOENT;
	if (strlen(name) >= sizeof w.rest)
		return -ENAMETOOLONG;
	strcpy(w.rest, name);
	w.folder[0] = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (w.folder[0] < 0)
		return -errno;
	int fd = walk_path(&w);
	while (w.depth)
		close(w.folder[--w.depth]);
	return fd;
}

int weft_open_beneath(const char *folder, const char *name)
{
	struct open_how how = { .flags = HOW, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
	int root = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		return -errno;
	const long fd = syscall(SYS_openat2, root, name, &how, sizeof how);
	const int err = fd < 0 ? -errno : 0;
	close(root);
	if (!err)
		return regular((int)fd);
	/* An old kernel; a sandbox that does not know the call; somebody renamed a folder meanwhile. */
	if (err == -ENOSYS || err == -EPERM || err == -EAGAIN || err == -E2BIG || err == -EINVAL)
		return weft_open_beneath_stepwise(folder, name);
	return err == -ENXIO ? -EMEDIUMTYPE : err;   /* a socket */
}
