/* SPDX-License-Identifier: Apache-2.0 */
/* What a host says by usb-redir. */
#include <sys/un.h>

#include "server_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	void *chip;
	char msg[256] = "";

	struct weft_chip_options o = { 0 };
	fuzz_require(!stub_chip.open(&o, &chip, msg), "a chip");
	struct usbdev *d = usbdev_new(&stub_chip, chip, "FUZZ", NULL, 0);
	snprintf(a.sun_path, sizeof a.sun_path, "%s/weft-fuzz-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
	struct server *s = redir_listen(a.sun_path, d, msg, sizeof msg);
	fuzz_require(d && s, "a server");
	int host = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	fuzz_require(!connect(host, (struct sockaddr *)&a, sizeof a), "a connection");
	fcntl(host, F_SETFL, O_NONBLOCK);
	fuzz_server(s, d, host, data, size);
	s->ops->close(s);
	usbdev_free(d);
	stub_chip.close(chip);
	return 0;
}
