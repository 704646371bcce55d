/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make deb-check: two builds in different folders and circumstances give the same packages, lintian has
 * nothing to say (tools/deb.sh fails otherwise), each package has what it is for, and the packages' own tests
 * (tools/debian/tests) pass where they are installed: in a throw-away layer over this system.
 *
 * The Verilated simulators are compiled for it, so this is for test-full.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/level.h"
#include "tests/support/shell.h"

static const char *build;
static bool built;

/* Skips, but fails where CI=true. */
static void not_here(const char *why)
{
	const char *ci = getenv("CI");

	printf("%s\n", why);
	fflush(stdout);
	if (ci && !strcmp(ci, "true"))
		fail();
	skip();
}

static void need_build(void)
{
	if (test_level() < 2) {
		printf("packages take minutes to build: make test-full\n");
		skip();
	}
	if (!built)
		fail_msg("the packages are not built");
}

static void reproducible(void **state)
{
	(void)state;
	if (test_level() < 2)
		need_build();
	if (shell("git rev-parse --git-dir >/dev/null 2>&1"))
		not_here("no git work tree, of which a tarball could be made");
	if (shell("test -z \"$(tools/deps.sh --missing firmware deb)\""))
		not_here("Debian's tools for packages are not there: tools/deps.sh firmware deb");
	assert_int_equal(shell(OWN_MAKE "make -s deb O=%s CONFIGS=w16 DEB_DIR=%s/deb >&2 && test $(grep -c '[.]deb$' %s/deb/SHA256SUMS) -ge 7",
	                       build, build, build), 0);
	built = true;
	assert_int_equal(shell("v=$(sed -n 's/^VERSION := //p' Makefile); tools/deb_check.sh %s/dist/weft-$v.tar.gz $v %s/deb %s/deb-check/elsewhere", build, build, build), 0);
}

static void contents(void **state)
{
	static const struct { const char *package, *file; } parts[] = {
		{ "libweft0", "usr/lib/$arch/libweft.so.0" }, { "libweft-dev", "usr/include/weft/weft.h" },
		{ "libweft-dev", "usr/lib/$arch/libweft.a" }, { "libweft-dev", "usr/lib/$arch/libweft.so" },
		{ "libweft-dev", "usr/lib/$arch/pkgconfig/weft.pc" }, { "libweft-dev", "usr/share/man/man3/weft.3.gz" },
		{ "weft", "usr/bin/weft" }, { "weft", "usr/share/man/man1/weft-run.1.gz" }, { "weft", "usr/lib/udev/rules.d/70-weft.rules" },
		{ "weft", "usr/lib/$arch/weft/libweft_ort_ep.so" }, { "weft", "usr/lib/$arch/weft/libweft_delegate.so" },
		{ "weft", "lib/systemd/system/weft-broker.service" }, { "weft", "lib/systemd/system/weft-broker.socket" },
		{ "weft", "usr/bin/weft-broker" }, { "weft", "usr/share/man/man1/weft-broker.1.gz" },
		{ "weft-sim", "usr/bin/weft-card" }, { "weft-sim", "usr/lib/weft/weft-rtl-w16.so" }, { "weft-sim", "usr/lib/weft/weft-rtl-w16-wave.so" },
		{ "weft-sim", "usr/lib/weft/weft-chip-w16.so" }, { "weft-sim", "usr/share/man/man1/weft-card.1.gz" },
		{ "weft-firmware", "usr/lib/firmware/weft/boot.bin" }, { "weft-firmware", "usr/lib/firmware/weft/weft-fw.img" },
		{ "python3-weft", "usr/lib/python3/dist-packages/weft/_cdef.h" }, { "python3-weft", "usr/lib/python3/dist-packages/weft/session.py" },
		{ "weft-doc", "usr/share/doc/weft/docs/ARCHITECTURE.md" },
	};

	(void)state;
	need_build();
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (shell("arch=$(dpkg-architecture -qDEB_HOST_MULTIARCH); dpkg-deb --contents %s/deb/%s_*.deb | grep \" [.]/%s\\( ->.*\\)\\?$\" >/dev/null",
		          build, parts[i].package, parts[i].file))
			fail_msg("%s lacks %s", parts[i].package, parts[i].file);
	/* Nothing names the folder in which it was built. */
	assert_int_equal(shell("t=$(mktemp -d) && for d in %s/deb/*.deb; do dpkg-deb -x $d $t || exit 1; done; ! grep -rlF \"$(realpath %s)\" $t >&2; s=$?; "
	                       "rm -r $t; exit $s", build, build), 0);
	/* The command says which commit it is of. */
	assert_int_equal(shell("t=$(mktemp -d) && for p in weft libweft0; do dpkg-deb -x %s/deb/${p}_*.deb $t || exit 1; done; "
	                       "LD_LIBRARY_PATH=$(echo $t/usr/lib/*-*) $t/usr/bin/weft --version | grep -q \"commit $(git rev-parse --short=12 HEAD)\"; s=$?; "
	                       "rm -r $t; exit $s", build), 0);
}

static void installed(void **state)
{
	(void)state;
	need_build();
	if (shell("command -v autopkgtest >/dev/null"))
		not_here("autopkgtest is not there");
	int status = shell("tests/packages/autopkgtest.sh %s/deb >&2", build);
	if (status == 77)
		not_here("no layer can be mounted over this system: root is needed, and overlayfs");
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(reproducible), cmocka_unit_test(contents), cmocka_unit_test(installed) };

	build = test_env("WEFT_BUILD", "build");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
