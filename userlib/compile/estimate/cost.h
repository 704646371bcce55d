/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What commands cost, in cycles: every constant of the estimate stands here, with
 * where it comes from.
 *
 * "hw/x" means that the number follows from that block's README or RTL. "Fitted"
 * means that it was chosen so that the estimate agrees with traces of the RTL
 * (weft run --device rtl --profile) of the bench's networks at w16, command by
 * command; conformance/estimate then holds networks, within 2.2 %, and operators
 * to it. Constants that were never measured say so.
 *
 * Who uses them: emit/ gives every command its cost, rows and latency;
 * simulate.c lets units slow each other down; plan/tiling.c compares tiles before
 * there are commands.
 */
#ifndef WEFT_COMPILE_COST_H
#define WEFT_COMPILE_COST_H

/* ---- memory ---- */

/* Cycles of latency of fast and of slow memory: the profiles sram and ddr of sim/rtl/memory.cc. */
#define COST_MEMORY_NEAR 8
#define COST_MEMORY_FAR  100

/* Bytes that slow memory moves in a cycle at w16, both directions together (sim/rtl/memory.cc). */
#define COST_MEMORY_BYTES 8

/* Most beats of a burst: the DMA engines cut at multiples of 16 beats of the bus address (hw/dma). */
#define COST_BURST_BEATS 16

/* Bursts that are under way at most, each of which takes the memory's latency and 8 cycles: loads 16, since so
 * many may wait for their data; stores 64, since the memory takes their data at once and answers later (hw/dma).
 * With 16 for stores, DeepLab's 1 090 short stores of one operator were estimated at 7 463 cycles and took 2 282. */
#define COST_BURSTS_READ     16
#define COST_BURSTS_WRITE    64
#define COST_BURST_OVERHEAD  8

/* Cycles from the last beat of a load or a store to its retirement, beside the memory's latency. Fitted. */
#define COST_LOAD_LATENCY  10
#define COST_STORE_LATENCY 12

/* Cycles that a coded row takes longer on its way through the decoder. */
#define COST_DECODE_LATENCY 4

/* ---- the array (CV) ---- */

/* Cycles between the last word that the array takes of one command and the first of the next. Fitted. */
#define COST_CONV_NEXT 4

/* Cycles from the last word fed to retirement, beside the array's N columns and the rows of the last group. Fitted. */
#define COST_CONV_DRAIN 8

/* A group of N rows with a second addend takes N cycles for each pass that its rows make in the post unit (post_passes()), and
 * these cycles in addition (hw/post). Fitted at w16. */
#define COST_CONV_ADD 8

/* ---- the vector engine (VE) ---- */

/* Cycles from the start of a depthwise command to its first window: its first weights are fetched before. Fitted. */
#define COST_DW_START 30

/* A depthwise command takes up to this many cycles less if the device has planned it while it waited for other units (hw/vec). */
#define COST_DW_PLAN 7

/* Cycles from the start of a pooling or elementwise command to its first row. Fitted. */
#define COST_VECTOR_START 7

/* Cycles from the last row of a vector command to its retirement. Fitted. */
#define COST_VECTOR_LATENCY 4

/* A 3x3 depthwise command makes so many reads of weights for each block of N channels. Each brings two words, and the last one
 * brings one (hw/vec). */
#define COST_DW_WEIGHT_READS 5

/* Cycles from the last read of a table to the first byte that is looked up. Fitted. */
#define COST_TABLE_START 4

/* Cycles from the start of an alu command to its first element. Fitted. */
#define COST_ALU_START 10

/* Cycles from the last element of an alu command to its retirement. Fitted. */
#define COST_ALU_LATENCY 1

/* Least cycles for a block of elements that are looked up in a table (hw/alu). */
#define COST_ALU_LOOKUP 3

/* A lookup reads its table before all else, if it can, when dimension 0 has at least so many elements. Reading takes so many cycles more
 * than the table has words (hw/alu). */
#define COST_ALU_TABLE_PAYS  256
#define COST_ALU_TABLE_START 2

/* ---- command processor ---- */

/* Words of the stream that are on chip, and how many are asked for at a time (hw/cmd). */
#define COST_FETCH_WORDS 64
#define COST_FETCH_BURST 16

/* Cycles from the doorbell to the first command, beside the memory's latency; and from the last retirement to the end of
 * the stream. Fitted. */
#define COST_STREAM_START 10
#define COST_STREAM_END   8

/* DMA commands of one unit that may be issued and not retired (hw/cmd). */
#define COST_DMA_ISSUED 8

/* Cycles from a load command's arrival to its first request. Fitted. */
#define COST_LOAD_STARTS 5

/* Beats that the memory may have to answer before a fetch of words: 16 bursts, 4 of which are the stream's own and
 * half as long. From hw/dma and hw/cmd. */
#define COST_QUEUED_BEATS 224

/* ---- units that slow each other down; fixed point: COST_ONE is 1 ---- */

#define COST_ONE 256

/* A unit never gets slower than this: whatever is in its way pauses now and then. Not measured. */
#define COST_LEAST_RATE (COST_ONE / 16)

/* Part of the post unit's cycles that the vector engine gets while the array has rows: every eighth (hw/post). */
#define COST_POST_SHARE (COST_ONE / 8)

/* The same if each of the array's rows takes several passes, since all passes but the first take turns with the vector engine's
 * rows (hw/post). When the estimate used an eighth for such rows as well, it was wrong by up to 13 % of a network's cycles. With
 * this share and other changes, it was wrong by up to 4 %. */
#define COST_POST_SHARE_PASSES(passes) (((passes) - 1) * COST_ONE / (2 * (passes) - 1))

/* The same if the array's command has `turns` set: the vector engine may then have every second cycle (hw/post). */
#define COST_POST_SHARE_TURNS (COST_ONE / 2)

/* A read of parameters goes before all others when it has been refused four times (hw/sp). */
#define COST_PARAMETER_WAIT 5

/* Rows between a read of the vector engine and the write of the row that it completes. Fitted: with it, and with
 * depthwise weights, depthwise commands of 18 networks are off by 4.7 % of their cycles instead of 5.4 %. */
#define COST_VECTOR_ROWS_LATE 11

/* Rounds of finding the rates of array and vector engine, each of which depends on the other. Two rounds came with the
 * estimate that is within 2.2 % of every network of the bench; more were not tried. */
#define COST_RATE_ROUNDS 2

/* A command that goes through its operands more often than this is taken to be everywhere in them at any time.
 * Not measured. */
#define COST_MOST_SWEEPS 4

/* ---- tiles, before there are commands ---- */

/* Cycles that a job costs beside its bytes and its work (plan/tiling.c). Chosen; on the ten networks of search/search.c a
 * quarter of it changes nothing in the mean, four times as much costs 0.1 % (MobileNetV2 1.7 %). */
#define COST_JOB 80

/* A load should be done so many cycles before its data are needed, or another one does not go before it
 * (emit/load_order.c). Chosen with the order of loads, not measured alone. */
#define COST_LOAD_SPARE (COST_MEMORY_FAR + 64)

#endif
