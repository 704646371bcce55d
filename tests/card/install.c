/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make install: every part is where Debian would put it, a program builds
 * against what was installed, and the installed commands find their parts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/level.h"
#include "../support/shell.h"
#include "weft/gen/msg.h"

static char root[128];

static int set_up(void **state)
{
	const char *build = test_env("WEFT_BUILD", "build");

	(void)state;
	test_path(root, sizeof(root), "install-%d", (int)getpid());
	/* Of the plain build also where sanitizers watch this one. */
	return shell(OWN_MAKE "make -s -j1 O='%.*s' SIM=checked install PREFIX=/usr DESTDIR=%s >%s.log 2>&1 || { tail -5 %s.log; exit 1; }",
	             (int)strcspn(build, "/"), build, root, root, root);
}

static int tear_down(void **state)
{
	(void)state;
	return shell("rm -rf %s %s.log", root, root);
}

static void test_places(void **state)
{
	static const char *const files[] = {
		"bin/weft", "bin/weft-card", "bin/weft-broker", "include/weft/weft.h", "include/weft/dev.h", "include/weft/gen/config.h",
		"lib/$arch/libweft.a", "lib/$arch/libweft.so", "lib/$arch/libweft.so.0", "lib/$arch/libweft_ort_ep.so", "lib/$arch/libweft_delegate.so", "lib/$arch/pkgconfig/weft.pc",
		"lib/weft/weft-rtl-w16.so", "lib/firmware/weft/weft-fw.img", "lib/firmware/weft/boot.bin",
		"lib/udev/rules.d/70-weft.rules", "lib/systemd/system/weft-broker.socket", "lib/systemd/system/weft-broker.service", "share/man/man1/weft.1", "share/man/man1/weft-run.1",
		"share/man/man1/weft-devices.1", "share/man/man1/weft-card.1", "share/man/man1/weft-broker.1", "share/man/man3/weft.3",
		"share/man/man3/weft_dev.3", "share/man/man3/weft_diag.3", "share/man/man7/weft-card.7",
	};
	int missing = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (!shell("arch=$(gcc -print-multiarch); test -s \"%s/usr/%s\"", root, files[i]))
			continue;
		printf("/usr/%s is not there\n", files[i]);
		missing++;
	}
	fflush(stdout);
	assert_int_equal(missing, 0);
	/* Nothing points back into the tree or into DESTDIR. */
	assert_int_equal(shell("! grep -r -l %s %s/usr/lib/*/pkgconfig %s/usr/lib/udev", root, root, root), 0);
}

static void test_rule(void **state)
{
	(void)state;
	assert_int_equal(shell("grep -q 'ATTR{idVendor}==\"%04x\", ATTR{idProduct}==\"%04x\"' %s/usr/lib/udev/rules.d/70-weft.rules",
	                       WEFT_USB_VENDOR_ID, WEFT_USB_PRODUCT_ID, root), 0);
	assert_int_equal(shell("grep -q 'GROUP=\"plugdev\", TAG+=\"uaccess\"' %s/usr/lib/udev/rules.d/70-weft.rules", root), 0);
}

/* systemd finds the broker where it was installed, and takes the units as they are. */
static void test_units(void **state)
{
	(void)state;
	assert_int_equal(shell("grep -qx 'ExecStart=/usr/bin/weft-broker' %s/usr/lib/systemd/system/weft-broker.service", root), 0);
	if (shell("command -v systemd-analyze >/dev/null"))
		return;
	/* It looks for the program and the manual at the root that it is given; what it says is of these two. */
	assert_int_equal(shell("systemd-analyze verify --man=no --recursive-errors=no %s/usr/lib/systemd/system/weft-broker.socket "
	                       "%s/usr/lib/systemd/system/weft-broker.service 2>&1 | grep weft-broker | grep -v 'is not executable' && exit 1; true",
	                       root, root), 0);
}

static void test_pages(void **state)
{
	(void)state;
	assert_int_equal(shell("for f in %s/usr/share/man/man?/*; do head -1 $f | grep -q '^.TH ' || { echo $f; exit 1; }; done", root), 0);
	/* A page for each command. */
	assert_int_equal(shell("%s/usr/bin/weft --help | awk '/^  [a-z]+ +[a-z]/ && $1 != \"weft\" { print $1 }' | while read -r c; do "
	                       "test -s %s/usr/share/man/man1/weft-$c.1 || { echo \"no page for $c\"; exit 1; }; done", root, root), 0);
	if (shell("command -v groff >/dev/null"))
		return;
	assert_int_equal(shell("for f in %s/usr/share/man/man?/*; do groff -man -Tutf8 -ww $f 2>&1 >/dev/null | grep -v 'cannot .*adjust\\|can.t break line' "
	                       "| head -3 | grep . && { echo $f; exit 1; }; done; true", root), 0);
}

/*
 * A program of a user builds by pkg-config in a folder of its own, and runs a network on the
 * simulators that were installed: it finds them by way of the library, or by its own place.
 */
static void test_program(void **state)
{
	(void)state;
	assert_int_equal(shell("mkdir %s/own && lib=%s/usr/lib/$(gcc -print-multiarch); export PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=%s; "
	                       "cc -Wall -Werror tools/debian/tests/program.c -o %s/own/p $(pkg-config --cflags --libs weft) && "
	                       "readelf -d %s/own/p | grep -q 'NEEDED.*libweft.so.0' && "
	                       "LD_LIBRARY_PATH=$lib %s/own/p tests/models/digits_int8.tflite | grep -qx '[1-9][0-9]* cycles, 0 mismatches'",
	                       root, root, root, root, root, root), 0);
	/* With the library inside; it looks beside the program's folder. */
	assert_int_equal(shell("lib=%s/usr/lib/$(gcc -print-multiarch); export PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=%s; "
	                       "cc -Wall -Werror tools/debian/tests/program.c -o %s/usr/bin/p $(pkg-config --cflags weft) "
	                       "$(pkg-config --static --libs weft | sed 's/-lweft/-l:libweft.a/') && ! readelf -d %s/usr/bin/p | grep -q 'NEEDED.*libweft' && "
	                       "%s/usr/bin/p tests/models/digits_int8.tflite | grep -qx '[1-9][0-9]* cycles, 0 mismatches'; s=$?; rm -f %s/usr/bin/p; exit $s",
	                       root, root, root, root, root, root), 0);
}

static void test_commands(void **state)
{
	(void)state;
	/* The commands have the library from where it was installed, not of their own. */
	assert_int_equal(shell("for c in weft weft-card weft-broker; do env -u LD_LIBRARY_PATH ldd %s/usr/bin/$c | grep -q \"libweft.so.0 => %s/usr/bin/../lib/\" || exit 1; done",
	                       root, root), 0);
	/* So have the plugins. */
	assert_int_equal(shell("for p in ort_ep delegate; do env -u LD_LIBRARY_PATH ldd %s/usr/lib/*/libweft_$p.so | grep -q \"libweft.so.0 => %s/usr/lib/\" || exit 1; done",
	                       root, root), 0);
	assert_int_equal(shell("cd / && %s/usr/bin/weft-card --listen %s/s --serial INSTALLED & card=$!; "
	                       "%s/usr/bin/weft run tests/models/digits_int8.tflite --device usb:@%s/s --wait 5000 --check >%s/out; status=$?; "
	                       "%s/usr/bin/weft devices usb:@%s/s >>%s/out; kill $card; grep -q ' 0 mismatches' %s/out && exit $status",
	                       root, root, root, root, root, root, root, root, root), 0);
	assert_int_equal(shell("%s/usr/bin/weft run tests/models/digits_int8.tflite --device rtl >/dev/null", root), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places), cmocka_unit_test(test_rule), cmocka_unit_test(test_units), cmocka_unit_test(test_pages),
		cmocka_unit_test(test_program), cmocka_unit_test(test_commands),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
