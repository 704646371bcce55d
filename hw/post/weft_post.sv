// SPDX-License-Identifier: Apache-2.0
//
// Post unit: N lanes with one multiplier each turn rows of sums into bytes and
// write them to the scratchpad. Context 0 serves CV, context 1 VE.
//
// Every row makes one pass through the lanes (A: bias, RESCALE, zero point,
// clamp). With add it waits in one of N row buffers and makes three more: B
// and C rescale the two addends, D their sum. A pass takes 4 cycles; a new one
// starts each cycle. A row without add is requested at the scratchpad 4 cycles
// after it was taken; with add, N rows take about 4N + 6 cycles. Rows of one context
// leave in order. Context 0 goes before context 1, new rows before passes B to
// D; but one cycle in eight is left to who waits for context 0, and context 1
// and the buffered rows take turns.
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
  input  logic abort_i,

  input  logic                          c0_valid_i,
  output logic                          c0_ready_o,
  input  logic [1:0]                    c0_stage_i,
  input  logic [48*weft_cfg_pkg::N-1:0] c0_acc_i,
  input  logic [8*weft_cfg_pkg::N-1:0]  c0_b_i,
  input  logic [48*weft_cfg_pkg::N-1:0] c0_bias_i,
  input  logic [32*weft_cfg_pkg::N-1:0] c0_mul_i,
  input  logic [6*weft_cfg_pkg::N-1:0]  c0_shift_i,
  input  logic [19:0]                   c0_addr_i,
  input  logic [weft_cfg_pkg::N-1:0]    c0_mask_i,
  input  logic [447:0]                  c0_cfg_i,
  output logic                          c0_idle_o,

  input  logic                          c1_valid_i,
  output logic                          c1_ready_o,
  input  logic [1:0]                    c1_stage_i,
  input  logic [48*weft_cfg_pkg::N-1:0] c1_acc_i,
  input  logic [8*weft_cfg_pkg::N-1:0]  c1_b_i,
  input  logic [48*weft_cfg_pkg::N-1:0] c1_bias_i,
  input  logic [32*weft_cfg_pkg::N-1:0] c1_mul_i,
  input  logic [6*weft_cfg_pkg::N-1:0]  c1_shift_i,
  input  logic [19:0]                   c1_addr_i,
  input  logic [weft_cfg_pkg::N-1:0]    c1_mask_i,
  input  logic [447:0]                  c1_cfg_i,
  output logic                          c1_idle_o,

  output logic                          pst_req_o,
  output logic [19:0]                   pst_addr_o,
  output logic [8*weft_cfg_pkg::N-1:0]  pst_data_o,
  output logic [weft_cfg_pkg::N-1:0]    pst_mask_o,
  input  logic                          pst_gnt_i
);
  localparam int N = weft_cfg_pkg::N;
  localparam int LOG2_N = weft_cfg_pkg::LOG2_N;
  localparam int BASE = 128;           // bit of the command at cfg bit 0
  localparam int QUEUE = 8;            // write queue, more than the lanes' latency

  localparam logic [1:0] STAGE_RESCALE = 2'd0, STAGE_NONE = 2'd2;
  localparam logic [1:0] PASS_A = 2'd0, PASS_B = 2'd1, PASS_C = 2'd2, PASS_D = 2'd3;

  // ---- which pass starts

  logic [LOG2_N:0]   alloc_q, b_q, c_q, d_q;   // rows that started pass A, B, C, D
  logic [LOG2_N:0]   a_done_q, c_done_q;       // rows that finished pass A, C
  logic [N-1:0]      row_ctx_q;                // of the buffered rows
  logic [3:0]        queued_q;                 // rows with a place in the write queue
  logic              turn_q;                   // buffered rows go before context 1
  logic [2:0]        owed_q;                   // rows of context 0 that others waited for
  logic              room, buf_room, can0, can1, take0, take1;
  logic              can_b, can_c, can_d, buffered, start;
  logic [1:0]        pass;
  logic              add0, add1, ctx, add;
  logic [LOG2_N-1:0] slot;

  assign add0     = c0_cfg_i[weft_cmd_pkg::POST_ADD_LSB - BASE];
  assign add1     = c1_cfg_i[weft_cmd_pkg::POST_ADD_LSB - BASE];
  assign room     = queued_q < 4'(QUEUE);
  assign buf_room = (alloc_q - d_q) != (LOG2_N+1)'(N);
  assign can_b    = b_q != a_done_q;
  assign can_c    = c_q != b_q;
  assign can_d    = d_q != c_done_q && room;
  assign buffered = can_b || can_c || can_d;
  assign can0     = add0 ? buf_room : room;
  assign can1     = add1 ? buf_room : room;
  assign c0_ready_o = can0 && owed_q != 3'd7;
  assign c1_ready_o = can1 && !(c0_valid_i && c0_ready_o) && !(turn_q && buffered);
  assign take0    = c0_valid_i && c0_ready_o;
  assign take1    = c1_valid_i && c1_ready_o;

  always_comb begin
    start = take0 || take1 || buffered;
    pass  = PASS_A;
    slot  = LOG2_N'(alloc_q);
    ctx   = take1;
    if (!take0 && !take1) begin
      if (can_d) begin
        pass = PASS_D;
        slot = LOG2_N'(d_q);
      end else if (can_c) begin
        pass = PASS_C;
        slot = LOG2_N'(c_q);
      end else begin
        pass = PASS_B;
        slot = LOG2_N'(b_q);
      end
      ctx = row_ctx_q[slot];
    end
    add = ctx ? add1 : add0;
  end

  // ---- scalars of the pass that starts

  // verilator lint_off UNUSEDSIGNAL
  logic [447:0] cfg;  // addresses and sizes are the producer's
  // verilator lint_on UNUSEDSIGNAL
  logic signed [7:0] in_zp;
  logic [4:0]        pre_shift;
  logic [31:0]       mul;
  logic [5:0]        shift;
  assign cfg       = ctx ? c1_cfg_i : c0_cfg_i;
  assign pre_shift = cfg[weft_cmd_pkg::POST_PRE_SHIFT_LSB - BASE +: 5];
  always_comb begin
    in_zp = cfg[weft_cmd_pkg::POST_A_ZP_LSB - BASE +: 8];
    mul   = cfg[weft_cmd_pkg::POST_A_MUL_LSB - BASE +: 32];
    shift = cfg[weft_cmd_pkg::POST_A_SHIFT_LSB - BASE +: 6];
    if (pass == PASS_C) begin
      in_zp = cfg[weft_cmd_pkg::POST_B_ZP_LSB - BASE +: 8];
      mul   = cfg[weft_cmd_pkg::POST_B_MUL_LSB - BASE +: 32];
      shift = cfg[weft_cmd_pkg::POST_B_SHIFT_LSB - BASE +: 6];
    end
    if (pass == PASS_D) begin
      mul   = cfg[weft_cmd_pkg::POST_S_MUL_LSB - BASE +: 32];
      shift = cfg[weft_cmd_pkg::POST_S_SHIFT_LSB - BASE +: 6];
    end
  end

  // ---- lanes

  // Pass in each stage: 1 operands, 2 product, 3 shifted
  logic              s1_valid_q, s2_valid_q, s3_valid_q;
  logic [1:0]        s1_pass_q, s2_pass_q, s3_pass_q;
  logic              s1_add_q, s2_add_q, s3_add_q;      // result goes to a row buffer
  logic              s1_ctx_q, s2_ctx_q, s3_ctx_q;
  logic              s1_dr_q, s2_dr_q;                  // double rounding
  logic [LOG2_N-1:0] s1_slot_q, s2_slot_q, s3_slot_q;
  logic signed [7:0] s1_zp_q, s2_zp_q, s3_zp_q;
  logic signed [7:0] s1_min_q, s2_min_q, s3_min_q;
  logic signed [7:0] s1_max_q, s2_max_q, s3_max_q;
  logic [19:0]       s1_addr_q, s2_addr_q, s3_addr_q;
  logic [N-1:0]      s1_mask_q, s2_mask_q, s3_mask_q;
  logic signed [31:0] value [N];
  logic signed [31:0] factor [N];
  logic [5:0]         shift1 [N];
  logic signed [63:0] prod [N];
  logic [5:0]         shift2 [N];
  logic               negative [N];
  logic [32:0]        shifted [N];      // one bit below the result, for rounding

  // Row buffers
  logic [8*N-1:0]     q_buf_q [N];
  logic [8*N-1:0]     r_buf_q [N];
  logic [32*N-1:0]    t_buf_q [N];      // t1, then t1 + t2
  logic [N+19:0]      info_buf_q [N];   // mask, address
  logic [8*N-1:0]     addend;
  logic [32*N-1:0]    t_in, t_out;

  logic signed [31:0] y;
  logic signed [63:0] big;
  logic [5:0]         below;
  logic [8*N-1:0]     out_data;
  logic               out_valid;
  // Write queue
  logic [8*N-1:0]     wr_data_q [QUEUE];
  logic [N+20:0]      wr_info_q [QUEUE];   // context, mask, address
  logic [2:0]         wr_in_q, wr_out_q;
  logic [3:0]         wr_n_q;

`ifdef WEFT_FAULT_HOOK
  // [31] enable, [15:8] lane, [5:0] bit of the lane's product stuck at 1
  logic [31:0] fault_hook_q /*verilator public_flat_rw*/;
  initial fault_hook_q = '0;
`endif

  assign out_valid = s3_valid_q && (s3_pass_q == PASS_D || (s3_pass_q == PASS_A && !s3_add_q));

  // verilator lint_off BLKSEQ
  always_ff @(posedge clk_i) begin
    // Stage 3 to row buffer or write queue. Shifts of 2..62 keep one bit below.
    if (s3_valid_q) begin
      if (s3_pass_q == PASS_B || s3_pass_q == PASS_C) begin
        t_out = s3_pass_q == PASS_B ? '0 : t_buf_q[s3_slot_q];
        for (int l = 0; l < N; l++) begin
          t_out[32*l +: 32] = t_out[32*l +: 32] + shifted[l][32:1] + 32'(shifted[l][0]);
        end
        t_buf_q[s3_slot_q] <= t_out;
      end else begin
        for (int l = 0; l < N; l++) begin
          y = $signed(shifted[l][32:1]) + $signed({31'b0, shifted[l][0]}) + 32'(s3_zp_q);
          if (y < 32'(s3_min_q)) y = 32'(s3_min_q);
          if (y > 32'(s3_max_q)) y = 32'(s3_max_q);
          out_data[8*l +: 8] = y[7:0];
        end
        if (s3_add_q && s3_pass_q == PASS_A) begin
          q_buf_q[s3_slot_q] <= out_data;
        end else begin
          wr_data_q[wr_in_q] <= out_data;
          wr_info_q[wr_in_q] <= {s3_ctx_q, s3_mask_q, s3_addr_q};
        end
      end
    end

    // Stage 2 to 3: second rounding, shift
    if (s2_valid_q) begin
      for (int l = 0; l < N; l++) begin
        big = prod[l];
        below = shift2[l] - 6'd1;
        if (s2_dr_q && shift2[l] > 6'd31) big = negative[l] ? big - 64'sd1073741824 : big + 64'sd1073741824;
        shifted[l] = 33'(big >>> below);
      end
    end

    // Stage 1 to 2: product
    if (s1_valid_q) begin
      for (int l = 0; l < N; l++) begin
        prod[l] = 64'(value[l]) * 64'(factor[l]);
        shift2[l] = shift1[l];
        negative[l] = value[l] < 0;
      end
`ifdef WEFT_FAULT_HOOK
      if (fault_hook_q[31]) prod[fault_hook_q[8 +: LOG2_N]][fault_hook_q[5:0]] = 1'b1;
`endif
    end

    // Operands of the pass that starts
    if (take0 || take1) begin
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
      end else begin
        // Times 4, shifted by 2: unchanged
        for (int l = 0; l < N; l++) begin
          value[l] = ctx ? c1_acc_i[48*l +: 32] : c0_acc_i[48*l +: 32];
          factor[l] = 32'sd4;
          shift1[l] = 6'd2;
        end
      end
      if (add) begin
        r_buf_q[slot]    <= ctx ? c1_b_i : c0_b_i;
        info_buf_q[slot] <= ctx ? {c1_mask_i, c1_addr_i} : {c0_mask_i, c0_addr_i};
      end
    end else if (buffered) begin
      t_in = t_buf_q[slot];
      addend = pass == PASS_C ? r_buf_q[slot] : q_buf_q[slot];
      for (int l = 0; l < N; l++) begin
        value[l] = pass == PASS_D ? t_in[32*l +: 32]
                                  : (32'($signed(addend[8*l +: 8])) - 32'(in_zp)) <<< pre_shift;
        factor[l] = mul;
        shift1[l] = shift;
      end
    end
    if (start) begin
      {s1_mask_q, s1_addr_q} <= pass != PASS_A ? info_buf_q[slot]
                                               : ctx ? {c1_mask_i, c1_addr_i} : {c0_mask_i, c0_addr_i};
    end
  end
  // verilator lint_on BLKSEQ

  // ---- control beside the lanes

  logic [1:0] stage;
  assign stage = ctx ? c1_stage_i : c0_stage_i;

  always_ff @(posedge clk_i) begin
    if (start) begin
      s1_pass_q <= pass;
      s1_add_q  <= add;
      s1_ctx_q  <= ctx;
      s1_slot_q <= slot;
      s1_dr_q   <= 1'b1;
      s1_zp_q   <= cfg[weft_cmd_pkg::POST_S_ZP_LSB - BASE +: 8];
      s1_min_q  <= cfg[weft_cmd_pkg::POST_S_MIN_LSB - BASE +: 8];
      s1_max_q  <= cfg[weft_cmd_pkg::POST_S_MAX_LSB - BASE +: 8];
      if (pass == PASS_A) begin
        s1_dr_q  <= cfg[weft_cmd_pkg::POST_DOUBLE_ROUND_LSB - BASE];
        s1_zp_q  <= cfg[weft_cmd_pkg::POST_Y_ZP_LSB - BASE +: 8];
        s1_min_q <= cfg[weft_cmd_pkg::POST_Y_MIN_LSB - BASE +: 8];
        s1_max_q <= cfg[weft_cmd_pkg::POST_Y_MAX_LSB - BASE +: 8];
        if (stage != STAGE_RESCALE) s1_zp_q <= '0;
        if (stage == STAGE_NONE) begin
          s1_min_q <= 8'h80;
          s1_max_q <= 8'h7f;
        end
      end
    end
    if (s1_valid_q) begin
      s2_pass_q <= s1_pass_q;
      s2_add_q  <= s1_add_q;
      s2_ctx_q  <= s1_ctx_q;
      s2_slot_q <= s1_slot_q;
      s2_dr_q   <= s1_dr_q;
      s2_zp_q   <= s1_zp_q;
      s2_min_q  <= s1_min_q;
      s2_max_q  <= s1_max_q;
      s2_addr_q <= s1_addr_q;
      s2_mask_q <= s1_mask_q;
    end
    if (s2_valid_q) begin
      s3_pass_q <= s2_pass_q;
      s3_add_q  <= s2_add_q;
      s3_ctx_q  <= s2_ctx_q;
      s3_slot_q <= s2_slot_q;
      s3_zp_q   <= s2_zp_q;
      s3_min_q  <= s2_min_q;
      s3_max_q  <= s2_max_q;
      s3_addr_q <= s2_addr_q;
      s3_mask_q <= s2_mask_q;
    end
  end

  // Rows of each context between acceptance and write: N buffered, QUEUE queued
  logic [LOG2_N+1:0] flying0_q, flying1_q;
  logic              wr_go, wr_ctx;

  assign pst_req_o  = wr_n_q != 4'd0;
  assign pst_data_o = wr_data_q[wr_out_q];
  assign pst_addr_o = wr_info_q[wr_out_q][19:0];
  assign pst_mask_o = wr_info_q[wr_out_q][20 +: N];
  assign wr_ctx     = wr_info_q[wr_out_q][N + 20];
  assign wr_go      = pst_req_o && pst_gnt_i;
  assign c0_idle_o  = flying0_q == '0;
  assign c1_idle_o  = flying1_q == '0;

  always_ff @(posedge clk_i or negedge rst_ni) begin
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
      flying0_q  <= '0;
      flying1_q  <= '0;
      row_ctx_q  <= '0;
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
      flying0_q  <= '0;
      flying1_q  <= '0;
      row_ctx_q  <= '0;
    end else begin
      s1_valid_q <= start;
      s2_valid_q <= s1_valid_q;
      s3_valid_q <= s2_valid_q;
      turn_q     <= take1;
      if (!take0) owed_q <= '0;
      else if (c1_valid_i || buffered) owed_q <= owed_q + 3'd1;
      if ((take0 || take1) && add) begin
        row_ctx_q[slot] <= ctx;
        alloc_q         <= alloc_q + (LOG2_N+1)'(1);
      end
      if (!take0 && !take1 && buffered) begin
        if (pass == PASS_B) b_q <= b_q + (LOG2_N+1)'(1);
        if (pass == PASS_C) c_q <= c_q + (LOG2_N+1)'(1);
        if (pass == PASS_D) d_q <= d_q + (LOG2_N+1)'(1);
      end
      if (s3_valid_q && s3_add_q && s3_pass_q == PASS_A) a_done_q <= a_done_q + (LOG2_N+1)'(1);
      if (s3_valid_q && s3_pass_q == PASS_C) c_done_q <= c_done_q + (LOG2_N+1)'(1);
      queued_q  <= queued_q + 4'(start && (pass == PASS_D || (pass == PASS_A && !add))) - 4'(wr_go);
      wr_n_q    <= wr_n_q + 4'(out_valid) - 4'(wr_go);
      if (out_valid) wr_in_q <= wr_in_q + 3'd1;
      if (wr_go) wr_out_q <= wr_out_q + 3'd1;
      flying0_q <= flying0_q + (LOG2_N+2)'(take0) - (LOG2_N+2)'(wr_go && !wr_ctx);
      flying1_q <= flying1_q + (LOG2_N+2)'(take1) - (LOG2_N+2)'(wr_go && wr_ctx);
    end
  end

`ifdef WEFT_ASSERT
  always @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni && !abort_i) begin
      assert (wr_n_q <= 4'(QUEUE));
      assert (!(take0 && take1));
    end
  end
`endif
endmodule
