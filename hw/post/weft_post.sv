// SPDX-License-Identifier: Apache-2.0
//
// Post unit: N lanes with one multiplier each turn rows of sums into bytes, or
// in mode 1 into int16, and write them to the scratchpad. Context 0 serves CV, context 1 VE.
//
// Every row makes one pass through the lanes (A: bias, RESCALE, zero point,
// clamp). With add it waits in one of N row buffers and makes three more: B
// and C rescale the two addends, D their sum. A pass takes 4 cycles; a new one
// starts each cycle. A row without add is requested at the scratchpad 4 cycles
// after it was taken; with add, N rows take about 4N + 6 cycles. Rows of one context
// leave in order. A row of int16 is two writes, N bytes each.
//
// If a configuration has FREE_HALF, an addend whose RESCALE only halves it takes no pass of its own: B is left
// out, C rescales the other addend, and D adds the half. N rows then take about 3N + 6 cycles.
//
// Context 0 goes before context 1, and new rows go before passes B to D. While context 0 has a row in every cycle and
// others wait, every eighth cycle is left to them. If c0_turns_i is set, context 1 gets every second cycle in which it
// waits for context 0. Context 1 and the buffered rows take turns.
//
// Mode 2: pass A rounds a sum to fp16, C adds the bias, D the second addend; B is
// left out, and so is D without add. A row that is not a sum makes pass A only,
// or A and D with an addend. What a pass rounds is an integer in units of 2^-28.
//
// cX_ready_o does not depend on cX_valid_i, and falls only when row buffers or
// the write queue are full or the other context is served. The configuration
// is words 2..8 of the command; it must be stable while cX_idle_o is low.
//
// The lanes are one flat block with blocking assignments, last stage first,
// because that simulates fastest.
//
// Model: sim/model/post.c   Theory: hw/post/README.md
module weft_post (
  input  logic clk_i,
  input  logic rst_ni,
  output logic need_o,     // clk_i's next edge is needed; comes from registers
  input  logic abort_i,

  input  logic                     c0_valid_i,
  output logic                     c0_ready_o,
  input  logic [1:0]               c0_stage_i,
  input  weft_cfg_pkg::row_acc_t   c0_acc_i,
  input  weft_cfg_pkg::row_state_t c0_state_i,
  input  weft_cfg_pkg::row_half_t  c0_b_i,
  input  weft_cfg_pkg::row_acc_t   c0_bias_i,
  input  weft_cfg_pkg::row_mul_t   c0_mul_i,
  input  weft_cfg_pkg::row_shift_t c0_shift_i,
  input  weft_cfg_pkg::sp_addr_t   c0_addr_i,
  input  weft_cfg_pkg::row_mask_t  c0_mask_i,
  input  logic [447:0]             c0_cfg_i,
  input  logic                     c0_turns_i,   // context 1 gets every second cycle in which it waits for context 0
  output logic                     c0_idle_o,

  input  logic                     c1_valid_i,
  output logic                     c1_ready_o,
  input  logic [1:0]               c1_stage_i,
  input  weft_cfg_pkg::row_acc_t   c1_acc_i,
  input  weft_cfg_pkg::row_state_t c1_state_i,
  input  weft_cfg_pkg::row_half_t  c1_b_i,
  input  weft_cfg_pkg::row_acc_t   c1_bias_i,
  input  weft_cfg_pkg::row_mul_t   c1_mul_i,
  input  weft_cfg_pkg::row_shift_t c1_shift_i,
  input  weft_cfg_pkg::sp_addr_t   c1_addr_i,
  input  weft_cfg_pkg::row_mask_t  c1_mask_i,
  input  logic [447:0]             c1_cfg_i,
  output logic                     c1_idle_o,

  output weft_cfg_pkg::sp_write_t pst_o,
  input  logic                    pst_gnt_i
);
  localparam int N = weft_cfg_pkg::N;
  localparam int unsigned AddrW = weft_cfg_pkg::SP_ADDR_BITS;
  localparam int LOG2_N = weft_cfg_pkg::LOG2_N;
  localparam int BASE = 128;           // bit of the command at cfg bit 0
  localparam int QUEUE = N < 8 ? 8 : N; // write queue: more than the lanes' latency, and N/2 rows that wait for their second write
  localparam int LOG2_Q = $clog2(QUEUE);

  localparam logic HAS_FP8 = weft_cfg_pkg::HAS_FP8;   // without it, all of mode 2 is left out
  localparam logic HAS_EVEN = weft_cfg_pkg::HAS_EVEN;

  localparam logic [1:0] STAGE_RESCALE = 2'd0, STAGE_CLAMP = 2'd1, STAGE_NONE = 2'd2;
  localparam logic [1:0] PASS_A = 2'd0, PASS_B = 2'd1, PASS_C = 2'd2, PASS_D = 2'd3;

  localparam logic HALVES = weft_cfg_pkg::FREE_HALF != 0;

  // Returns whether RESCALE with this multiplier and shift makes exactly the half of each even number.
  function automatic logic is_half(input logic [31:0] mul_i, input logic [5:0] shift_i);
    is_half = mul_i == 32'd1 << 30 && shift_i == 6'd31;
  endfunction

  // ---- which pass starts

  logic [LOG2_N:0]   alloc_q, b_q, c_q, d_q;   // rows that started pass A, B, C, D
  logic [LOG2_N:0]   a_done_q, c_done_q;       // rows that finished pass A, C
  logic [N-1:0]      row_ctx_q;                // of the buffered rows
  logic [N-1:0]      row_fp_q;                 // mode 2: no pass B
  logic [N-1:0]      row_sum_q;                // mode 2: pass C writes, no pass D
  logic [N-1:0]      row_none_q;               // mode 2: pass C changes nothing
  logic [N-1:0]      row_half_q;               // an addend is halved: no pass B
  logic [LOG2_Q:0]   queued_q;                 // rows with a place in the write queue
  logic              turn_q;                   // buffered rows go before context 1
  logic [2:0]        owed_q;                   // rows of context 0 that others waited for; at 7 the next cycle is left to the others
  logic              room, buf_room, can0, can1, take0, take1;
  logic              can_b, can_c, can_d, buffered, start;
  logic [1:0]        pass, buf_pass;           // buf_: of the buffered row that is next
  logic              add0, add1, fp0, fp1, buf0, buf1;
  logic              ctx, buf_ctx, fp, buffers, writes, skip_b, skip_d;
  logic              even0, even1;                         // of each context: the addends are even, since they are shifted left
  logic              half_a0, half_b0, half_a1, half_b1;   // of each context: q is the halved addend, r is
  logic              half_b;                               // of the buffered row: r is
  logic [LOG2_N-1:0] slot, buf_slot;
  logic [1:0]        stage;

  assign add0     = c0_cfg_i[weft_cmd_pkg::POST_ADD_LSB - BASE];
  assign add1     = c1_cfg_i[weft_cmd_pkg::POST_ADD_LSB - BASE];
  assign fp0      = HAS_FP8 && c0_cfg_i[weft_cmd_pkg::POST_MODE_LSB - BASE +: weft_cmd_pkg::POST_MODE_W] == weft_cmd_pkg::POST_MODE_V_FLOAT8;
  assign fp1      = HAS_FP8 && c1_cfg_i[weft_cmd_pkg::POST_MODE_LSB - BASE +: weft_cmd_pkg::POST_MODE_W] == weft_cmd_pkg::POST_MODE_V_FLOAT8;
  assign buf0     = add0 || (fp0 && c0_stage_i != STAGE_CLAMP);
  assign buf1     = add1 || (fp1 && c1_stage_i != STAGE_CLAMP);
  assign room     = queued_q < (LOG2_Q+1)'(QUEUE);
  assign buf_room = (alloc_q - d_q) != (LOG2_N+1)'(N);
  assign even0    = HALVES && add0 && !fp0 && c0_cfg_i[weft_cmd_pkg::POST_PRE_SHIFT_LSB - BASE +: 5] != '0;
  assign even1    = HALVES && add1 && !fp1 && c1_cfg_i[weft_cmd_pkg::POST_PRE_SHIFT_LSB - BASE +: 5] != '0;
  assign half_a0  = even0 && is_half(c0_cfg_i[weft_cmd_pkg::POST_A_MUL_LSB - BASE +: 32], c0_cfg_i[weft_cmd_pkg::POST_A_SHIFT_LSB - BASE +: 6]);
  assign half_a1  = even1 && is_half(c1_cfg_i[weft_cmd_pkg::POST_A_MUL_LSB - BASE +: 32], c1_cfg_i[weft_cmd_pkg::POST_A_SHIFT_LSB - BASE +: 6]);
  // Pass D only adds, so an r that is subtracted takes a pass of its own.
  assign half_b0  = even0 && !half_a0 && !c0_cfg_i[weft_cmd_pkg::POST_SUB_LSB - BASE]
                    && is_half(c0_cfg_i[weft_cmd_pkg::POST_B_MUL_LSB - BASE +: 32], c0_cfg_i[weft_cmd_pkg::POST_B_SHIFT_LSB - BASE +: 6]);
  assign half_b1  = even1 && !half_a1 && !c1_cfg_i[weft_cmd_pkg::POST_SUB_LSB - BASE]
                    && is_half(c1_cfg_i[weft_cmd_pkg::POST_B_MUL_LSB - BASE +: 32], c1_cfg_i[weft_cmd_pkg::POST_B_SHIFT_LSB - BASE +: 6]);
  assign half_b   = buf_ctx ? half_b1 : half_b0;
  assign skip_b   = b_q != a_done_q && ((HAS_FP8 && row_fp_q[LOG2_N'(b_q)]) || (HALVES && row_half_q[LOG2_N'(b_q)]));
  assign skip_d   = HAS_FP8 && d_q != c_done_q && row_sum_q[LOG2_N'(d_q)];
  assign can_b    = b_q != a_done_q && !skip_b;
  assign can_c    = c_q != b_q && (room || !(HAS_FP8 && row_sum_q[LOG2_N'(c_q)]));
  assign can_d    = d_q != c_done_q && room && !skip_d;
  assign buffered = can_b || can_c || can_d;
  assign can0     = buf0 ? buf_room : room;
  assign can1     = buf1 ? buf_room : room;
  assign c0_ready_o = can0 && owed_q != 3'd7;
  assign c1_ready_o = can1 && !(c0_valid_i && c0_ready_o) && !(turn_q && buffered);
  assign take0    = c0_valid_i && c0_ready_o;
  assign take1    = c1_valid_i && c1_ready_o;

  always_comb begin
    start = take0 || take1 || buffered;
    if (can_d) begin
      buf_pass = PASS_D;
      buf_slot = LOG2_N'(d_q);
    end else if (can_c) begin
      buf_pass = PASS_C;
      buf_slot = LOG2_N'(c_q);
    end else begin
      buf_pass = PASS_B;
      buf_slot = LOG2_N'(b_q);
    end
    buf_ctx = row_ctx_q[buf_slot];
    pass    = PASS_A;
    slot    = LOG2_N'(alloc_q);
    ctx     = take1;
    if (!take0 && !take1) begin
      pass = buf_pass;
      slot = buf_slot;
      ctx  = buf_ctx;
    end
    fp = ctx ? fp1 : fp0;
    buffers = ctx ? buf1 : buf0;
    writes = pass == PASS_D || (pass == PASS_A && !buffers) || (HAS_FP8 && pass == PASS_C && row_sum_q[slot]);
  end

  // ---- scalars of the pass that starts

  // verilator lint_off UNUSEDSIGNAL
  logic [447:0] cfg, buf_cfg;  // addresses and sizes are the producer's
  // verilator lint_on UNUSEDSIGNAL
  logic signed [15:0] in_zp;
  logic [4:0]        pre_shift;
  logic [31:0]       mul;
  logic [5:0]        shift;
  logic              int16, buf_int16;
  logic              two;            // elements of the output are two bytes
  logic              wide;           // 48 x 16 multiplication
  logic              s_even;         // the sum's ties to even
  logic              from_r;         // the buffered row's addend is r, not q
  assign two       = int16 || (fp && cfg[weft_cmd_pkg::POST_OUT_FMT_LSB - BASE + 2]);
  assign int16     = weft_cfg_pkg::HAS_INT16 && cfg[weft_cmd_pkg::POST_MODE_LSB - BASE +: weft_cmd_pkg::POST_MODE_W] == weft_cmd_pkg::POST_MODE_V_INT16;
  assign buf_int16 = weft_cfg_pkg::HAS_INT16 && buf_cfg[weft_cmd_pkg::POST_MODE_LSB - BASE +: weft_cmd_pkg::POST_MODE_W] == weft_cmd_pkg::POST_MODE_V_INT16;
  assign wide      = weft_cfg_pkg::HAS_INT16 && cfg[weft_cmd_pkg::POST_SCALE16_LSB - BASE] && pass == PASS_A && stage == STAGE_RESCALE && !fp;
  assign s_even    = cfg[weft_cmd_pkg::POST_S_EVEN_LSB - BASE] && pass == PASS_D;
  assign stage     = ctx ? c1_stage_i : c0_stage_i;
  assign cfg       = ctx ? c1_cfg_i : c0_cfg_i;
  // Those of a buffered row do not wait for whether a new one is taken, which is known late.
  assign buf_cfg   = buf_ctx ? c1_cfg_i : c0_cfg_i;
  assign pre_shift = buf_cfg[weft_cmd_pkg::POST_PRE_SHIFT_LSB - BASE +: 5];
  // Pass C rescales r, and pass D adds the half of q if q is halved. If r is halved, the two passes exchange their addends.
  assign from_r    = buf_pass == (half_b ? PASS_D : PASS_C);
  always_comb begin
    in_zp = buf_cfg[weft_cmd_pkg::POST_A_ZP_LSB - BASE +: 16];
    mul   = buf_cfg[weft_cmd_pkg::POST_A_MUL_LSB - BASE +: 32];
    shift = buf_cfg[weft_cmd_pkg::POST_A_SHIFT_LSB - BASE +: 6];
    if (from_r) begin
      in_zp = buf_cfg[weft_cmd_pkg::POST_B_ZP_LSB - BASE +: 16];
      mul   = buf_cfg[weft_cmd_pkg::POST_B_MUL_LSB - BASE +: 32];
      shift = buf_cfg[weft_cmd_pkg::POST_B_SHIFT_LSB - BASE +: 6];
    end
    if (buf_pass == PASS_D) begin
      mul   = buf_cfg[weft_cmd_pkg::POST_S_MUL_LSB - BASE +: 32];
      shift = buf_cfg[weft_cmd_pkg::POST_S_SHIFT_LSB - BASE +: 6];
    end
  end

  // ---- lanes

  // Pass in each stage: 1 operands, 2 product, 3 shifted
  logic                    s1_valid_q, s2_valid_q, s3_valid_q;
  logic [1:0]              s1_pass_q, s2_pass_q, s3_pass_q;
  logic                    s1_out_q, s2_out_q, s3_out_q;  // result is written, else buffered
  logic                    s1_fp_q, s2_fp_q, s3_fp_q;
  logic [3:0]              s1_fmt_q, s2_fmt_q, s3_fmt_q;  // saturate, format of the output
  logic                    s1_ctx_q, s2_ctx_q, s3_ctx_q;
  logic                    s1_dr_q, s2_dr_q;              // double rounding
  logic                    s1_sub_q, s2_sub_q, s3_sub_q;  // taken from t1
  logic                    s1_even_q, s2_even_q;          // ties to even
  logic                    s1_wide_q;
  logic                    s1_two_q, s2_two_q, s3_two_q;
  logic [LOG2_N-1:0]       s1_slot_q, s2_slot_q, s3_slot_q;
  logic signed [15:0]      s1_zp_q, s2_zp_q, s3_zp_q;
  logic signed [15:0]      s1_min_q, s2_min_q, s3_min_q;
  logic signed [15:0]      s1_max_q, s2_max_q, s3_max_q;
  weft_cfg_pkg::sp_addr_t  s1_addr_q, s2_addr_q, s3_addr_q;
  weft_cfg_pkg::row_mask_t s1_mask_q, s2_mask_q, s3_mask_q;
  logic signed [31:0]      value [N];
  logic [15:0]             value_hi [N];                  // bits 47:32 of a wide value
  logic signed [31:0]      factor [N];
  logic [5:0]              shift1 [N];
  // Factors of the lower and the upper partial product, of which the second
  // counts 2^16 times: value by the halves of factor, or for a wide value its
  // low 16 and its other 32 bits by the low half of factor.
  logic signed [31:0] low_a [N];
  logic signed [16:0] low_b [N];
  logic signed [31:0] high_a [N];
  logic signed [15:0] high_b [N];
  logic signed [63:0] prod [N];
  logic [5:0]         shift2 [N];
  logic               negative [N];
  logic [32:0]        shifted [N];      // one bit below the result, for rounding
  // Mode 2 beside it. In a row buffer: the bias above the value, fp16 both.
  logic [1:0]         state1 [N], state2 [N], state3 [N];
  logic               minus1 [N], minus2 [N], minus3 [N];   // sign of a zero and of NaN, then of any
  logic [15:0]        bias1 [N], bias2 [N], bias3 [N];
  logic               below3 [N];       // a bit is lost by the shift
  logic [5:0]         excess3 [N];

  // Row buffers
  weft_cfg_pkg::row_half_t q_buf_q [N];     // 16 bits a lane in any mode
  weft_cfg_pkg::row_half_t r_buf_q [N];     // as it came
  weft_cfg_pkg::row_mul_t  t_buf_q [N];     // t1, then t1 + t2
  logic [N+19:0]           info_buf_q [N];  // mask, address
  weft_cfg_pkg::row_half_t q_in, r_in;
  weft_cfg_pkg::row_mul_t  t_in, t_out;

  logic                    carry, top;
  /* verilator lint_off UNUSEDSIGNAL */
  logic [32:0]             y;      // one bit below the result, which only carries
  /* verilator lint_on UNUSEDSIGNAL */
  logic signed [15:0]      y16 [N];
  logic                    to_t;
  logic [47:0]             fx;
  logic [15:0]             fa, fb;
  logic signed [63:0]      big;
  logic [5:0]              below;
  weft_cfg_pkg::row_half_t out_data;
  logic                    out_valid;
  // Write queue
  weft_cfg_pkg::row_half_t wr_data_q [QUEUE];
  logic [N+AddrW+1:0]      wr_info_q [QUEUE];  // int16, context, mask, address
  logic                    wr_second_q;        // of two writes
  logic [LOG2_Q-1:0]       wr_in_q, wr_out_q;
  logic [LOG2_Q:0]         wr_n_q;

`ifdef WEFT_FAULT_HOOK
  // [31] enable, [15:8] lane, [5:0] bit of the lane's product stuck at 1
  logic [31:0] fault_hook_q /*verilator public_flat_rw*/;
  initial fault_hook_q = '0;
`endif

  assign out_valid = s3_valid_q && s3_out_q;

  // verilator lint_off BLKSEQ
  always_ff @(posedge clk_i) begin
    // Stage 3 to row buffer or write queue. Shifts of 2..62 keep one bit below.
    if (s3_valid_q) begin
      to_t = s3_pass_q == PASS_B || s3_pass_q == PASS_C;
      if (HAS_FP8 && s3_fp_q) begin
        to_t = 1'b1;
        for (int l = 0; l < N; l++) begin
          fa = ({10'd0, excess3[l]} - 16'd4) << 10;
          fa = fa + shifted[l][16:1] + 16'(shifted[l][0] && (below3[l] || shifted[l][1]));
          if (fa > 16'h7c00 || state3[l] != weft_float_pkg::STATE_FINITE) fa = 16'h7c00;
          if (state3[l] == weft_float_pkg::STATE_NAN) fa = 16'h7e00;
          fa[15] = minus3[l];
          y16[l] = weft_float_pkg::order(fa);
          if (state3[l] != weft_float_pkg::STATE_NAN) begin
            if (y16[l] < s3_min_q) y16[l] = s3_min_q;
            if (y16[l] > s3_max_q) y16[l] = s3_max_q;
          end
          fa = weft_float_pkg::order(y16[l]);
          y16[l] = fa;
          t_out[32*l +: 32] = {bias3[l], fa};
        end
        if (!s3_fmt_q[2] && s3_out_q) begin
          for (int l = 0; l < N; l++) y16[l] = {8'd0, weft_float_pkg::from_half(y16[l], s3_fmt_q[1:0], s3_fmt_q[3])};
        end
      end else if (to_t) begin
        t_out = s3_pass_q == PASS_B || (HALVES && row_half_q[s3_slot_q]) ? '0 : t_buf_q[s3_slot_q];
        for (int l = 0; l < N; l++) begin
          // t - (v + b) = t + ~v + !b
          y = {t_out[32*l +: 32], 1'b1} + (shifted[l] ^ {33{s3_sub_q}});
          t_out[32*l +: 32] = y[32:1];
        end
      end else begin
        for (int l = 0; l < N; l++) begin
          // One addition: the bit below the result carries into it. Then first to 16 bits, so
          // that limits of 16 bits have no more to compare.
          y = {shifted[l][32:1], 1'b1} + {{16{s3_zp_q[15]}}, s3_zp_q, shifted[l][0]};
          y16[l] = y[16:1];
          if (y[32:16] != '0 && y[32:16] != '1) y16[l] = {y[32], {15{!y[32]}}};
          if (y16[l] < s3_min_q) y16[l] = s3_min_q;
          if (y16[l] > s3_max_q) y16[l] = s3_max_q;
        end
      end
      if (s3_out_q) begin
        if (s3_two_q) begin
          for (int l = 0; l < N; l++) out_data[16*l +: 16] = y16[l];
        end else begin
          for (int l = 0; l < N; l++) out_data[8*l +: 8] = y16[l][7:0];
        end
        wr_data_q[wr_in_q] <= out_data;
        wr_info_q[wr_in_q] <= {s3_two_q, s3_ctx_q, s3_mask_q, s3_addr_q};
      end else if (to_t) begin
        t_buf_q[s3_slot_q] <= t_out;
      end else begin
        for (int l = 0; l < N; l++) out_data[16*l +: 16] = y16[l];
        q_buf_q[s3_slot_q] <= out_data;
      end
    end

    // Stage 2 to 3: second rounding, shift
    if (s2_valid_q) begin
      if (HAS_FP8 && s2_fp_q) begin
        for (int l = 0; l < N; l++) begin
          below3[l] = (prod[l] & ~(64'hffff_ffff_ffff_ffff << (shift2[l] - 6'd1))) != '0;
          excess3[l] = shift2[l];
          state3[l] = state2[l];
          minus3[l] = minus2[l];
          bias3[l] = bias2[l];
        end
      end
      for (int l = 0; l < N; l++) begin
        big = prod[l];
        below = shift2[l] - 6'd1;
        if (s2_dr_q && shift2[l] > 6'd31) big = big + {{33{negative[l]}}, 1'b1, 30'd0};
        shifted[l] = 33'(big >>> below);
      end
      if (HAS_EVEN && s2_even_q) begin
        // A half above an even number, and nothing below it, is not to round up.
        for (int l = 0; l < N; l++) begin
          if (!shifted[l][1] && (prod[l] & ~(64'hffff_ffff_ffff_ffff << (shift2[l] - 6'd1))) == '0) shifted[l][0] = 1'b0;
        end
      end
    end

    // Stage 1 to 2: product
    if (s1_valid_q) begin
      if (s1_wide_q) begin
        for (int l = 0; l < N; l++) begin
          low_a[l] = $signed({16'd0, value[l][15:0]});
          low_b[l] = 17'($signed(factor[l][15:0]));
          high_a[l] = $signed({value_hi[l], value[l][31:16]});
          high_b[l] = $signed(factor[l][15:0]);
        end
      end else begin
        for (int l = 0; l < N; l++) begin
          low_a[l] = value[l];
          low_b[l] = $signed({1'b0, factor[l][15:0]});
          high_a[l] = value[l];
          high_b[l] = $signed(factor[l][31:16]);
        end
      end
      for (int l = 0; l < N; l++) begin
        prod[l] = 64'(low_a[l]) * 64'(low_b[l]) + ((64'(high_a[l]) * 64'(high_b[l])) <<< 16);
        shift2[l] = shift1[l];
        negative[l] = value[l] < 0;
      end
      if (HAS_FP8 && s1_fp_q) begin
        for (int l = 0; l < N; l++) begin
          fx = {value_hi[l], value[l]};
          minus2[l] = state1[l] == weft_float_pkg::STATE_NINF || (state1[l] != weft_float_pkg::STATE_PINF
                      && (fx == '0 || state1[l] == weft_float_pkg::STATE_NAN ? minus1[l] : fx[47]));
          if (fx[47]) fx = -fx;
          prod[l] = $signed({16'd0, fx});
          shift2[l] = weft_float_pkg::excess(fx);
          state2[l] = state1[l];
          bias2[l] = bias1[l];
        end
      end
`ifdef WEFT_FAULT_HOOK
      if (fault_hook_q[31]) prod[fault_hook_q[8 +: LOG2_N]][fault_hook_q[5:0]] = 1'b1;
`endif
    end

    // Operands of the pass that starts
    if (HAS_FP8 && start && fp) begin
      t_in = t_buf_q[buf_slot];   // of no use in pass A
      r_in = r_buf_q[buf_slot];
      for (int l = 0; l < N; l++) begin
        bias1[l] = '0;
        if (pass == PASS_A && stage == STAGE_RESCALE) begin
          fx = ctx ? c1_acc_i[48*l +: 48] : c0_acc_i[48*l +: 48];
          state1[l] = ctx ? c1_state_i[2*l +: 2] : c0_state_i[2*l +: 2];
          minus1[l] = 1'b0;
          bias1[l] = ctx ? c1_bias_i[48*l +: 16] : c0_bias_i[48*l +: 16];
        end else if (pass == PASS_A) begin
          fa = ctx ? c1_acc_i[48*l +: 16] : c0_acc_i[48*l +: 16];
          fx = weft_float_pkg::units(fa);
          state1[l] = weft_float_pkg::state(fa);
          minus1[l] = fa[15];
        end else begin
          fa = t_in[32*l +: 16];
          fb = t_in[32*l + 16 +: 16];
          if (row_none_q[slot]) fb = 16'h8000;
          if (pass == PASS_D) begin
            fb = cfg[weft_cmd_pkg::POST_B_FMT_LSB - BASE + 2] ? r_in[16*l +: 16]
                 : weft_float_pkg::to_half(r_in[8*l +: 8], cfg[weft_cmd_pkg::POST_B_FMT_LSB - BASE +: 2]);
          end
          fx = weft_float_pkg::units(fa) + weft_float_pkg::units(fb);
          state1[l] = weft_float_pkg::state(fa) | weft_float_pkg::state(fb);
          minus1[l] = fa[15] && fb[15] && state1[l] != weft_float_pkg::STATE_NAN;
        end
        {value_hi[l], value[l]} = fx;
      end
    end else if (take0 || take1) begin
      if (ctx ? c1_stage_i == STAGE_RESCALE : c0_stage_i == STAGE_RESCALE) begin
        if (ctx) begin
          for (int l = 0; l < N; l++) begin
            value[l] = c1_acc_i[48*l +: 32] + c1_bias_i[48*l +: 32];
            factor[l] = c1_mul_i[32*l +: 32];
            shift1[l] = c1_shift_i[6*l +: 6];
          end
        end else begin
          for (int l = 0; l < N; l++) begin
            value[l] = c0_acc_i[48*l +: 32] + c0_bias_i[48*l +: 32];
            factor[l] = c0_mul_i[32*l +: 32];
            shift1[l] = c0_shift_i[6*l +: 6];
          end
        end
        if (wide) begin
          for (int l = 0; l < N; l++) begin
            top = ctx ? c1_acc_i[48*l + 31] : c0_acc_i[48*l + 31];
            carry = ctx ? c1_bias_i[48*l + 31] : c0_bias_i[48*l + 31];
            carry = (top & carry) | ((top | carry) & ~value[l][31]);
            value_hi[l] = ctx ? c1_acc_i[48*l + 32 +: 16] + c1_bias_i[48*l + 32 +: 16] + 16'(carry)
                              : c0_acc_i[48*l + 32 +: 16] + c0_bias_i[48*l + 32 +: 16] + 16'(carry);
          end
        end
      end else begin
        // Times 4, shifted by 2: unchanged
        for (int l = 0; l < N; l++) begin
          value[l] = ctx ? c1_acc_i[48*l +: 32] : c0_acc_i[48*l +: 32];
          factor[l] = 32'sd4;
          shift1[l] = 6'd2;
        end
      end
    end else if (buffered) begin
      t_in = t_buf_q[buf_slot];
      q_in = q_buf_q[buf_slot];
      r_in = r_buf_q[buf_slot];
      if (from_r && buf_int16) q_in = r_in;
      if (from_r && !buf_int16) begin
        for (int l = 0; l < N; l++) q_in[16*l +: 16] = 16'($signed(r_in[8*l +: 8]));
      end
      for (int l = 0; l < N; l++) begin
        value[l] = (32'($signed(q_in[16*l +: 16])) - 32'(in_zp)) <<< pre_shift;
        if (buf_pass == PASS_D) value[l] = $signed(t_in[32*l +: 32]) + (HALVES && row_half_q[buf_slot] ? value[l] >>> 1 : 32'sd0);
      end
      for (int l = 0; l < N; l++) begin
        factor[l] = mul;
        shift1[l] = shift;
      end
    end
    if ((take0 || take1) && buffers) begin
      r_buf_q[slot]    <= ctx ? c1_b_i : c0_b_i;
      info_buf_q[slot] <= ctx ? {c1_mask_i, c1_addr_i} : {c0_mask_i, c0_addr_i};
    end
    if (start) begin
      {s1_mask_q, s1_addr_q} <= pass != PASS_A ? info_buf_q[slot]
                                               : ctx ? {c1_mask_i, c1_addr_i} : {c0_mask_i, c0_addr_i};
    end
  end
  // verilator lint_on BLKSEQ

  // ---- control beside the lanes

  always_ff @(posedge clk_i) begin
    if (start) begin
      s1_pass_q <= pass;
      s1_out_q  <= writes;
      s1_fp_q   <= fp;
      s1_fmt_q  <= {cfg[weft_cmd_pkg::POST_SATURATE_LSB - BASE], cfg[weft_cmd_pkg::POST_OUT_FMT_LSB - BASE +: 3]};
      s1_ctx_q  <= ctx;
      s1_slot_q <= slot;
      s1_dr_q   <= !s_even;
      s1_sub_q  <= weft_cfg_pkg::HAS_SUB && cfg[weft_cmd_pkg::POST_SUB_LSB - BASE] && pass == PASS_C;
      s1_even_q <= s_even;
      s1_wide_q <= wide;
      s1_two_q  <= two;
      s1_zp_q   <= cfg[weft_cmd_pkg::POST_S_ZP_LSB - BASE +: 16];
      s1_min_q  <= cfg[weft_cmd_pkg::POST_S_MIN_LSB - BASE +: 16];
      s1_max_q  <= cfg[weft_cmd_pkg::POST_S_MAX_LSB - BASE +: 16];
      if (pass == PASS_A) begin
        s1_even_q <= cfg[weft_cmd_pkg::POST_EVEN_LSB - BASE];
        s1_dr_q  <= cfg[weft_cmd_pkg::POST_DOUBLE_ROUND_LSB - BASE] && !cfg[weft_cmd_pkg::POST_EVEN_LSB - BASE];
        s1_zp_q  <= cfg[weft_cmd_pkg::POST_Y_ZP_LSB - BASE +: 16];
        s1_min_q <= cfg[weft_cmd_pkg::POST_Y_MIN_LSB - BASE +: 16];
        s1_max_q <= cfg[weft_cmd_pkg::POST_Y_MAX_LSB - BASE +: 16];
        if (stage != STAGE_RESCALE) s1_zp_q <= '0;
        if (stage == STAGE_NONE) begin
          s1_min_q <= 16'h8000;
          s1_max_q <= 16'h7fff;
        end
      end
      if (HAS_FP8 && fp) begin
        s1_even_q <= 1'b0;
        s1_dr_q  <= 1'b0;
        // The sum in pass A is not clamped; with an addend pass C clamps it, in D its sum.
        s1_min_q <= weft_float_pkg::order(cfg[weft_cmd_pkg::POST_Y_MIN_LSB - BASE +: 16]);
        s1_max_q <= weft_float_pkg::order(cfg[weft_cmd_pkg::POST_Y_MAX_LSB - BASE +: 16]);
        if (pass == PASS_D) begin
          s1_min_q <= weft_float_pkg::order(cfg[weft_cmd_pkg::POST_S_MIN_LSB - BASE +: 16]);
          s1_max_q <= weft_float_pkg::order(cfg[weft_cmd_pkg::POST_S_MAX_LSB - BASE +: 16]);
        end
        if ((pass == PASS_A && stage != STAGE_CLAMP) || (pass == PASS_C && row_none_q[slot])) begin
          s1_min_q <= 16'h8000;
          s1_max_q <= 16'h7fff;
        end
      end
    end
    if (s1_valid_q) begin
      s2_pass_q <= s1_pass_q;
      s2_out_q  <= s1_out_q;
      s2_fp_q   <= s1_fp_q;
      s2_fmt_q  <= s1_fmt_q;
      s2_ctx_q  <= s1_ctx_q;
      s2_slot_q <= s1_slot_q;
      s2_dr_q   <= s1_dr_q;
      s2_sub_q  <= s1_sub_q;
      s2_even_q <= s1_even_q;
      s2_two_q  <= s1_two_q;
      s2_zp_q   <= s1_zp_q;
      s2_min_q  <= s1_min_q;
      s2_max_q  <= s1_max_q;
      s2_addr_q <= s1_addr_q;
      s2_mask_q <= s1_mask_q;
    end
    if (s2_valid_q) begin
      s3_pass_q <= s2_pass_q;
      s3_out_q  <= s2_out_q;
      s3_fp_q   <= s2_fp_q;
      s3_fmt_q  <= s2_fmt_q;
      s3_ctx_q  <= s2_ctx_q;
      s3_slot_q <= s2_slot_q;
      s3_sub_q  <= s2_sub_q;
      s3_two_q  <= s2_two_q;
      s3_zp_q   <= s2_zp_q;
      s3_min_q  <= s2_min_q;
      s3_max_q  <= s2_max_q;
      s3_addr_q <= s2_addr_q;
      s3_mask_q <= s2_mask_q;
    end
  end

  // Rows of each context between acceptance and write: N buffered, QUEUE queued
  logic [LOG2_N+1:0]       flying0_q, flying1_q;
  logic                    wr_go, wr_ctx, wr_two, wr_more;
  weft_cfg_pkg::row_mask_t wr_mask;
  logic [2*N-1:0]          wr_mask_two;

  assign wr_mask    = wr_info_q[wr_out_q][AddrW +: N];
  assign wr_ctx     = wr_info_q[wr_out_q][N + AddrW];
  assign wr_two     = (weft_cfg_pkg::HAS_INT16 || HAS_FP8) && wr_info_q[wr_out_q][N + AddrW + 1];
  assign wr_more    = wr_two && !wr_second_q && wr_mask[N-1:N/2] != '0;
  always_comb begin
    for (int l = 0; l < N; l++) wr_mask_two[2*l +: 2] = {2{wr_mask[l]}};
  end

  // The second write goes N bytes on; the scratchpad's last word is followed by its first.
  assign pst_o.req  = wr_n_q != '0;
  assign pst_o.data = wr_second_q ? wr_data_q[wr_out_q][16*N-1:8*N] : wr_data_q[wr_out_q][8*N-1:0];
  assign pst_o.addr = wr_second_q ? (wr_info_q[wr_out_q][AddrW-1:0] + AddrW'(N)) & AddrW'(weft_cfg_pkg::SP_BYTES - 1)
                                  : wr_info_q[wr_out_q][AddrW-1:0];
  assign pst_o.mask = !wr_two ? wr_mask : wr_second_q ? wr_mask_two[2*N-1:N] : wr_mask_two[N-1:0];
  assign wr_go      = pst_o.req && pst_gnt_i && !wr_more;
  assign c0_idle_o  = flying0_q == '0;
  assign c1_idle_o  = flying1_q == '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      s1_valid_q <= 1'b0;
      s2_valid_q <= 1'b0;
      s3_valid_q <= 1'b0;
      alloc_q    <= '0;
      a_done_q   <= '0;
      b_q        <= '0;
      c_q        <= '0;
      c_done_q   <= '0;
      d_q        <= '0;
      queued_q   <= '0;
      turn_q     <= 1'b0;
      owed_q     <= '0;
      wr_in_q    <= '0;
      wr_out_q   <= '0;
      wr_n_q     <= '0;
      wr_second_q <= 1'b0;
      flying0_q  <= '0;
      flying1_q  <= '0;
      row_ctx_q  <= '0;
      row_fp_q   <= '0;
      row_sum_q  <= '0;
      row_none_q <= '0;
      row_half_q <= '0;
    end else if (abort_i) begin
      s1_valid_q <= 1'b0;
      s2_valid_q <= 1'b0;
      s3_valid_q <= 1'b0;
      alloc_q    <= '0;
      a_done_q   <= '0;
      b_q        <= '0;
      c_q        <= '0;
      c_done_q   <= '0;
      d_q        <= '0;
      queued_q   <= '0;
      turn_q     <= 1'b0;
      owed_q     <= '0;
      wr_in_q    <= '0;
      wr_out_q   <= '0;
      wr_n_q     <= '0;
      wr_second_q <= 1'b0;
      flying0_q  <= '0;
      flying1_q  <= '0;
      row_ctx_q  <= '0;
      row_fp_q   <= '0;
      row_sum_q  <= '0;
      row_none_q <= '0;
      row_half_q <= '0;
    end else begin
      s1_valid_q <= start;
      s2_valid_q <= s1_valid_q;
      s3_valid_q <= s2_valid_q;
      turn_q     <= take1;
      if (!take0) owed_q <= '0;
      else if (weft_cfg_pkg::HAS_TURNS && c0_turns_i && c1_valid_i) owed_q <= 3'd7;
      else if (c1_valid_i || buffered) owed_q <= owed_q + 3'd1;
      if ((take0 || take1) && buffers) begin
        row_ctx_q[slot]  <= ctx;
        row_fp_q[slot]   <= fp;
        row_sum_q[slot]  <= fp && !(ctx ? add1 : add0);
        row_none_q[slot] <= fp && stage == STAGE_NONE;
        row_half_q[slot] <= ctx ? half_a1 || half_b1 : half_a0 || half_b0;
        alloc_q         <= alloc_q + (LOG2_N+1)'(1);
      end
      if (!take0 && !take1 && buffered) begin
        if (pass == PASS_B) b_q <= b_q + (LOG2_N+1)'(1);
        if (pass == PASS_C) c_q <= c_q + (LOG2_N+1)'(1);
        if (pass == PASS_D) d_q <= d_q + (LOG2_N+1)'(1);
      end
      if (skip_b) b_q <= b_q + (LOG2_N+1)'(1);
      if (skip_d) d_q <= d_q + (LOG2_N+1)'(1);
      if (s3_valid_q && !s3_out_q && s3_pass_q == PASS_A) a_done_q <= a_done_q + (LOG2_N+1)'(1);
      if (s3_valid_q && s3_pass_q == PASS_C) c_done_q <= c_done_q + (LOG2_N+1)'(1);
      queued_q  <= queued_q + (LOG2_Q+1)'(start && writes) - (LOG2_Q+1)'(wr_go);
      wr_n_q    <= wr_n_q + (LOG2_Q+1)'(out_valid) - (LOG2_Q+1)'(wr_go);
      if (out_valid) wr_in_q <= wr_in_q + LOG2_Q'(1);
      if (pst_o.req && pst_gnt_i) wr_second_q <= wr_more;
      if (wr_go) wr_out_q <= wr_out_q + LOG2_Q'(1);
      flying0_q <= flying0_q + (LOG2_N+2)'(take0) - (LOG2_N+2)'(wr_go && !wr_ctx);
      flying1_q <= flying1_q + (LOG2_N+2)'(take1) - (LOG2_N+2)'(wr_go && wr_ctx);
    end
  end

  // Behind: turn_q and owed_q remember the cycle before.
  weft_rest #(
    .Behind(3'd2)
  ) u_rest (
    .clk_i,
    .rst_ni,
    .busy_i(c0_valid_i || c1_valid_i || !c0_idle_o || !c1_idle_o || abort_i),
    .need_o
  );

`ifdef WEFT_ASSERT
  always @(posedge clk_i) begin
    if (rst_ni && !abort_i) begin
      assert (wr_n_q <= (LOG2_Q+1)'(QUEUE));
      assert (!(take0 && take1));
    end
  end
`endif
endmodule
