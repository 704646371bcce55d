// SPDX-License-Identifier: Apache-2.0
//
// In front of Verilator's own sources in simulators that record waveforms (Makefile): what they call of the system are
// functions of wave.cc, which throw what fails while a Wave is at work. The system's own promise not to throw, and compilers know it.
#ifndef WEFT_RTL_WAVE_NAMES_H
#define WEFT_RTL_WAVE_NAMES_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#define WAVE_NAMES(X) \
	X(malloc) X(calloc) X(realloc) X(strdup) X(fopen) X(tmpfile) X(fclose) X(fwrite) X(fputc) X(fprintf) X(fflush) X(fseeko) \
	X(ftruncate) X(mmap)

void *wave_malloc(size_t n);
void *wave_calloc(size_t n, size_t bytes);
void *wave_realloc(void *p, size_t n);
char *wave_strdup(const char *s);
FILE *wave_fopen(const char *name, const char *mode);
FILE *wave_tmpfile();
int wave_fclose(FILE *f);
size_t wave_fwrite(const void *p, size_t bytes, size_t n, FILE *f);
int wave_fputc(int c, FILE *f);
int wave_fprintf(FILE *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
int wave_fflush(FILE *f);
int wave_fseeko(FILE *f, off_t to, int whence);
int wave_ftruncate(int fd, off_t n);
void *wave_mmap(void *at, size_t n, int prot, int flags, int fd, off_t from);

// Where the sources say std::.
namespace std {
#define WAVE_USING(name) using ::wave_##name;
WAVE_NAMES(WAVE_USING)
}

#ifndef WAVE_NAMES_ALONE
#define malloc    wave_malloc
#define calloc    wave_calloc
#define realloc   wave_realloc
#define strdup    wave_strdup
#define fopen     wave_fopen
#define tmpfile   wave_tmpfile
#define fclose    wave_fclose
#define fwrite    wave_fwrite
#define fputc     wave_fputc
#define fprintf   wave_fprintf
#define fflush    wave_fflush
#define fseeko    wave_fseeko
#define ftruncate wave_ftruncate
#define mmap      wave_mmap
#endif

#endif
