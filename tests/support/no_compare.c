/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a fuzz target calls in place of libFuzzer's look at each comparison, if its bytes are choices and no values that a
 * comparison could teach (FUZZ_NO_COMPARE in the Makefile).
 */

void fuzz_no_compare(void);    /* the linker alone calls it */

void fuzz_no_compare(void)
{
}
