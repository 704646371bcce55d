// SPDX-License-Identifier: Apache-2.0
#include "sim/rtl/wave.h"

#define WAVE_NAMES_ALONE
#include "sim/rtl/wave_names.h"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

// The files of the waveform at which this thread works; null: at none, and then nothing throws.
static thread_local std::vector<FILE *> *at_work;

[[noreturn]] static void fail(int err)
{
	throw std::system_error(err, std::generic_category());
}

// ---- what the writer calls ----

void *wave_malloc(size_t n)
{
	void *p = ::malloc(n);

	if (!p && n && at_work)
		throw std::bad_alloc();
	return p;
}

void *wave_calloc(size_t n, size_t bytes)
{
	void *p = ::calloc(n, bytes);

	if (!p && n && bytes && at_work)
		throw std::bad_alloc();
	return p;
}

void *wave_realloc(void *p, size_t n)
{
	void *q = ::realloc(p, n);

	if (!q && n && at_work)
		throw std::bad_alloc();
	return q;
}

char *wave_strdup(const char *s)
{
	char *p = ::strdup(s);

	if (!p && at_work)
		throw std::bad_alloc();
	return p;
}

// Returns f, which is closed with the others if it is one that is written.
static FILE *opened(FILE *f, bool written)
{
	const int err = errno;

	if (!at_work || !written)
		return f;
	if (!f)
		fail(err);
	at_work->push_back(f);          // prepare() has made room
	return f;
}

FILE *wave_fopen(const char *name, const char *mode)
{
	return opened(::fopen(name, mode), *mode == 'w');
}

FILE *wave_tmpfile()
{
	return opened(::tmpfile(), true);
}

int wave_fclose(FILE *f)
{
	if (at_work)
		at_work->erase(std::remove(at_work->begin(), at_work->end(), f), at_work->end());
	const int bad = ::fclose(f);
	if (bad && at_work)
		fail(errno);
	return bad;
}

size_t wave_fwrite(const void *p, size_t bytes, size_t n, FILE *f)
{
	const size_t done = ::fwrite(p, bytes, n, f);

	if (done < n && bytes && at_work)
		fail(errno);
	return done;
}

int wave_fputc(int c, FILE *f)
{
	const int done = ::fputc(c, f);

	if (done == EOF && at_work)
		fail(errno);
	return done;
}

int wave_fprintf(FILE *f, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	const int done = std::vfprintf(f, format, ap);
	const int err = errno;
	va_end(ap);
	if (done < 0 && at_work)
		fail(err);
	return done;
}

int wave_fflush(FILE *f)
{
	const int bad = ::fflush(f);

	if (bad && at_work)
		fail(errno);
	return bad;
}

int wave_fseeko(FILE *f, off_t to, int whence)
{
	const int bad = ::fseeko(f, to, whence);

	if (bad && at_work)
		fail(errno);
	return bad;
}

int wave_ftruncate(int fd, off_t n)
{
	const int bad = ::ftruncate(fd, n);

	if (bad && at_work)
		fail(errno);
	return bad;
}

// A page of a file for which the disk has no room would be SIGBUS, wherever it is touched.
void *wave_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from)
{
	if (at_work && fd >= 0 && n)
		if (const int err = posix_fallocate(fd, from, static_cast<off_t>(n)))
			fail(err);
	void *p = ::mmap(at, n, prot, flags, fd, from);
	if (p == MAP_FAILED && n && at_work)
		fail(errno);
	return p;
}

// ---- the waveform ----

void Wave::enter()
{
	at_work = &files;
}

void Wave::leave()
{
	at_work = nullptr;
	if (err)
		drop();
}

void Wave::failed()
{
	try {
		throw;
	} catch (const std::bad_alloc &) {
		err = -ENOMEM;
	} catch (const std::system_error &e) {
		err = e.code().value() ? -e.code().value() : -EIO;
	} catch (...) {
		err = -EIO;
	}
}

// A new file beside the other: nobody can have made one of that name before.
void Wave::prepare(const char *file)
{
	uint64_t random;
	char name[32];

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		fail(EIO);
	std::snprintf(name, sizeof(name), ".%016llx.part", static_cast<unsigned long long>(random));
	files.reserve(16);
	path = file;
	part = path + name;
	writer = new Writer;
}

void Wave::drop()
{
	static std::mutex lock;
	static Writer *left;

	if (!writer)
		return;
	{
		const std::lock_guard<std::mutex> guard(lock);
		writer->next = left;
		left = writer;
	}
	writer = nullptr;
	for (FILE *f : files)
		::fclose(f);
	files.clear();
	// The writer's description of the signals has a name of its own, for as long as it is at work.
	unlink((part + ".hier").c_str());
	unlink(part.c_str());
}

static int sync_file(const char *name)
{
	const int fd = ::open(name, O_RDONLY | O_CLOEXEC);
	int err = fd < 0 || fsync(fd) ? -errno : 0;

	if (fd >= 0)
		::close(fd);
	return err;
}

int Wave::close()
{
	struct stat st;

	if (!writer)
		return err;
	guarded([&] { writer->fst.close(); });
	if (err)
		return err;
	err = sync_file(part.c_str());
	// What is no regular file is not replaced, whoever has put it there meanwhile.
	if (!err && !stat(path.c_str(), &st) && !S_ISREG(st.st_mode))
		err = -EINVAL;
	if (!err && std::rename(part.c_str(), path.c_str()))
		err = -errno;
	if (err)
		unlink(part.c_str());
	delete writer;
	writer = nullptr;
	return err;
}
