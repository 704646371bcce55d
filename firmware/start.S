/* SPDX-License-Identifier: Apache-2.0 */
/* First instructions of the firmware, and where traps arrive. */
#include "layout.h"
	.section .start, "ax"
	.globl _start
_start:
	la	t0, trap
	csrw	mtvec, t0
	li	sp, RAM_STACK_TOP
	la	t0, bss_begin
	la	t1, bss_end
1:	bgeu	t0, t1, 2f
	sw	zero, 0(t0)
	addi	t0, t0, 4
	j	1b
2:	call	main
3:	j	3b

/* The handler does not return to what was interrupted: it notes and resets, or
 * waits for the watchdog. So nothing is saved. ra is kept for the log. */
	.balign 4
trap:
	mv	a0, ra
	li	sp, RAM_STACK_TOP
	call	trapped
3:	j	3b
