/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which instructions the control core's interpreter executed: for the lines of firmware that tests reach
 * (tools/coverage.py). Only a build for coverage (COV=1) keeps them; elsewhere nothing is compiled.
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
#else
#define RV32_SEEN(pc, insn) ((void)(pc), (void)(insn))
#endif

#endif
