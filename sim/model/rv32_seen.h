/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which instructions the control core's interpreter executed: for the lines of firmware that tests reach
 * (tools/coverage.py), and for libFuzzer, which would else see what the interpreter does in place of what the firmware does.
 * Only a build for coverage (COV=1) or for fuzzing (SAN=fuzz) keeps them; elsewhere nothing is compiled.
 */
#ifndef WEFT_SIM_MODEL_RV32_SEEN_H
#define WEFT_SIM_MODEL_RV32_SEEN_H

#include <stdint.h>

#ifdef WEFT_COVERAGE
/*
 * Notes that the instruction word `insn` at the address `pc` was executed. When the process ends, each noted
 * address and word once is a line "PC WORD" (hexadecimal) in the file rv32-PID of the folder in the
 * environment's WEFT_SEEN, which has to be there; without that variable nothing is written. Any thread may call.
 */
void rv32_seen(uint32_t pc, uint32_t insn);
#define RV32_SEEN(pc, insn) rv32_seen(pc, insn)
#elif defined(WEFT_FUZZ)
/* How often the instruction at an address was executed, by the address's lower bits: read and cleared by libFuzzer. */
#define RV32_COUNTERS 16384u
extern uint8_t rv32_counters[RV32_COUNTERS];
#define RV32_SEEN(pc, insn) ((void)(insn), (void)rv32_counters[(pc) / 4 % RV32_COUNTERS]++)
#else
#define RV32_SEEN(pc, insn) ((void)(pc), (void)(insn))
#endif

#endif
