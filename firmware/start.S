/* SPDX-License-Identifier: Apache-2.0 */
/* First instructions of the firmware, and where traps arrive. */
#include "layout.h"
	.section .start, "ax"
	.globl _start
_start:
	la	t0, trap
	csrw	mtvec, t0
	li	sp, RAM_STACK_TOP
	call	protect
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

/*
 * Memory protection until the next reset, of the firmware against itself: eight locked entries, each from the one before up
 * to its own address, the lowest first. What is executed (the ROM, whose checks of images the firmware calls, and the
 * firmware's code) is not written; nothing else is executed, card memory least of all; the page below the stack is nobody's.
 */
	.equ	W, 0x8b			/* locked, up to the address; read and write */
	.equ	X, 0x8d			/* read and execute */
	.equ	NOTHING, 0x88
protect:
	li	t0, ROM_BYTES >> 2
	csrw	pmpaddr0, t0		/* X: the ROM */
	li	t0, RAM_IMAGE >> 2
	csrw	pmpaddr1, t0		/* NOTHING: nothing is there */
	la	t0, code_end
	srli	t0, t0, 2
	csrw	pmpaddr2, t0		/* X: code and constants */
	li	t0, RAM_GUARD >> 2
	csrw	pmpaddr3, t0		/* W: variables */
	li	t0, RAM_STACK >> 2
	csrw	pmpaddr4, t0		/* NOTHING: the page below the stack */
	li	t0, 0x20000000 >> 2
	csrw	pmpaddr5, t0		/* W: stack, log, what outlives resets */
	li	t0, 0x80000000 >> 2
	csrw	pmpaddr6, t0		/* W: registers */
	li	t0, 0xf0000000 >> 2
	csrw	pmpaddr7, t0		/* W: card memory, which ends below that */
	li	t0, W << 24 | X << 16 | NOTHING << 8 | X
	csrw	pmpcfg0, t0
	li	t0, W << 24 | W << 16 | W << 8 | NOTHING
	csrw	pmpcfg1, t0
	ret
