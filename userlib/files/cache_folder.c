/* SPDX-License-Identifier: Apache-2.0 */
#include "cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "driver/sys.h"

#define PART_SECONDS 3600      /* a temporary file of this age belongs to nobody any more */

int weft_cache_folder(const char *folder)
{
	char path[PATH_MAX];
	struct stat st;

	if ((size_t)snprintf(path, sizeof path, "%s", folder) >= sizeof path)
		return -ENAMETOOLONG;
	for (char *slash = path; slash && *path; ) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			return -errno;
		if (slash)
			*slash = '/';
	}
	const int fd = weft_sys.open_file(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	const int err = fstat(fd, &st) ? -errno : st.st_uid != geteuid() || (st.st_mode & 022) ? -EPERM : 0;
	close(fd);
	return err;
}

/* Writes the path of a file of the folder to out, PATH_MAX bytes. Returns 0 or -ENAMETOOLONG. */
static int path_of(char *out, const char *folder, const char *name)
{
	return (size_t)snprintf(out, PATH_MAX, "%s/%s", folder, name) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int weft_cache_read(const char *folder, const char *name, uint64_t most, uint8_t **data, size_t *len)
{
	char path[PATH_MAX];
	int err = path_of(path, folder, name);

	*data = NULL;
	*len = 0;
	if (err)
		return err;
	const int fd = weft_sys.open_file(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	err = weft_file_read_open(fd, most, data, len);
	/* Where nothing can be noted, as in a folder that is only read, the file just seems older than it is. */
	if (!err && futimens(fd, NULL))
		errno = 0;
	close(fd);
	return err;
}

int weft_cache_create(const char *folder, const char *name, struct weft_file_out *o)
{
	char path[PATH_MAX];
	struct stat st;
	const int err = path_of(path, folder, name);

	if (err)
		return err;
	if (!lstat(path, &st) && !S_ISREG(st.st_mode) && unlink(path) && errno != ENOENT)
		return -errno;
	return weft_file_create(path, o);
}

/* ---- what goes ---- */

/* A file of the folder: its name, bytes, and when it was used last. */
struct entry { char name[NAME_MAX + 1]; uint64_t bytes; struct timespec used; };

/* The files of a folder. */
struct listing { struct entry *e; size_t n, cap; };

/* What a file of the folder is: one that this module has finished, a temporary one of it, or somebody else's. */
enum kind { FINISHED, TEMPORARY, FOREIGN };

/* Returns what a file is, by its name. */
static enum kind kind_of(const char *name)
{
	const size_t ending = strlen(WEFT_CACHE_ENDING), n = strlen(name);

	if (strspn(name, "0123456789abcdef") != WEFT_CACHE_HEX || strncmp(name + WEFT_CACHE_HEX, WEFT_CACHE_ENDING, ending))
		return FOREIGN;
	if (!name[WEFT_CACHE_HEX + ending])
		return FINISHED;
	return n == WEFT_CACHE_HEX + ending + strlen(".0123456789abcdef.part") && !strcmp(name + n - 5, ".part") ? TEMPORARY : FOREIGN;
}

/* Appends a file to the listing. Returns 0 or -ENOMEM. */
static int add(struct listing *l, const char *name, const struct stat *st)
{
	if (l->n == l->cap) {
		const size_t cap = l->cap ? 2 * l->cap : 64;
		struct entry *e = realloc(l->e, cap * sizeof *e);
		if (!e)
			return -ENOMEM;
		l->e = e;
		l->cap = cap;
	}
	struct entry *e = &l->e[l->n++];
	snprintf(e->name, sizeof e->name, "%s", name);
	e->bytes = (uint64_t)st->st_size;
	e->used = st->st_mtim;
	return 0;
}

/* Compares two entries for qsort(): the one that was used earlier comes first, of equals the one of the lower name. */
static int by_use(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;

	if (a->used.tv_sec != b->used.tv_sec)
		return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
	if (a->used.tv_nsec != b->used.tv_nsec)
		return a->used.tv_nsec < b->used.tv_nsec ? -1 : 1;
	return strcmp(a->name, b->name);
}

/*
 * Lists the finished files of an open folder, and removes temporary ones that are PART_SECONDS old or older. Returns 0,
 * -ENOMEM, or the negative errno of reading the folder; the caller frees l->e in each case.
 */
static int list(DIR *d, struct listing *l)
{
	const time_t now = time(NULL);
	struct stat st;
	int err = 0;

	for (struct dirent *f; !err && (errno = 0, f = readdir(d)); ) {
		const enum kind kind = kind_of(f->d_name);
		if (kind == FOREIGN || fstatat(dirfd(d), f->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		if (kind == FINISHED)
			err = add(l, f->d_name, &st);
		else if (now - st.st_mtim.tv_sec >= PART_SECONDS)
			unlinkat(dirfd(d), f->d_name, 0);
	}
	return err ? err : -errno;
}

int weft_cache_trim(const char *folder, uint64_t limit)
{
	struct listing l = { 0 };
	uint64_t all = 0;
	DIR *d = opendir(folder);

	if (!d)
		return -errno;
	const int err = list(d, &l);
	if (!err && l.n)
		qsort(l.e, l.n, sizeof *l.e, by_use);
	for (size_t i = 0; i < l.n; i++)
		all += l.e[i].bytes;
	for (size_t i = 0; i < l.n && !err && all > limit; i++) {
		unlinkat(dirfd(d), l.e[i].name, 0);
		all -= l.e[i].bytes;
	}
	free(l.e);
	closedir(d);
	return err;
}
