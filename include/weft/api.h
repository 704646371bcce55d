/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library itself: its version, and the mark of a public function.
 *
 * libweft is compiled with hidden symbols. A function that carries WEFT_API is
 * exported by libweft.so, under the version that userlib/libweft.map gives it; nothing
 * else is.
 */
#ifndef WEFT_API_H
#define WEFT_API_H

#define WEFT_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The version of the library that runs, which may be newer than the headers that a
 * program was compiled with.
 *
 * @return "MAJOR.MINOR.PATCH" by semantic versioning; constant, valid for ever. Thread-safe.
 */
WEFT_API const char *weft_version(void);

#ifdef __cplusplus
}
#endif
#endif
