/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a capture, once as they are and once with the checksum that they should have. */
#define _GNU_SOURCE            /* memfd_create() */
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <weft/capture.h>

#include "fuzz.h"

#define CRC_AT 12
#define BODY_AT 16

static void read_as_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz.wcap", MFD_CLOEXEC);
	char path[64], msg[WEFT_MSG_LEN] = "";
	struct weft_capture c = { 0 };

	fuzz_require(fd >= 0 && write(fd, data, size) == (ssize_t)size, "a file in memory");
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	int err = weft_capture_read(path, &c, msg);
	fuzz_judge(err, msg);
	if (!err)
		weft_capture_release(&c);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	read_as_file(data, size);
	memcpy(copy, data, size);
	if (size > BODY_AT) {
		const uint32_t crc = (uint32_t)crc32_z(0, copy + BODY_AT, size - BODY_AT);
		for (int i = 0; i < 4; i++)
			copy[CRC_AT + i] = (uint8_t)(crc >> 8 * i);
		read_as_file(copy, size);
	}
	free(copy);
	return 0;
}
