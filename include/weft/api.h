/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library itself: its version, the mark of a public function, and how much room
 * a message needs.
 *
 * libweft is compiled with hidden symbols. A function that carries WEFT_API is
 * exported by libweft.so, under the version that userlib/libweft.map gives it; nothing
 * else is.
 */
#ifndef WEFT_API_H
#define WEFT_API_H

#define WEFT_API __attribute__((visibility("default")))

/* Marks a function that can fail and says so in its result: a compiler warns where that is dropped. */
#define WEFT_MUST_USE __attribute__((warn_unused_result))

/*
 * Marks a parameter that points to room for at least that many bytes and is not NULL:
 * int f(char msg WEFT_ROOM(256)). A C compiler warns of a smaller array, without any
 * option (GCC: -Wstringop-overflow, -Wnonnull; clang: -Warray-bounds, -Wnonnull). Every
 * text that a function leaves there is one line that ends with a zero byte.
 */
#ifdef __cplusplus
#define WEFT_ROOM(bytes) [bytes]
#else
#define WEFT_ROOM(bytes) [static (bytes)]
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns the version of the library that runs, which may be newer than the headers that a program was
 * compiled with.
 *
 * @return "MAJOR.MINOR.PATCH" by semantic versioning; a constant string. Thread-safe.
 */
WEFT_API const char *weft_version(void);

#ifdef __cplusplus
}
#endif
#endif
