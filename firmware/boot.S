/* SPDX-License-Identifier: Apache-2.0 */
/* First instructions of the boot ROM. A trap in it restarts it: the watchdog, once
 * on, ends that. */
#include "layout.h"
	.section .start, "ax"
	.globl _start
_start:
	la	t0, _start
	csrw	mtvec, t0
	csrw	mie, zero
	li	sp, RAM_STACK_TOP
	la	t0, bss_begin
	la	t1, bss_end
1:	bgeu	t0, t1, 2f
	sw	zero, 0(t0)
	addi	t0, t0, 4
	j	1b
2:	call	boot_main
3:	j	3b
