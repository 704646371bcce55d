/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In front of every source of the library (Makefile): these functions are the ones of driver/sys.c.
 * They are names, not calls, so that the system's headers declare them with what they promise.
 * Files are read and written in few places, which use the table itself.
 */
#ifndef WEFT_DRIVER_SYS_NAMES_H
#define WEFT_DRIVER_SYS_NAMES_H

#define malloc         weft_sys_malloc
#define calloc         weft_sys_calloc
#define realloc        weft_sys_realloc
#define strdup         weft_sys_strdup
#define free           weft_sys_free
#define mmap           weft_sys_mmap
#define pthread_create weft_sys_thread

#endif
