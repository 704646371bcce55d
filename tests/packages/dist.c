/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make dist: the tarball has the files that git knows, the same bytes each time, its sum, and the
 * commit; a key signs it only where one is given. The version is the same wherever it is written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/level.h"
#include "tests/support/shell.h"

static char dir[256];

/* Two tarballs, of a first and a second folder, packed under different masks and time zones. */
static int set_up(void **state)
{
	(void)state;
	if (shell("git rev-parse --git-dir >/dev/null 2>&1"))
		return 0;
	test_path(dir, sizeof(dir), "dist");
	return shell(OWN_MAKE "mkdir %s && make -s dist O=%s/a && umask 077 && sleep 1 && TZ=Asia/Tokyo make -s dist O=%s/b",
	             dir, dir, dir);
}

static int tear_down(void **state)
{
	(void)state;
	return *dir ? shell("rm -rf %s", dir) : 0;
}

static void need_git(void)
{
	if (*dir)
		return;
	printf("no git work tree, of which a tarball could be made\n");
	skip();
}

static void same_bytes(void **state)
{
	(void)state;
	need_git();
	assert_int_equal(shell("cmp %s/a/dist/weft-*.tar.gz %s/b/dist/weft-*.tar.gz", dir, dir), 0);
	assert_int_equal(shell("cd %s/a/dist && sha256sum --quiet --strict -c SHA256SUMS && test $(wc -l <SHA256SUMS) = 1 && test ! -e SHA256SUMS.asc", dir), 0);
}

/* What git has and nothing else, byte by byte, and executable where git says so. */
static void same_files(void **state)
{
	(void)state;
	need_git();
	assert_int_equal(shell("mkdir %s/x && tar -xzf %s/a/dist/weft-*.tar.gz -C %s/x --strip-components=1", dir, dir, dir), 0);
	assert_int_equal(shell("(git ls-files -z | xargs -0 ls -d 2>/dev/null; echo COMMIT) | LC_ALL=C sort >%s/want; "
	                       "(cd %s/x && find . ! -type d -printf '%%P\\n') | LC_ALL=C sort | diff %s/want - >&2", dir, dir, dir), 0);
	assert_int_equal(shell("grep -v '^COMMIT$' %s/want | while read -r f; do cmp \"$f\" \"%s/x/$f\" || exit 1; "
	                       "[ -x \"$f\" ] && e=1 || e=0; [ -x \"%s/x/$f\" ] && g=1 || g=0; [ $e = $g ] || { echo \"$f: mode\"; exit 1; }; done >&2",
	                       dir, dir, dir), 0);
}

/* The tarball's own Makefile says the commit, though git is not there. */
static void commit(void **state)
{
	(void)state;
	need_git();
	assert_int_equal(shell("c=$(git rev-parse --short=12 HEAD); d=; git diff --quiet HEAD || d=-dirty; test \"$(cat %s/x/COMMIT)\" = $c$d && "
	                       "make -C %s/x -pn help 2>/dev/null | grep -qx \"COMMIT := $c$d\"", dir, dir), 0);
}

static void no_git(void **state)
{
	(void)state;
	need_git();
	assert_int_equal(shell("cd %s/x && python3 tools/dist.py %s/no.tar.gz 0 2>%s/said; test $? = 2 && test $(wc -l <%s/said) = 1 && "
	                       "grep -q 'not a git work tree' %s/said && test ! -e %s/no.tar.gz", dir, dir, dir, dir, dir, dir), 0);
}

static void signature(void **state)
{
	(void)state;
	need_git();
	if (shell("command -v gpg >/dev/null")) {
		printf("gpg is not there\n");
		skip();
	}
	assert_int_equal(shell(OWN_MAKE "mkdir -m 700 %s/g && export GNUPGHOME=%s/g && "
	                       "gpg -q --batch --passphrase '' --quick-gen-key signer ed25519 sign 2>/dev/null && make -s dist O=%s/a KEY=signer && "
	                       "gpg -q --verify %s/a/dist/SHA256SUMS.asc %s/a/dist/SHA256SUMS 2>/dev/null && ! make -s dist O=%s/a KEY=nobody 2>/dev/null; "
	                       "s=$?; gpgconf --kill all; exit $s", dir, dir, dir, dir, dir, dir), 0);
}

/* Makefile, changelog, Python packages, and the first section of the news. */
static void versions(void **state)
{
	(void)state;
	assert_int_equal(shell("v=$(sed -n 's/^VERSION := //p' Makefile); test -n \"$v\" && head -1 tools/debian/changelog | grep -qF \"($v-\" && "
	                       "for f in userlib/*/pyproject.toml userlib/*/*/pyproject.toml; do [ ! -e $f ] || grep -qx \"version = \\\"$v\\\"\" $f || "
	                       "{ echo \"$f: not $v\"; exit 1; }; done && grep -m1 '^## ' docs/NEWS.md | grep -q \"^## $v\\(,\\|$\\)\""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_bytes), cmocka_unit_test(same_files), cmocka_unit_test(commit), cmocka_unit_test(no_git),
		cmocka_unit_test(signature), cmocka_unit_test(versions),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
