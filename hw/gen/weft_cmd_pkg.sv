// Generated from include/spec/cmd.toml by tools/gen.py; edit that and run `make gen`.
// SPDX-License-Identifier: Apache-2.0
/* verilator lint_off UNUSEDPARAM */
package weft_cmd_pkg;
  // Bit positions count from bit 0 of word 0 of the command.

  localparam int unsigned HEADER_WORDS = 2;

  // A whole command: word 0 in the low bits, then as many words as the longest one has.
  typedef logic [1023:0] cmd_t;
  // A load or a store, which are equally long.
  typedef logic [447:0] move_t;

  localparam logic [7:0] OP_END = 8'h01;  // End of stream: the job is done when all earlier commands have retired
  localparam logic [7:0] END_WORDS = 8'd2;
  localparam logic [7:0] OP_LOAD = 8'h10;  // Copy a strided block of up to four dimensions from memory to the scratchpad
  localparam logic [7:0] LOAD_WORDS = 8'd7;
  localparam logic [7:0] OP_STORE = 8'h11;  // Copy a strided block of up to four dimensions from the scratchpad to memory
  localparam logic [7:0] STORE_WORDS = 8'd7;
  localparam logic [7:0] OP_CONV = 8'h20;  // Convolution of an input tile with all its taps: systolic array and post unit
  localparam logic [7:0] CONV_WORDS = 8'd16;
  localparam logic [7:0] OP_DW = 8'h30;  // Depthwise convolution, channel multiplier 1
  localparam logic [7:0] DW_WORDS = 8'd13;
  localparam logic [7:0] OP_POOL = 8'h31;  // Maximum or sum over a window without padding, per channel
  localparam logic [7:0] POOL_WORDS = 8'd12;
  localparam logic [7:0] OP_ELT = 8'h32;  // Elementwise: RESCALE and clamp of one tensor, of its values in a table, or of the sum, difference or product of two
  localparam logic [7:0] ELT_WORDS = 8'd10;
  localparam logic [7:0] OP_ALU = 8'h33;  // Integer operation on each element of up to four dimensions
  localparam logic [7:0] ALU_WORDS = 8'd14;

  localparam logic [7:0] UNIT_LD = 8'd0;  // DMA, memory to scratchpad
  localparam logic [7:0] UNIT_ST = 8'd1;  // DMA, scratchpad to memory
  localparam logic [7:0] UNIT_CV = 8'd2;  // systolic array
  localparam logic [7:0] UNIT_VE = 8'd3;  // depthwise, pooling and elementwise engine
  localparam logic [7:0] UNIT_CP = 8'd15;  // command processor itself

  localparam logic [7:0] FAULT_NONE = 8'd0;  // no fault
  localparam logic [7:0] FAULT_BAD_OP = 8'd1;  // unknown opcode
  localparam logic [7:0] FAULT_BAD_LEN = 8'd2;  // word count in the header is not the opcode's
  localparam logic [7:0] FAULT_BAD_FIELD = 8'd3;  // a field is outside its range
  localparam logic [7:0] FAULT_SP_RANGE = 8'd4;  // scratchpad address beyond its end
  localparam logic [7:0] FAULT_WINDOW = 8'd5;  // memory access outside its window, or not permitted there
  localparam logic [7:0] FAULT_BUS = 8'd6;  // the bus answered with an error
  localparam logic [7:0] FAULT_DEADLOCK = 8'd7;  // every unit idle and every waiting command unsatisfied
  localparam logic [7:0] FAULT_STREAM_END = 8'd8;  // the stream ended without END
  localparam logic [7:0] FAULT_BAD_MODE = 8'd9;  // arithmetic mode not in this configuration
  localparam logic [7:0] FAULT_ECC = 8'd10;  // two wrong bits in a word of the scratchpad, or of a command in its queue

  // Opcode
  localparam int unsigned HEADER_OP_LSB = 0;
  localparam int unsigned HEADER_OP_W = 8;
  // Words of this command, header included
  localparam int unsigned HEADER_N_WORDS_LSB = 8;
  localparam int unsigned HEADER_N_WORDS_W = 8;
  // Free for the compiler; reported with a fault
  localparam int unsigned HEADER_TAG_LSB = 32;
  localparam int unsigned HEADER_TAG_W = 32;
  // Starts when at least this many LD commands of this stream have retired
  localparam int unsigned HEADER_WAIT_LD_LSB = 64;
  localparam int unsigned HEADER_WAIT_LD_W = 16;
  // The same for ST
  localparam int unsigned HEADER_WAIT_ST_LSB = 80;
  localparam int unsigned HEADER_WAIT_ST_W = 16;
  // The same for CV
  localparam int unsigned HEADER_WAIT_CV_LSB = 96;
  localparam int unsigned HEADER_WAIT_CV_W = 16;
  // The same for VE
  localparam int unsigned HEADER_WAIT_VE_LSB = 112;
  localparam int unsigned HEADER_WAIT_VE_W = 16;

  // Of conv, dw, pool, elt.
  // Scratchpad address of output pixel (0,0), channel 0, bytes
  localparam int unsigned POST_OUT_BASE_LSB = 128;
  localparam int unsigned POST_OUT_BASE_W = 20;
  // Step to the next output pixel of the row, bytes
  localparam int unsigned POST_OUT_X_STRIDE_LSB = 148;
  localparam int unsigned POST_OUT_X_STRIDE_W = 20;
  // Step to the next output row, bytes
  localparam int unsigned POST_OUT_Y_STRIDE_LSB = 168;
  localparam int unsigned POST_OUT_Y_STRIDE_W = 20;
  // Output width, pixels
  localparam int unsigned POST_OW_LSB = 192;
  localparam int unsigned POST_OW_W = 16;
  localparam logic [15:0] POST_OW_MIN = 16'd1;
  localparam logic [15:0] POST_OW_MAX = 16'd65535;
  // Output height, rows
  localparam int unsigned POST_OH_LSB = 208;
  localparam int unsigned POST_OH_W = 16;
  localparam logic [15:0] POST_OH_MIN = 16'd1;
  localparam logic [15:0] POST_OH_MAX = 16'd65535;
  // Output channels, channels
  localparam int unsigned POST_OC_LSB = 224;
  localparam int unsigned POST_OC_W = 16;
  localparam logic [15:0] POST_OC_MIN = 16'd1;
  localparam logic [15:0] POST_OC_MAX = 16'd65535;
  // 0 int8, 1 int16x8, 2 float8. Must be among the configuration's modes
  localparam int unsigned POST_MODE_LSB = 240;
  localparam int unsigned POST_MODE_W = 3;
  localparam logic [2:0] POST_MODE_MIN = 3'd0;
  localparam logic [2:0] POST_MODE_MAX = 3'd2;
  localparam logic [2:0] POST_MODE_V_INT8 = 3'd0;
  localparam logic [2:0] POST_MODE_V_INT16 = 3'd1;
  localparam logic [2:0] POST_MODE_V_FLOAT8 = 3'd2;
  // RESCALE of the first stage rounds twice
  localparam int unsigned POST_DOUBLE_ROUND_LSB = 243;
  localparam int unsigned POST_DOUBLE_ROUND_W = 1;
  // RESCALE of the first stage takes a 48-bit value and a 16-bit multiplier; conv and dw only
  localparam int unsigned POST_SCALE16_LSB = 244;
  localparam int unsigned POST_SCALE16_W = 1;
  // Add a second tensor behind the first stage
  localparam int unsigned POST_ADD_LSB = 245;
  localparam int unsigned POST_ADD_W = 1;
  // Left shift of both addends before their RESCALE, bits
  localparam int unsigned POST_PRE_SHIFT_LSB = 246;
  localparam int unsigned POST_PRE_SHIFT_W = 5;
  localparam logic [4:0] POST_PRE_SHIFT_MIN = 5'd0;
  localparam logic [4:0] POST_PRE_SHIFT_MAX = 5'd30;
  // Format of the output
  localparam int unsigned POST_OUT_FMT_LSB = 251;
  localparam int unsigned POST_OUT_FMT_W = 3;
  localparam logic [2:0] POST_OUT_FMT_MIN = 3'd0;
  localparam logic [2:0] POST_OUT_FMT_MAX = 3'd4;
  localparam logic [2:0] POST_OUT_FMT_V_E4M3FN = 3'd0;
  localparam logic [2:0] POST_OUT_FMT_V_E5M2 = 3'd1;
  localparam logic [2:0] POST_OUT_FMT_V_E4M3FNUZ = 3'd2;
  localparam logic [2:0] POST_OUT_FMT_V_E5M2FNUZ = 3'd3;
  localparam logic [2:0] POST_OUT_FMT_V_FP16 = 3'd4;
  // Values beyond the output's format become its largest finite
  localparam int unsigned POST_SATURATE_LSB = 254;
  localparam int unsigned POST_SATURATE_W = 1;
  // Write the sum with its bias, unscaled; conv and dw only
  localparam int unsigned POST_RAW_LSB = 255;
  localparam int unsigned POST_RAW_W = 1;
  // Zero point added behind the first stage
  localparam int unsigned POST_Y_ZP_LSB = 256;
  localparam int unsigned POST_Y_ZP_W = 16;
  // Lower clamp of the first stage
  localparam int unsigned POST_Y_MIN_LSB = 272;
  localparam int unsigned POST_Y_MIN_W = 16;
  // Upper clamp of the first stage
  localparam int unsigned POST_Y_MAX_LSB = 288;
  localparam int unsigned POST_Y_MAX_W = 16;
  // Zero point of the first addend
  localparam int unsigned POST_A_ZP_LSB = 304;
  localparam int unsigned POST_A_ZP_W = 16;
  // Scratchpad address of the second addend, pixel (0,0), channel 0, bytes
  localparam int unsigned POST_B_BASE_LSB = 320;
  localparam int unsigned POST_B_BASE_W = 20;
  // Its step to the next pixel of the row, bytes
  localparam int unsigned POST_B_X_STRIDE_LSB = 340;
  localparam int unsigned POST_B_X_STRIDE_W = 20;
  // Its step to the next row, bytes
  localparam int unsigned POST_B_Y_STRIDE_LSB = 360;
  localparam int unsigned POST_B_Y_STRIDE_W = 20;
  // Zero point of the second addend
  localparam int unsigned POST_B_ZP_LSB = 384;
  localparam int unsigned POST_B_ZP_W = 16;
  // Zero point of the sum
  localparam int unsigned POST_S_ZP_LSB = 400;
  localparam int unsigned POST_S_ZP_W = 16;
  // Lower clamp of the sum
  localparam int unsigned POST_S_MIN_LSB = 416;
  localparam int unsigned POST_S_MIN_W = 16;
  // Upper clamp of the sum
  localparam int unsigned POST_S_MAX_LSB = 432;
  localparam int unsigned POST_S_MAX_W = 16;
  // Multiplier of the first addend (pool: of the result)
  localparam int unsigned POST_A_MUL_LSB = 448;
  localparam int unsigned POST_A_MUL_W = 32;
  localparam logic [31:0] POST_A_MUL_MIN = 32'd0;
  localparam logic [31:0] POST_A_MUL_MAX = 32'd2147483647;
  // Multiplier of the second addend
  localparam int unsigned POST_B_MUL_LSB = 480;
  localparam int unsigned POST_B_MUL_W = 32;
  localparam logic [31:0] POST_B_MUL_MIN = 32'd0;
  localparam logic [31:0] POST_B_MUL_MAX = 32'd2147483647;
  // Multiplier of the sum
  localparam int unsigned POST_S_MUL_LSB = 512;
  localparam int unsigned POST_S_MUL_W = 32;
  localparam logic [31:0] POST_S_MUL_MIN = 32'd0;
  localparam logic [31:0] POST_S_MUL_MAX = 32'd2147483647;
  // Shift of the first addend (pool: of the result)
  localparam int unsigned POST_A_SHIFT_LSB = 544;
  localparam int unsigned POST_A_SHIFT_W = 6;
  localparam logic [5:0] POST_A_SHIFT_MIN = 6'd2;
  localparam logic [5:0] POST_A_SHIFT_MAX = 6'd62;
  // The second addend is subtracted
  localparam int unsigned POST_SUB_LSB = 550;
  localparam int unsigned POST_SUB_W = 1;
  // Shift of the second addend
  localparam int unsigned POST_B_SHIFT_LSB = 552;
  localparam int unsigned POST_B_SHIFT_W = 6;
  localparam logic [5:0] POST_B_SHIFT_MIN = 6'd2;
  localparam logic [5:0] POST_B_SHIFT_MAX = 6'd62;
  // Shift of the sum
  localparam int unsigned POST_S_SHIFT_LSB = 560;
  localparam int unsigned POST_S_SHIFT_W = 6;
  localparam logic [5:0] POST_S_SHIFT_MIN = 6'd2;
  localparam logic [5:0] POST_S_SHIFT_MAX = 6'd62;
  // Format of the input
  localparam int unsigned POST_X_FMT_LSB = 566;
  localparam int unsigned POST_X_FMT_W = 3;
  localparam logic [2:0] POST_X_FMT_MIN = 3'd0;
  localparam logic [2:0] POST_X_FMT_MAX = 3'd4;
  localparam logic [2:0] POST_X_FMT_V_E4M3FN = 3'd0;
  localparam logic [2:0] POST_X_FMT_V_E5M2 = 3'd1;
  localparam logic [2:0] POST_X_FMT_V_E4M3FNUZ = 3'd2;
  localparam logic [2:0] POST_X_FMT_V_E5M2FNUZ = 3'd3;
  localparam logic [2:0] POST_X_FMT_V_FP16 = 3'd4;
  // Format of the weights
  localparam int unsigned POST_W_FMT_LSB = 569;
  localparam int unsigned POST_W_FMT_W = 2;
  localparam logic [1:0] POST_W_FMT_MIN = 2'd0;
  localparam logic [1:0] POST_W_FMT_MAX = 2'd3;
  localparam logic [1:0] POST_W_FMT_V_E4M3FN = 2'd0;
  localparam logic [1:0] POST_W_FMT_V_E5M2 = 2'd1;
  localparam logic [1:0] POST_W_FMT_V_E4M3FNUZ = 2'd2;
  localparam logic [1:0] POST_W_FMT_V_E5M2FNUZ = 2'd3;
  // Format of the second tensor
  localparam int unsigned POST_B_FMT_LSB = 571;
  localparam int unsigned POST_B_FMT_W = 3;
  localparam logic [2:0] POST_B_FMT_MIN = 3'd0;
  localparam logic [2:0] POST_B_FMT_MAX = 3'd4;
  localparam logic [2:0] POST_B_FMT_V_E4M3FN = 3'd0;
  localparam logic [2:0] POST_B_FMT_V_E5M2 = 3'd1;
  localparam logic [2:0] POST_B_FMT_V_E4M3FNUZ = 3'd2;
  localparam logic [2:0] POST_B_FMT_V_E5M2FNUZ = 3'd3;
  localparam logic [2:0] POST_B_FMT_V_FP16 = 3'd4;
  // RESCALE of the first stage breaks ties to even
  localparam int unsigned POST_EVEN_LSB = 574;
  localparam int unsigned POST_EVEN_W = 1;
  // RESCALE of the sum breaks ties to even
  localparam int unsigned POST_S_EVEN_LSB = 575;
  localparam int unsigned POST_S_EVEN_W = 1;

  // Of load, store.
  // DMA window
  localparam int unsigned LOAD_WINDOW_LSB = 128;
  localparam int unsigned LOAD_WINDOW_W = 3;
  // Offset in the window, bytes
  localparam int unsigned LOAD_DRAM_OFF_LSB = 136;
  localparam int unsigned LOAD_DRAM_OFF_W = 40;
  // Scratchpad address, bytes
  localparam int unsigned LOAD_SP_ADDR_LSB = 192;
  localparam int unsigned LOAD_SP_ADDR_W = 20;
  // Contiguous bytes of the innermost dimension, bytes
  localparam int unsigned LOAD_ROW_BYTES_LSB = 212;
  localparam int unsigned LOAD_ROW_BYTES_W = 20;
  localparam logic [19:0] LOAD_ROW_BYTES_MIN = 20'd1;
  localparam logic [19:0] LOAD_ROW_BYTES_MAX = 20'd1048575;
  // Count of the second dimension
  localparam int unsigned LOAD_N1_LSB = 232;
  localparam int unsigned LOAD_N1_W = 16;
  localparam logic [15:0] LOAD_N1_MIN = 16'd1;
  localparam logic [15:0] LOAD_N1_MAX = 16'd65535;
  // Count of the third dimension
  localparam int unsigned LOAD_N2_LSB = 256;
  localparam int unsigned LOAD_N2_W = 16;
  localparam logic [15:0] LOAD_N2_MIN = 16'd1;
  localparam logic [15:0] LOAD_N2_MAX = 16'd65535;
  // Count of the outermost dimension
  localparam int unsigned LOAD_N3_LSB = 272;
  localparam int unsigned LOAD_N3_W = 16;
  localparam logic [15:0] LOAD_N3_MIN = 16'd1;
  localparam logic [15:0] LOAD_N3_MAX = 16'd65535;
  // Memory step of the second dimension, bytes
  localparam int unsigned LOAD_DRAM_STRIDE1_LSB = 288;
  localparam int unsigned LOAD_DRAM_STRIDE1_W = 32;
  // Memory step of the third dimension, bytes
  localparam int unsigned LOAD_DRAM_STRIDE2_LSB = 320;
  localparam int unsigned LOAD_DRAM_STRIDE2_W = 32;
  // Memory step of the outermost dimension, bytes
  localparam int unsigned LOAD_DRAM_STRIDE3_LSB = 352;
  localparam int unsigned LOAD_DRAM_STRIDE3_W = 32;
  // Scratchpad step of the second dimension, bytes
  localparam int unsigned LOAD_SP_STRIDE1_LSB = 384;
  localparam int unsigned LOAD_SP_STRIDE1_W = 20;
  // Scratchpad step of the third dimension, bytes
  localparam int unsigned LOAD_SP_STRIDE2_LSB = 404;
  localparam int unsigned LOAD_SP_STRIDE2_W = 20;
  // Scratchpad step of the outermost dimension, bytes
  localparam int unsigned LOAD_SP_STRIDE3_LSB = 424;
  localparam int unsigned LOAD_SP_STRIDE3_W = 20;
  // Widen int4 to int8
  localparam int unsigned LOAD_INT4_LSB = 176;
  localparam int unsigned LOAD_INT4_W = 1;
  // Words of N bytes in memory that hold the row coded; 0: it is not coded, words
  localparam int unsigned LOAD_CODED_LSB = 177;
  localparam int unsigned LOAD_CODED_W = 15;
  // With coded: added to each byte; else 0
  localparam int unsigned LOAD_CENTRE_LSB = 248;
  localparam int unsigned LOAD_CENTRE_W = 8;

  // Of conv.
  // Scratchpad address of output pixel (0,0), tap (0,0), byte 0, modulo 2^20, bytes
  localparam int unsigned CONV_IN_BASE_LSB = 576;
  localparam int unsigned CONV_IN_BASE_W = 20;
  // Address step from one output row to the next, bytes
  localparam int unsigned CONV_OY_STEP_LSB = 596;
  localparam int unsigned CONV_OY_STEP_W = 20;
  // Address step from one output pixel to the next, bytes
  localparam int unsigned CONV_OX_STEP_LSB = 616;
  localparam int unsigned CONV_OX_STEP_W = 20;
  // Address step from one kernel row to the next, bytes
  localparam int unsigned CONV_KY_STEP_LSB = 640;
  localparam int unsigned CONV_KY_STEP_W = 20;
  // Address step from one kernel column to the next, bytes
  localparam int unsigned CONV_KX_STEP_LSB = 660;
  localparam int unsigned CONV_KX_STEP_W = 20;
  // Bytes of a run, bytes
  localparam int unsigned CONV_RUN_LEN_LSB = 680;
  localparam int unsigned CONV_RUN_LEN_W = 20;
  localparam logic [19:0] CONV_RUN_LEN_MIN = 20'd1;
  localparam logic [19:0] CONV_RUN_LEN_MAX = 20'd1048575;
  // Kernel rows
  localparam int unsigned CONV_N_KY_LSB = 704;
  localparam int unsigned CONV_N_KY_W = 12;
  localparam logic [11:0] CONV_N_KY_MIN = 12'd1;
  localparam logic [11:0] CONV_N_KY_MAX = 12'd4095;
  // Kernel columns; 1 where they are joined with the channels
  localparam int unsigned CONV_N_KX_LSB = 716;
  localparam int unsigned CONV_N_KX_W = 12;
  localparam logic [11:0] CONV_N_KX_MIN = 12'd1;
  localparam logic [11:0] CONV_N_KX_MAX = 12'd4095;
  // Rows from one output row to the next
  localparam int unsigned CONV_STRIDE_Y_LSB = 728;
  localparam int unsigned CONV_STRIDE_Y_W = 14;
  localparam logic [13:0] CONV_STRIDE_Y_MIN = 14'd1;
  localparam logic [13:0] CONV_STRIDE_Y_MAX = 14'd8192;
  // Rows from one kernel row to the next
  localparam int unsigned CONV_DIL_Y_LSB = 744;
  localparam int unsigned CONV_DIL_Y_W = 14;
  localparam logic [13:0] CONV_DIL_Y_MIN = 14'd1;
  localparam logic [13:0] CONV_DIL_Y_MAX = 14'd8192;
  // Leave the sums in the array
  localparam int unsigned CONV_KEEP_LSB = 760;
  localparam int unsigned CONV_KEEP_W = 1;
  // Column tiles in pairs, each on half of the array's rows
  localparam int unsigned CONV_PAIRS_LSB = 761;
  localparam int unsigned CONV_PAIRS_W = 1;
  // Parameter records are those of 8 bytes
  localparam int unsigned CONV_P_SHORT_LSB = 762;
  localparam int unsigned CONV_P_SHORT_W = 1;
  // While rows of the vector engine wait at the post unit, every second cycle there is theirs, with 0 every eighth; the results are the same
  localparam int unsigned CONV_TURNS_LSB = 763;
  localparam int unsigned CONV_TURNS_W = 1;
  // Rows present; others are padding, rows
  localparam int unsigned CONV_IN_H_LSB = 768;
  localparam int unsigned CONV_IN_H_W = 16;
  localparam logic [15:0] CONV_IN_H_MIN = 16'd1;
  localparam logic [15:0] CONV_IN_H_MAX = 16'd65535;
  // Row of output row 0, kernel row 0 (negative: padding), rows
  localparam int unsigned CONV_IY_START_LSB = 784;
  localparam int unsigned CONV_IY_START_W = 16;
  // Bytes present in a row; others are padding, bytes
  localparam int unsigned CONV_X_LIMIT_LSB = 800;
  localparam int unsigned CONV_X_LIMIT_W = 20;
  localparam logic [19:0] CONV_X_LIMIT_MIN = 20'd1;
  localparam logic [19:0] CONV_X_LIMIT_MAX = 20'd1048575;
  // Byte in the row of output pixel 0, kernel column 0 (negative: padding), bytes
  localparam int unsigned CONV_XB_START_LSB = 832;
  localparam int unsigned CONV_XB_START_W = 21;
  // Zero point of the input
  localparam int unsigned CONV_X_ZP_LSB = 856;
  localparam int unsigned CONV_X_ZP_W = 16;
  localparam logic signed [15:0] CONV_X_ZP_MIN = -16'sd128;
  localparam logic signed [15:0] CONV_X_ZP_MAX = 16'sd127;
  // Zero point of the weights
  localparam int unsigned CONV_W_ZP_LSB = 872;
  localparam int unsigned CONV_W_ZP_W = 9;
  localparam logic signed [8:0] CONV_W_ZP_MIN = -9'sd128;
  localparam logic signed [8:0] CONV_W_ZP_MAX = 9'sd127;
  // Scratchpad address of the weights, a multiple of N, bytes
  localparam int unsigned CONV_W_BASE_LSB = 896;
  localparam int unsigned CONV_W_BASE_W = 20;
  // Scratchpad address of the parameter records, a multiple of N, bytes
  localparam int unsigned CONV_P_BASE_LSB = 916;
  localparam int unsigned CONV_P_BASE_W = 20;
  // Products are multiplied by 2 to this power
  localparam int unsigned CONV_LOG2_SCALE_LSB = 960;
  localparam int unsigned CONV_LOG2_SCALE_W = 6;

  // Of dw.
  // Scratchpad address of input row 0, column 0, channel 0, bytes
  localparam int unsigned DW_IN_BASE_LSB = 576;
  localparam int unsigned DW_IN_BASE_W = 20;
  // Step to the next input column, bytes
  localparam int unsigned DW_IN_X_STRIDE_LSB = 596;
  localparam int unsigned DW_IN_X_STRIDE_W = 20;
  // Step to the next input row, bytes
  localparam int unsigned DW_IN_Y_STRIDE_LSB = 616;
  localparam int unsigned DW_IN_Y_STRIDE_W = 20;
  // Input rows present, rows
  localparam int unsigned DW_IN_H_LSB = 640;
  localparam int unsigned DW_IN_H_W = 16;
  localparam logic [15:0] DW_IN_H_MIN = 16'd1;
  localparam logic [15:0] DW_IN_H_MAX = 16'd65535;
  // Input columns present, pixels
  localparam int unsigned DW_IN_W_LSB = 656;
  localparam int unsigned DW_IN_W_W = 16;
  localparam logic [15:0] DW_IN_W_MIN = 16'd1;
  localparam logic [15:0] DW_IN_W_MAX = 16'd65535;
  // Row of output row 0, kernel row 0 (negative: padding), rows
  localparam int unsigned DW_IY_START_LSB = 672;
  localparam int unsigned DW_IY_START_W = 16;
  // Column of output column 0, kernel column 0, pixels
  localparam int unsigned DW_IX_START_LSB = 688;
  localparam int unsigned DW_IX_START_W = 16;
  // Scratchpad address of the weights, a multiple of N, bytes
  localparam int unsigned DW_W_BASE_LSB = 704;
  localparam int unsigned DW_W_BASE_W = 20;
  // Scratchpad address of the parameter records, a multiple of N, bytes
  localparam int unsigned DW_P_BASE_LSB = 724;
  localparam int unsigned DW_P_BASE_W = 20;
  // Rows from one output row to the next
  localparam int unsigned DW_STRIDE_Y_LSB = 744;
  localparam int unsigned DW_STRIDE_Y_W = 4;
  localparam logic [3:0] DW_STRIDE_Y_MIN = 4'd1;
  localparam logic [3:0] DW_STRIDE_Y_MAX = 4'd15;
  // Columns from one output column to the next
  localparam int unsigned DW_STRIDE_X_LSB = 748;
  localparam int unsigned DW_STRIDE_X_W = 4;
  localparam logic [3:0] DW_STRIDE_X_MIN = 4'd1;
  localparam logic [3:0] DW_STRIDE_X_MAX = 4'd15;
  // Zero point of the input
  localparam int unsigned DW_X_ZP_LSB = 752;
  localparam int unsigned DW_X_ZP_W = 8;
  // Zero point of the weights
  localparam int unsigned DW_W_ZP_LSB = 760;
  localparam int unsigned DW_W_ZP_W = 8;
  // Products are multiplied by 2 to this power
  localparam int unsigned DW_LOG2_SCALE_LSB = 768;
  localparam int unsigned DW_LOG2_SCALE_W = 6;
  // Kernel rows; 0 for 3x3, rows
  localparam int unsigned DW_N_KY_LSB = 776;
  localparam int unsigned DW_N_KY_W = 4;
  // Kernel columns, 3 to 9; 0 for 3x3, pixels
  localparam int unsigned DW_N_KX_LSB = 780;
  localparam int unsigned DW_N_KX_W = 4;
  localparam logic [3:0] DW_N_KX_MIN = 4'd0;
  localparam logic [3:0] DW_N_KX_MAX = 4'd9;
  // Elements of the input choose bytes of the table at b_base
  localparam int unsigned DW_TABLE_LSB = 784;
  localparam int unsigned DW_TABLE_W = 1;
  // Parameter records are those of 8 bytes
  localparam int unsigned DW_P_SHORT_LSB = 785;
  localparam int unsigned DW_P_SHORT_W = 1;

  // Of pool.
  // Scratchpad address of output pixel (0,0), tap (0,0), channel 0, bytes
  localparam int unsigned POOL_IN_BASE_LSB = 576;
  localparam int unsigned POOL_IN_BASE_W = 20;
  // Address step from one output row to the next, bytes
  localparam int unsigned POOL_OY_STEP_LSB = 596;
  localparam int unsigned POOL_OY_STEP_W = 20;
  // Address step from one output pixel to the next, bytes
  localparam int unsigned POOL_OX_STEP_LSB = 616;
  localparam int unsigned POOL_OX_STEP_W = 20;
  // Address step from one window row to the next, bytes
  localparam int unsigned POOL_KY_STEP_LSB = 640;
  localparam int unsigned POOL_KY_STEP_W = 20;
  // Address step from one window column to the next, bytes
  localparam int unsigned POOL_KX_STEP_LSB = 660;
  localparam int unsigned POOL_KX_STEP_W = 20;
  // Zero point subtracted from every element of a sum
  localparam int unsigned POOL_X_ZP_LSB = 680;
  localparam int unsigned POOL_X_ZP_W = 8;
  // 0 maximum, 1 sum
  localparam int unsigned POOL_SUM_LSB = 688;
  localparam int unsigned POOL_SUM_W = 1;
  // Window rows
  localparam int unsigned POOL_N_KY_LSB = 704;
  localparam int unsigned POOL_N_KY_W = 16;
  localparam logic [15:0] POOL_N_KY_MIN = 16'd1;
  localparam logic [15:0] POOL_N_KY_MAX = 16'd65535;
  // Window columns
  localparam int unsigned POOL_N_KX_LSB = 720;
  localparam int unsigned POOL_N_KX_W = 16;
  localparam logic [15:0] POOL_N_KX_MIN = 16'd1;
  localparam logic [15:0] POOL_N_KX_MAX = 16'd65535;

  // Of elt.
  // Scratchpad address of pixel (0,0), channel 0, bytes
  localparam int unsigned ELT_IN_BASE_LSB = 576;
  localparam int unsigned ELT_IN_BASE_W = 20;
  // Step to the next pixel of the row, bytes
  localparam int unsigned ELT_IN_X_STRIDE_LSB = 596;
  localparam int unsigned ELT_IN_X_STRIDE_W = 20;
  // Step to the next row, bytes
  localparam int unsigned ELT_IN_Y_STRIDE_LSB = 616;
  localparam int unsigned ELT_IN_Y_STRIDE_W = 20;
  // Elements choose bytes of the table at b_base
  localparam int unsigned ELT_TABLE_LSB = 636;
  localparam int unsigned ELT_TABLE_W = 1;
  // Product with the second tensor
  localparam int unsigned ELT_MUL_LSB = 637;
  localparam int unsigned ELT_MUL_W = 1;

  // Of alu.
  // Count of the innermost dimension
  localparam int unsigned ALU_N0_LSB = 128;
  localparam int unsigned ALU_N0_W = 16;
  localparam logic [15:0] ALU_N0_MIN = 16'd1;
  localparam logic [15:0] ALU_N0_MAX = 16'd65535;
  // Count of the second
  localparam int unsigned ALU_N1_LSB = 144;
  localparam int unsigned ALU_N1_W = 16;
  localparam logic [15:0] ALU_N1_MIN = 16'd1;
  localparam logic [15:0] ALU_N1_MAX = 16'd65535;
  // Count of the third
  localparam int unsigned ALU_N2_LSB = 160;
  localparam int unsigned ALU_N2_W = 16;
  localparam logic [15:0] ALU_N2_MIN = 16'd1;
  localparam logic [15:0] ALU_N2_MAX = 16'd65535;
  // Count of the outermost
  localparam int unsigned ALU_N3_LSB = 176;
  localparam int unsigned ALU_N3_W = 16;
  localparam logic [15:0] ALU_N3_MIN = 16'd1;
  localparam logic [15:0] ALU_N3_MAX = 16'd65535;
  // Scratchpad address of the first operand, bytes
  localparam int unsigned ALU_A_BASE_LSB = 192;
  localparam int unsigned ALU_A_BASE_W = 20;
  // Its step in dimension 0, bytes
  localparam int unsigned ALU_A_S0_LSB = 212;
  localparam int unsigned ALU_A_S0_W = 20;
  // Its step in dimension 1, bytes
  localparam int unsigned ALU_A_S1_LSB = 232;
  localparam int unsigned ALU_A_S1_W = 20;
  // Its step in dimension 2, bytes
  localparam int unsigned ALU_A_S2_LSB = 256;
  localparam int unsigned ALU_A_S2_W = 20;
  // Its step in dimension 3, bytes
  localparam int unsigned ALU_A_S3_LSB = 276;
  localparam int unsigned ALU_A_S3_W = 20;
  // Type of its elements
  localparam int unsigned ALU_A_TYPE_LSB = 252;
  localparam int unsigned ALU_A_TYPE_W = 3;
  localparam logic [2:0] ALU_A_TYPE_MIN = 3'd0;
  localparam logic [2:0] ALU_A_TYPE_MAX = 3'd6;
  localparam logic [2:0] ALU_A_TYPE_V_INT8 = 3'd0;
  localparam logic [2:0] ALU_A_TYPE_V_INT16 = 3'd1;
  localparam logic [2:0] ALU_A_TYPE_V_INT32 = 3'd2;
  localparam logic [2:0] ALU_A_TYPE_V_INT48 = 3'd3;
  localparam logic [2:0] ALU_A_TYPE_V_UINT8 = 3'd4;
  localparam logic [2:0] ALU_A_TYPE_V_UINT16 = 3'd5;
  localparam logic [2:0] ALU_A_TYPE_V_UINT32 = 3'd6;
  // Subtracted from its elements
  localparam int unsigned ALU_A_ZP_LSB = 296;
  localparam int unsigned ALU_A_ZP_W = 17;
  // Scratchpad address of the second operand, bytes
  localparam int unsigned ALU_B_BASE_LSB = 320;
  localparam int unsigned ALU_B_BASE_W = 20;
  // Its step in dimension 0, bytes
  localparam int unsigned ALU_B_S0_LSB = 340;
  localparam int unsigned ALU_B_S0_W = 20;
  // Its step in dimension 1, bytes
  localparam int unsigned ALU_B_S1_LSB = 360;
  localparam int unsigned ALU_B_S1_W = 20;
  // Its step in dimension 2, bytes
  localparam int unsigned ALU_B_S2_LSB = 384;
  localparam int unsigned ALU_B_S2_W = 20;
  // Its step in dimension 3, bytes
  localparam int unsigned ALU_B_S3_LSB = 404;
  localparam int unsigned ALU_B_S3_W = 20;
  // Type of its elements
  localparam int unsigned ALU_B_TYPE_LSB = 380;
  localparam int unsigned ALU_B_TYPE_W = 3;
  localparam logic [2:0] ALU_B_TYPE_MIN = 3'd0;
  localparam logic [2:0] ALU_B_TYPE_MAX = 3'd6;
  localparam logic [2:0] ALU_B_TYPE_V_INT8 = 3'd0;
  localparam logic [2:0] ALU_B_TYPE_V_INT16 = 3'd1;
  localparam logic [2:0] ALU_B_TYPE_V_INT32 = 3'd2;
  localparam logic [2:0] ALU_B_TYPE_V_INT48 = 3'd3;
  localparam logic [2:0] ALU_B_TYPE_V_UINT8 = 3'd4;
  localparam logic [2:0] ALU_B_TYPE_V_UINT16 = 3'd5;
  localparam logic [2:0] ALU_B_TYPE_V_UINT32 = 3'd6;
  // Subtracted from its elements
  localparam int unsigned ALU_B_ZP_LSB = 424;
  localparam int unsigned ALU_B_ZP_W = 17;
  // Scratchpad address of the third operand, bytes
  localparam int unsigned ALU_C_BASE_LSB = 448;
  localparam int unsigned ALU_C_BASE_W = 20;
  // Its step in dimension 0, bytes
  localparam int unsigned ALU_C_S0_LSB = 468;
  localparam int unsigned ALU_C_S0_W = 20;
  // Its step in dimension 1, bytes
  localparam int unsigned ALU_C_S1_LSB = 488;
  localparam int unsigned ALU_C_S1_W = 20;
  // Its step in dimension 2, bytes
  localparam int unsigned ALU_C_S2_LSB = 512;
  localparam int unsigned ALU_C_S2_W = 20;
  // Its step in dimension 3, bytes
  localparam int unsigned ALU_C_S3_LSB = 532;
  localparam int unsigned ALU_C_S3_W = 20;
  // Type of its elements
  localparam int unsigned ALU_C_TYPE_LSB = 508;
  localparam int unsigned ALU_C_TYPE_W = 3;
  localparam logic [2:0] ALU_C_TYPE_MIN = 3'd0;
  localparam logic [2:0] ALU_C_TYPE_MAX = 3'd6;
  localparam logic [2:0] ALU_C_TYPE_V_INT8 = 3'd0;
  localparam logic [2:0] ALU_C_TYPE_V_INT16 = 3'd1;
  localparam logic [2:0] ALU_C_TYPE_V_INT32 = 3'd2;
  localparam logic [2:0] ALU_C_TYPE_V_INT48 = 3'd3;
  localparam logic [2:0] ALU_C_TYPE_V_UINT8 = 3'd4;
  localparam logic [2:0] ALU_C_TYPE_V_UINT16 = 3'd5;
  localparam logic [2:0] ALU_C_TYPE_V_UINT32 = 3'd6;
  // Scratchpad address of the output, bytes
  localparam int unsigned ALU_OUT_BASE_LSB = 576;
  localparam int unsigned ALU_OUT_BASE_W = 20;
  // Its step in dimension 0, bytes
  localparam int unsigned ALU_OUT_S0_LSB = 596;
  localparam int unsigned ALU_OUT_S0_W = 20;
  // Its step in dimension 1, bytes
  localparam int unsigned ALU_OUT_S1_LSB = 616;
  localparam int unsigned ALU_OUT_S1_W = 20;
  // Its step in dimension 2, bytes
  localparam int unsigned ALU_OUT_S2_LSB = 640;
  localparam int unsigned ALU_OUT_S2_W = 20;
  // Its step in dimension 3, bytes
  localparam int unsigned ALU_OUT_S3_LSB = 660;
  localparam int unsigned ALU_OUT_S3_W = 20;
  // Type of its elements
  localparam int unsigned ALU_OUT_TYPE_LSB = 636;
  localparam int unsigned ALU_OUT_TYPE_W = 3;
  localparam logic [2:0] ALU_OUT_TYPE_MIN = 3'd0;
  localparam logic [2:0] ALU_OUT_TYPE_MAX = 3'd6;
  localparam logic [2:0] ALU_OUT_TYPE_V_INT8 = 3'd0;
  localparam logic [2:0] ALU_OUT_TYPE_V_INT16 = 3'd1;
  localparam logic [2:0] ALU_OUT_TYPE_V_INT32 = 3'd2;
  localparam logic [2:0] ALU_OUT_TYPE_V_INT48 = 3'd3;
  localparam logic [2:0] ALU_OUT_TYPE_V_UINT8 = 3'd4;
  localparam logic [2:0] ALU_OUT_TYPE_V_UINT16 = 3'd5;
  localparam logic [2:0] ALU_OUT_TYPE_V_UINT32 = 3'd6;
  // Added to the result
  localparam int unsigned ALU_OUT_ZP_LSB = 680;
  localparam int unsigned ALU_OUT_ZP_W = 17;
  // Second operand where b_imm is 1
  localparam int unsigned ALU_B_VALUE_LSB = 704;
  localparam int unsigned ALU_B_VALUE_W = 32;
  // Third operand where c_imm is 1
  localparam int unsigned ALU_C_VALUE_LSB = 736;
  localparam int unsigned ALU_C_VALUE_W = 32;
  // Lower clamp
  localparam int unsigned ALU_LO_LSB = 768;
  localparam int unsigned ALU_LO_W = 32;
  // Upper clamp
  localparam int unsigned ALU_HI_LSB = 800;
  localparam int unsigned ALU_HI_W = 32;
  // Step of an index, bytes
  localparam int unsigned ALU_IDX_STEP_LSB = 832;
  localparam int unsigned ALU_IDX_STEP_W = 20;
  // Largest index
  localparam int unsigned ALU_IDX_LAST_LSB = 852;
  localparam int unsigned ALU_IDX_LAST_W = 20;
  // Operation, see above
  localparam int unsigned ALU_FUNC_LSB = 872;
  localparam int unsigned ALU_FUNC_W = 5;
  localparam logic [4:0] ALU_FUNC_MIN = 5'd0;
  localparam logic [4:0] ALU_FUNC_MAX = 5'd28;
  localparam logic [4:0] ALU_FUNC_V_MOVE = 5'd0;
  localparam logic [4:0] ALU_FUNC_V_ADD = 5'd1;
  localparam logic [4:0] ALU_FUNC_V_SUB = 5'd2;
  localparam logic [4:0] ALU_FUNC_V_RSUB = 5'd3;
  localparam logic [4:0] ALU_FUNC_V_MUL = 5'd4;
  localparam logic [4:0] ALU_FUNC_V_MAX = 5'd5;
  localparam logic [4:0] ALU_FUNC_V_MIN = 5'd6;
  localparam logic [4:0] ALU_FUNC_V_ABS = 5'd7;
  localparam logic [4:0] ALU_FUNC_V_AND = 5'd8;
  localparam logic [4:0] ALU_FUNC_V_OR = 5'd9;
  localparam logic [4:0] ALU_FUNC_V_XOR = 5'd10;
  localparam logic [4:0] ALU_FUNC_V_SHL = 5'd11;
  localparam logic [4:0] ALU_FUNC_V_SHR = 5'd12;
  localparam logic [4:0] ALU_FUNC_V_EQ = 5'd13;
  localparam logic [4:0] ALU_FUNC_V_GT = 5'd14;
  localparam logic [4:0] ALU_FUNC_V_GE = 5'd15;
  localparam logic [4:0] ALU_FUNC_V_SELECT = 5'd16;
  localparam logic [4:0] ALU_FUNC_V_CLZ = 5'd17;
  localparam logic [4:0] ALU_FUNC_V_RESCALE = 5'd18;
  localparam logic [4:0] ALU_FUNC_V_LOOKUP = 5'd19;
  localparam logic [4:0] ALU_FUNC_V_INTERP = 5'd20;
  localparam logic [4:0] ALU_FUNC_V_SCATTER = 5'd21;
  localparam logic [4:0] ALU_FUNC_V_SUM = 5'd22;
  localparam logic [4:0] ALU_FUNC_V_RMAX = 5'd23;
  localparam logic [4:0] ALU_FUNC_V_RMIN = 5'd24;
  localparam logic [4:0] ALU_FUNC_V_RAND = 5'd25;
  localparam logic [4:0] ALU_FUNC_V_ROR = 5'd26;
  localparam logic [4:0] ALU_FUNC_V_DOT = 5'd27;
  localparam logic [4:0] ALU_FUNC_V_ARGMAX = 5'd28;
  // The second operand is b_value
  localparam int unsigned ALU_B_IMM_LSB = 877;
  localparam int unsigned ALU_B_IMM_W = 1;
  // The third operand is c_value
  localparam int unsigned ALU_C_IMM_LSB = 878;
  localparam int unsigned ALU_C_IMM_W = 1;
  // Clamp the result
  localparam int unsigned ALU_CLAMP_LSB = 879;
  localparam int unsigned ALU_CLAMP_W = 1;
  // Rounding of shr and rescale
  localparam int unsigned ALU_ROUND_LSB = 880;
  localparam int unsigned ALU_ROUND_W = 1;
  // Shift of mul
  localparam int unsigned ALU_SHIFT_LSB = 881;
  localparam int unsigned ALU_SHIFT_W = 6;
  // rescale breaks ties to even
  localparam int unsigned ALU_EVEN_LSB = 887;
  localparam int unsigned ALU_EVEN_W = 1;

  // What the first stage of conv and dw needs of one channel; byte 0 in the low bits
  localparam int unsigned PARAM_BYTES = 16;
  typedef struct packed {
    logic [39:0] reserved_88;
    logic [7:0] shift;  // Shift of RESCALE; the low 6 bits count, and 0 counts as 64: the result is 0
    logic signed [31:0] mul;  // Multiplier of RESCALE; with scale16 the low 16 bits count
    logic signed [47:0] bias;  // Added to the sum; in mode 2 an fp16 in the low 16 bits
  } param_t;

  // The same in half the bytes, with p_short = 1; byte 0 in the low bits
  localparam int unsigned PARAM_SHORT_BYTES = 8;
  typedef struct packed {
    logic [7:0] shift;  // As in param
    logic signed [31:0] mul;  // As in param
    logic signed [23:0] bias;  // Added to the sum; in mode 2 an fp16 in the low 16 bits
  } param_short_t;
endpackage
/* verilator lint_on UNUSEDPARAM */
