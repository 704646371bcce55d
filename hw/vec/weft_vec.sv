// SPDX-License-Identifier: Apache-2.0
//
// The vector engine: depthwise, pooling and elementwise commands, one at a
// time, from the scratchpad to context 1 of the post unit; and alu commands,
// from the scratchpad to the scratchpad (alu_o: a write port of its own).
//
// A command is taken with cmd_valid_i and cmd_ready_o. Its first input is read
// two (pool, elt) or nine (dw) cycles later. state_o.done pulses in the cycle after
// the post unit has written the last row. A fault pulses state_o.fault once, with
// code and address; the unit then waits for abort_i. abort_i drops everything.
//
// If the configuration has PLAN_AHEAD, the engine plans a depthwise command without a table while the command still waits for
// other units (cmd_waits_i). The first input is then read two cycles after the command is taken.
//
// cmd_i has been checked against the ranges in include/spec/cmd.toml. What
// depends on two fields (dw_line, the kernel, add in dw and pool) is checked here too.
//
// post_cfg_o is stable while the command is under way. post_valid_o does not
// depend on post_ready_i; vec_o and parv_o do not depend on a grant.
// Reads of PARV are always wide.
//
// Model: sim/model/dw.c pool.c elt.c   Theory: hw/vec/README.md
module weft_vec (
  input  logic clk_i,
  input  logic clk_alu_i,   // of u_alu
  input  logic rst_ni,
  output logic need_o,     // clk_i's next edge is needed; comes from registers
  output logic need_alu_o,
  input  logic abort_i,

  input  logic                      cmd_valid_i,
  input  logic                      cmd_waits_i,   // cmd_i is the next command; it stays until it is valid, or until this falls
  output logic                      cmd_ready_o,
  input  weft_cmd_pkg::cmd_t        cmd_i,
  output weft_cfg_pkg::unit_state_t state_o,

  output weft_cfg_pkg::sp_read_t vec_o,
  input  logic                   vec_gnt_i,
  input  weft_cfg_pkg::sp_pair_t vec_rdata_i,

  output weft_cfg_pkg::sp_write_t alu_o,
  input  logic                    alu_gnt_i,

  output weft_cfg_pkg::sp_read_t parv_o,
  input  logic                   parv_gnt_i,
  input  weft_cfg_pkg::sp_pair_t parv_rdata_i,

  output logic [447:0]             post_cfg_o,
  output logic                     post_valid_o,
  input  logic                     post_ready_i,
  output logic [1:0]               post_stage_o,
  output weft_cfg_pkg::row_acc_t   post_acc_o,
  output weft_cfg_pkg::row_state_t post_state_o,
  output weft_cfg_pkg::row_half_t  post_b_o,
  output weft_cfg_pkg::row_acc_t   post_bias_o,
  output weft_cfg_pkg::row_mul_t   post_mul_o,
  output weft_cfg_pkg::row_shift_t post_shift_o,
  output weft_cfg_pkg::sp_addr_t   post_addr_o,
  output weft_cfg_pkg::row_mask_t  post_mask_o,
  input  logic                     post_idle_i
);

  localparam int unsigned N = weft_cfg_pkg::N;

  // Stages of weft_post.
  localparam logic [1:0] StageRescale = 2'd0;
  localparam logic [1:0] StageClamp   = 2'd1;
  localparam logic [1:0] StageNone    = 2'd2;

  // ---- the command ------------------------------------------------------------

  /* verilator lint_off UNUSEDSIGNAL */  // the header and reserved bits
  weft_cmd_pkg::cmd_t cmd_q;
  /* verilator lint_on UNUSEDSIGNAL */
  logic is_dw, is_pool, is_elt, is_alu, add, two, once, pool_sum;
  logic mul, lookup;                // elt: product; elt, dw: table
  logic int16, fp;                  // mode 1, mode 2
  logic x_two, b_two, out_two;      // elements of two bytes
  logic raw;                        // output of four, in mode 1 of eight
  logic [2:0] x_fmt;
  logic [3:0] n_ky, n_kx;           // of dw; 0: 3x3
  logic bad_kernel;
  logic two_rows;                   // dw sums two output rows at a time

  assign is_elt   = !is_dw && !is_pool && !is_alu;
  assign add      = cmd_q[weft_cmd_pkg::POST_ADD_LSB];
  assign mul      = weft_cfg_pkg::HAS_MUL && is_elt && cmd_q[weft_cmd_pkg::ELT_MUL_LSB];
  assign lookup   = (weft_cfg_pkg::HAS_TABLE && is_elt && cmd_q[weft_cmd_pkg::ELT_TABLE_LSB]) ||
                    (weft_cfg_pkg::HAS_DWTABLE && is_dw && cmd_q[weft_cmd_pkg::DW_TABLE_LSB]);
  assign two      = is_elt && (add || mul);
  // The second factor is one word for all pixels of a block.
  assign once     = mul && cmd_q[weft_cmd_pkg::POST_B_X_STRIDE_LSB +: weft_cmd_pkg::POST_B_X_STRIDE_W] == '0
                    && cmd_q[weft_cmd_pkg::POST_B_Y_STRIDE_LSB +: weft_cmd_pkg::POST_B_Y_STRIDE_W] == '0;
  assign int16    = weft_cfg_pkg::HAS_INT16 && cmd_q[weft_cmd_pkg::POST_MODE_LSB +: weft_cmd_pkg::POST_MODE_W] ==
                    weft_cmd_pkg::POST_MODE_V_INT16;
  assign fp       = weft_cfg_pkg::HAS_FP8 && cmd_q[weft_cmd_pkg::POST_MODE_LSB +: weft_cmd_pkg::POST_MODE_W] ==
                    weft_cmd_pkg::POST_MODE_V_FLOAT8;
  assign x_fmt    = cmd_q[weft_cmd_pkg::POST_X_FMT_LSB +: weft_cmd_pkg::POST_X_FMT_W];
  assign x_two    = int16 || (fp && x_fmt[2]);
  assign b_two    = int16 || (fp && cmd_q[weft_cmd_pkg::POST_B_FMT_LSB + 2]);
  assign out_two  = int16 || (fp && cmd_q[weft_cmd_pkg::POST_OUT_FMT_LSB + 2]);
  assign raw      = weft_cfg_pkg::HAS_RAW && is_dw && cmd_q[weft_cmd_pkg::POST_RAW_LSB];
  assign n_ky     = weft_cfg_pkg::HAS_DWK ? cmd_q[weft_cmd_pkg::DW_N_KY_LSB +: weft_cmd_pkg::DW_N_KY_W] : '0;
  assign n_kx     = weft_cfg_pkg::HAS_DWK ? cmd_q[weft_cmd_pkg::DW_N_KX_LSB +: weft_cmd_pkg::DW_N_KX_W] : '0;
  assign bad_kernel = n_ky == '0 ? n_kx != '0 : fp || n_kx < 4'd3 || n_kx > 4'd9;
  assign two_rows   = weft_cfg_pkg::DW_ROWS == 2 && n_ky != '0 && n_kx <= 4'd5 && oh != 16'd1
                      && cmd_q[weft_cmd_pkg::DW_STRIDE_Y_LSB +: weft_cmd_pkg::DW_STRIDE_Y_W] < n_ky;
  assign pool_sum = cmd_q[weft_cmd_pkg::POOL_SUM_LSB];

  logic [15:0] ow, oh, oc;
  assign ow = cmd_q[weft_cmd_pkg::POST_OW_LSB +: weft_cmd_pkg::POST_OW_W];
  assign oh = cmd_q[weft_cmd_pkg::POST_OH_LSB +: weft_cmd_pkg::POST_OH_W];
  assign oc = cmd_q[weft_cmd_pkg::POST_OC_LSB +: weft_cmd_pkg::POST_OC_W];

  assign post_cfg_o = cmd_q[575:128];

  // ---- states -------------------------------------------------------------------

  typedef enum logic [2:0] {Idle, Start, Plan, Run, Stop} state_e;
  state_e state_q;

  logic                   start, flush, finished, scan_ready, scan_wide;
  logic                   out_valid, out_next, out_block, out_bad;
  logic                   rd_bad, par_bad, tab_ready, tab_bad, alu_done, alu_bad;
  weft_cfg_pkg::sp_addr_t rd_bad_addr, par_bad_addr, tab_bad_addr, out_bad_addr, alu_bad_addr;

  // While ahead_q is set, cmd_q holds a command that is planned but not taken yet. look: such a command is seen. lost: it is
  // gone, since the stream was stopped. planned: its plan is made. go: a command was taken in the cycle before.
  localparam logic Ahead = weft_cfg_pkg::PLAN_AHEAD != 0;
  logic [weft_cmd_pkg::HEADER_OP_W-1:0] op;
  logic take, take_alu, look;
  logic ahead_q, lost, go, planned;
  assign look     = Ahead && state_q == Idle && !abort_i && cmd_waits_i && op == weft_cmd_pkg::OP_DW && !cmd_i[weft_cmd_pkg::DW_TABLE_LSB];
  assign lost     = Ahead && ahead_q && !cmd_waits_i && !cmd_valid_i;
  assign planned  = ahead_q && state_q == Plan && scan_ready;

  assign start    = state_q == Start;
  assign flush    = abort_i || state_q == Stop || lost;
  assign finished = is_alu ? alu_done : !out_valid && post_idle_i;

  logic        done_q, fault_q;
  logic [7:0]  fault_code_q;
  logic [31:0] fault_info_q;
  assign cmd_ready_o   = (state_q == Idle || ahead_q) && !abort_i;
  assign state_o.busy  = state_q != Idle && state_q != Stop && !ahead_q;
  assign state_o.done  = done_q;
  assign state_o.fault = fault_q;
  assign state_o.code  = fault_code_q;
  assign state_o.info  = fault_info_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q      <= Idle;
      done_q       <= 1'b0;
      fault_q      <= 1'b0;
      fault_code_q <= '0;
      fault_info_q <= '0;
    end else begin
      done_q  <= 1'b0;
      fault_q <= 1'b0;
      if (abort_i || lost) state_q <= Idle;
      else begin
        case (state_q)
          Idle:  if (cmd_valid_i || look) state_q <= Start;
          Start: state_q <= Plan;
          Plan: if (!ahead_q) begin
            if (scan_ready) state_q <= Run;
            if (((is_dw || is_pool) && add) || (is_dw && scan_ready && (scan_wide || bad_kernel))) begin
              state_q      <= Stop;
              fault_q      <= 1'b1;
              fault_code_q <= weft_cmd_pkg::FAULT_BAD_FIELD;
              fault_info_q <= '0;
            end
          end
          Run: begin
            if (rd_bad || par_bad || tab_bad || (out_bad && tab_ready) || alu_bad) begin
              state_q      <= Stop;
              fault_q      <= 1'b1;
              fault_code_q <= weft_cmd_pkg::FAULT_SP_RANGE;
              fault_info_q <= {12'd0, alu_bad ? alu_bad_addr : rd_bad ? rd_bad_addr : par_bad ? par_bad_addr
                                        : tab_bad ? tab_bad_addr : out_bad_addr};
            end else if (finished) begin
              state_q <= Idle;
              done_q  <= 1'b1;
            end
          end
          default: ;  // Stop: until abort_i
        endcase
      end
    end
  end

  // Which command it is, is looked at everywhere, so that it is decoded as it comes.
  assign op       = cmd_i[weft_cmd_pkg::HEADER_OP_LSB +: weft_cmd_pkg::HEADER_OP_W];
  assign take     = cmd_valid_i && cmd_ready_o;
  assign take_alu = weft_cfg_pkg::HAS_ALU && take && op == weft_cmd_pkg::OP_ALU;

  if (Ahead) begin : g_ahead
    logic go_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni || abort_i) begin
        ahead_q <= 1'b0;
        go_q    <= 1'b0;
      end else begin
        ahead_q <= look || (ahead_q && !take && !lost);
        go_q    <= take;
      end
    end
    assign go = go_q;
  end else begin : g_no_ahead
    assign ahead_q = 1'b0;
    assign go      = start;
  end

  always_ff @(posedge clk_i) begin
    if (take || look) begin
      cmd_q   <= cmd_i;
      is_dw   <= op == weft_cmd_pkg::OP_DW;
      is_pool <= op == weft_cmd_pkg::OP_POOL;
      is_alu  <= take_alu;
    end
  end

  // ---- input addresses and words ------------------------------------------------

  logic                   scan_valid, scan_skip, scan_row, scan_emit, scan_block, scan_first, scan_last, scan_b_first, scan_b_last;
  logic [9:0]             scan_on;
  logic                   tap_valid, tap_first, tap_last, tap_second;
  logic                   addr_ready;
  weft_cfg_pkg::sp_addr_t scan_addr, tap_addr;
  logic [6:0]             scan_lanes, tap_lanes;

  weft_vec_scan u_scan (
    .clk_i(clk_i), .rst_ni(rst_ni), .flush_i(flush), .start_i(start && is_dw),
    .base_i(cmd_q[weft_cmd_pkg::DW_IN_BASE_LSB +: weft_cmd_pkg::DW_IN_BASE_W]),
    .x_step_i(cmd_q[weft_cmd_pkg::DW_IN_X_STRIDE_LSB +: weft_cmd_pkg::DW_IN_X_STRIDE_W]),
    .y_step_i(cmd_q[weft_cmd_pkg::DW_IN_Y_STRIDE_LSB +: weft_cmd_pkg::DW_IN_Y_STRIDE_W]),
    .in_h_i(cmd_q[weft_cmd_pkg::DW_IN_H_LSB +: weft_cmd_pkg::DW_IN_H_W]),
    .in_w_i(cmd_q[weft_cmd_pkg::DW_IN_W_LSB +: weft_cmd_pkg::DW_IN_W_W]),
    .iy_start_i(cmd_q[weft_cmd_pkg::DW_IY_START_LSB +: weft_cmd_pkg::DW_IY_START_W]),
    .ix_start_i(cmd_q[weft_cmd_pkg::DW_IX_START_LSB +: weft_cmd_pkg::DW_IX_START_W]),
    .ow_i(ow), .oh_i(oh), .oc_i(oc), .int16_i(int16),
    .stride_x_i(cmd_q[weft_cmd_pkg::DW_STRIDE_X_LSB +: weft_cmd_pkg::DW_STRIDE_X_W]),
    .stride_y_i(cmd_q[weft_cmd_pkg::DW_STRIDE_Y_LSB +: weft_cmd_pkg::DW_STRIDE_Y_W]),
    .n_ky_i(n_ky), .n_kx_i(n_kx), .two_i(two_rows), .ready_o(scan_ready), .wide_o(scan_wide), .valid_o(scan_valid), .ready_i(addr_ready && scan_go), .addr_o(scan_addr),
    .lanes_o(scan_lanes), .skip_o(scan_skip), .row_o(scan_row), .emit_o(scan_emit), .block_o(scan_block),
    .on_o(scan_on), .first_o(scan_first), .last_o(scan_last), .b_first_o(scan_b_first), .b_last_o(scan_b_last));

  // Behind a table, so that what is wrong with that is found first: taps; of dw weights and records, and the pixels,
  // whose plan is made meanwhile.
  logic start_taps, start_par, scan_go, tab_wait_q;
  assign start_taps = (start && !is_dw && !is_alu && !lookup) ||
                      (tab_wait_q && tab_ready && !(weft_cfg_pkg::HAS_DWTABLE && is_dw));
  assign start_par  = weft_cfg_pkg::HAS_DWTABLE ? is_dw && ((go && !lookup) || (tab_wait_q && tab_ready)) : go && is_dw;
  assign scan_go    = (!weft_cfg_pkg::HAS_DWTABLE || tab_ready) && (!Ahead || state_q == Run);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || flush) tab_wait_q <= 1'b0;
    else tab_wait_q <= (start && lookup) || (tab_wait_q && !tab_ready);
  end

  // elt is a window of one tap; its two strides have changed places
  weft_cfg_pkg::sp_addr_t tap_oy_step, tap_ox_step;
  assign tap_oy_step = is_elt ? cmd_q[weft_cmd_pkg::ELT_IN_Y_STRIDE_LSB +: weft_cmd_pkg::ELT_IN_Y_STRIDE_W]
                              : cmd_q[weft_cmd_pkg::POOL_OY_STEP_LSB +: weft_cmd_pkg::POOL_OY_STEP_W];
  assign tap_ox_step = is_elt ? cmd_q[weft_cmd_pkg::ELT_IN_X_STRIDE_LSB +: weft_cmd_pkg::ELT_IN_X_STRIDE_W]
                              : cmd_q[weft_cmd_pkg::POOL_OX_STEP_LSB +: weft_cmd_pkg::POOL_OX_STEP_W];

  weft_vec_tap u_tap (
    .clk_i(clk_i), .rst_ni(rst_ni), .flush_i(flush), .start_i(start_taps),
    .base_i(is_elt ? cmd_q[weft_cmd_pkg::ELT_IN_BASE_LSB +: weft_cmd_pkg::ELT_IN_BASE_W]
                   : cmd_q[weft_cmd_pkg::POOL_IN_BASE_LSB +: weft_cmd_pkg::POOL_IN_BASE_W]),
    .oy_step_i(tap_oy_step), .ox_step_i(tap_ox_step),
    .ky_step_i(cmd_q[weft_cmd_pkg::POOL_KY_STEP_LSB +: weft_cmd_pkg::POOL_KY_STEP_W]),
    .kx_step_i(cmd_q[weft_cmd_pkg::POOL_KX_STEP_LSB +: weft_cmd_pkg::POOL_KX_STEP_W]),
    .n_ky_i(is_elt ? 16'd1 : cmd_q[weft_cmd_pkg::POOL_N_KY_LSB +: weft_cmd_pkg::POOL_N_KY_W]),
    .n_kx_i(is_elt ? 16'd1 : cmd_q[weft_cmd_pkg::POOL_N_KX_LSB +: weft_cmd_pkg::POOL_N_KX_W]),
    .two_i(two), .once_i(once),
    .b_base_i(cmd_q[weft_cmd_pkg::POST_B_BASE_LSB +: weft_cmd_pkg::POST_B_BASE_W]),
    .b_oy_step_i(cmd_q[weft_cmd_pkg::POST_B_Y_STRIDE_LSB +: weft_cmd_pkg::POST_B_Y_STRIDE_W]),
    .b_ox_step_i(cmd_q[weft_cmd_pkg::POST_B_X_STRIDE_LSB +: weft_cmd_pkg::POST_B_X_STRIDE_W]),
    .ow_i(ow), .oh_i(oh), .oc_i(oc), .x_two_i(x_two), .b_two_i(b_two), .second_o(tap_second),
    .valid_o(tap_valid), .ready_i(addr_ready), .addr_o(tap_addr), .lanes_o(tap_lanes), .first_o(tap_first),
    .last_o(tap_last));

  logic                    word_valid, word_ready;
  weft_cfg_pkg::row_half_t word;
  // A word's tag says what the word is: for dw all bits do, for pool and elt the lower two.
  localparam int unsigned  DwTagBits = weft_cfg_pkg::DW_ROWS == 2 ? 17 : 14;
  logic [DwTagBits-1:0]    word_tag, scan_tag;
  if (weft_cfg_pkg::DW_ROWS == 2) begin : g_two_tag
    assign scan_tag = {scan_b_last, scan_b_first, scan_on[9], scan_last, scan_first, scan_on[8:0], scan_block, scan_emit, scan_row};
  end else begin : g_tag
    logic unused_b;
    assign unused_b = ^{scan_b_last, scan_b_first, scan_on[9]};
    assign scan_tag = {scan_last, scan_first, scan_on[8:0], scan_block, scan_emit, scan_row};
  end
  logic [6:0]              lanes;

  assign lanes = is_dw ? scan_lanes : tap_lanes;

  weft_cfg_pkg::sp_read_t rd, alu_rd;
  assign vec_o = is_alu ? alu_rd : rd;

  weft_vec_rd #(.TagBits(DwTagBits)) u_rd (
    .clk_i(clk_i), .rst_ni(rst_ni), .flush_i(flush),
    .addr_valid_i((scan_valid && scan_go) || tap_valid), .addr_ready_o(addr_ready), .addr_i(is_dw ? scan_addr : tap_addr),
    .bytes_i((tap_second && !is_dw ? b_two : x_two) ? lanes << 1 : lanes), .skip_i(is_dw && scan_skip),
    .tag_i(is_dw ? scan_tag : DwTagBits'({tap_last, tap_first})),
    .bad_o(rd_bad), .bad_addr_o(rd_bad_addr),
    .vec_o(rd), .vec_gnt_i(vec_gnt_i && !is_alu),
    .vec_rdata_i(vec_rdata_i),
    .word_valid_o(word_valid), .word_ready_i(word_ready), .word_o(word), .tag_o(word_tag));

  if (weft_cfg_pkg::HAS_ALU) begin : g_alu
    // A copy of its own: what alu decodes rests with its clock.
    /* verilator lint_off UNUSEDSIGNAL */  // the header and reserved bits
    weft_cmd_pkg::cmd_t alu_cmd_q;
    /* verilator lint_on UNUSEDSIGNAL */
    always_ff @(posedge clk_alu_i) begin
      if (take_alu) alu_cmd_q <= cmd_i;
    end

    weft_alu u_alu (
      .clk_i(clk_alu_i), .rst_ni(rst_ni), .flush_i(flush), .start_i(start && is_alu), .cmd_i(alu_cmd_q), .done_o(alu_done),
      .bad_o(alu_bad), .bad_addr_o(alu_bad_addr),
      .rd_o(alu_rd), .rd_gnt_i(vec_gnt_i && is_alu), .rd_data_i(vec_rdata_i),
      .wr_o(alu_o), .wr_gnt_i(alu_gnt_i));
  end else begin : g_no_alu
    assign alu_done     = 1'b0;
    assign alu_bad      = 1'b0;
    assign alu_bad_addr = '0;
    assign alu_rd       = '0;
    assign alu_o        = '0;
    logic unused_alu;
    assign unused_alu = clk_alu_i ^ alu_gnt_i;
  end

  // ---- weights and lane parameters ----------------------------------------------

  logic                   wts_valid, wts_take, rec_valid, rec_take;
  weft_cfg_pkg::sp_read_t par;
  logic [90*N-1:0]        wts;
  logic                   rec_ok_q;  // the block's records are in the lane parameters
  logic                   par_turn;  // at PARV: u_par's, else the table's
  assign par_turn = weft_cfg_pkg::HAS_DWTABLE ? tab_ready : !lookup;

  weft_vec_par u_par (
    .clk_i(clk_i), .rst_ni(rst_ni), .flush_i(flush), .start_i(start_par),
    .w_base_i(cmd_q[weft_cmd_pkg::DW_W_BASE_LSB +: weft_cmd_pkg::DW_W_BASE_W]),
    .p_base_i(cmd_q[weft_cmd_pkg::DW_P_BASE_LSB +: weft_cmd_pkg::DW_P_BASE_W]),
    .oc_i(oc), .n_ky_i(n_ky), .n_kx_i(n_kx), .two_i(two_rows), .oh_i(oh),
    .stride_y_i(cmd_q[weft_cmd_pkg::DW_STRIDE_Y_LSB +: weft_cmd_pkg::DW_STRIDE_Y_W]),
    .iy_start_i(cmd_q[weft_cmd_pkg::DW_IY_START_LSB +: weft_cmd_pkg::DW_IY_START_W]),
    .in_h_i(cmd_q[weft_cmd_pkg::DW_IN_H_LSB +: weft_cmd_pkg::DW_IN_H_W]),
    .w_zp_i(cmd_q[weft_cmd_pkg::DW_W_ZP_LSB +: weft_cmd_pkg::DW_W_ZP_W]),
    .short_i(cmd_q[weft_cmd_pkg::DW_P_SHORT_LSB]),
    .scalar_i(start && !is_dw && !is_alu),
    .scalar_mul_i(cmd_q[weft_cmd_pkg::POST_A_MUL_LSB +: weft_cmd_pkg::POST_A_MUL_W]),
    .scalar_shift_i(cmd_q[weft_cmd_pkg::POST_A_SHIFT_LSB +: weft_cmd_pkg::POST_A_SHIFT_W]),
    .parv_o(par), .parv_gnt_i(parv_gnt_i && par_turn),
    .parv_rdata_i(parv_rdata_i),
    .wts_valid_o(wts_valid), .wts_take_i(wts_take), .wts_o(wts),
    .rec_valid_o(rec_valid), .rec_take_i(rec_take), .bias_o(post_bias_o), .mul_o(post_mul_o),
    .shift_o(post_shift_o), .bad_o(par_bad), .bad_addr_o(par_bad_addr));

  // Words behind the table, for elt and, where dw has one, for dw.
  localparam int unsigned  TagBits = weft_cfg_pkg::HAS_DWTABLE ? DwTagBits : 2;
  logic                    dw_ready, pool_ready, elt_ready;
  logic                    seen_in, seen_next, seen_valid, seen_ready;
  weft_cfg_pkg::row_half_t seen;
  logic [TagBits-1:0]      seen_tag;
  assign seen_in    = is_elt || (weft_cfg_pkg::HAS_DWTABLE && is_dw);
  assign seen_ready = weft_cfg_pkg::HAS_DWTABLE && is_dw ? dw_ready : elt_ready;

  if (weft_cfg_pkg::HAS_TABLE) begin : g_table
    logic                   tab_full;
    weft_cfg_pkg::sp_read_t tab;

    weft_vec_table #(.TagBits(TagBits)) u_table (
      .clk_i(clk_i), .rst_ni(rst_ni), .flush_i(flush), .start_i(start && lookup), .on_i(lookup), .ready_o(tab_full),
      .base_i(cmd_q[weft_cmd_pkg::POST_B_BASE_LSB +: weft_cmd_pkg::POST_B_BASE_W]), .bad_o(tab_bad),
      .bad_addr_o(tab_bad_addr), .parv_o(tab), .parv_gnt_i(parv_gnt_i && !par_turn),
      .parv_rdata_i(parv_rdata_i), .word_valid_i(word_valid && seen_in), .word_ready_o(seen_next), .word_i(word),
      .tag_i(word_tag[TagBits-1:0]), .word_valid_o(seen_valid), .word_ready_i(seen_ready), .word_o(seen), .tag_o(seen_tag));
    assign parv_o    = par_turn ? par : tab;
    assign tab_ready = !lookup || tab_full;
  end else begin : g_no_table
    assign parv_o       = par;
    assign tab_ready    = 1'b1;
    assign tab_bad      = 1'b0;
    assign tab_bad_addr = '0;
    assign seen_valid   = word_valid && seen_in;
    assign seen_next    = seen_ready;
    assign seen         = word;
    assign seen_tag     = word_tag[TagBits-1:0];
  end
  logic                    pix_valid;
  weft_cfg_pkg::row_half_t pix;
  logic [DwTagBits-1:0]    pix_tag;
  if (weft_cfg_pkg::HAS_DWTABLE) begin : g_dw_table
    assign pix_valid = seen_valid && is_dw;
    assign pix       = seen;
    assign pix_tag   = seen_tag;
  end else begin : g_no_dw_table
    assign pix_valid = word_valid && is_dw;
    assign pix       = word;
    assign pix_tag   = word_tag;
  end

  // The post unit samples the parameters with the row, so the next block's
  // replace them when a block's last row is taken, or as soon as they are there.
  logic last_row;
  assign last_row = out_next && out_block;
  assign rec_take = rec_valid && (!rec_ok_q || last_row);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) rec_ok_q <= 1'b0;
    else if (flush) rec_ok_q <= 1'b0;
    else if (start) rec_ok_q <= !is_dw;
    else if (last_row) rec_ok_q <= !is_dw || rec_valid;
    else if (rec_take) rec_ok_q <= 1'b1;
  end

  // ---- engines ------------------------------------------------------------------

  logic                     dw_row_valid, pool_row_valid, elt_row_valid, row_valid;
  weft_cfg_pkg::row_acc_t   dw_row, pool_row, elt_row;
  weft_cfg_pkg::row_state_t dw_state;

  assign word_ready = is_dw ? (weft_cfg_pkg::HAS_DWTABLE ? seen_next : dw_ready) : is_pool ? pool_ready : seen_next;

  logic [2:0] b_tag;                 // the tag's bits for the second output row
  assign b_tag = weft_cfg_pkg::DW_ROWS == 2 ? 3'(pix_tag >> 14) : '0;

  weft_vec_dw u_dw (
    .clk_i(clk_i), .rst_ni(rst_ni), .flush_i(flush),
    .x_zp_i(cmd_q[weft_cmd_pkg::DW_X_ZP_LSB +: weft_cmd_pkg::DW_X_ZP_W]), .int16_i(int16), .fp_i(fp), .x_fmt_i(x_fmt[1:0]),
    .w_fmt_i(cmd_q[weft_cmd_pkg::POST_W_FMT_LSB +: weft_cmd_pkg::POST_W_FMT_W]),
    .log2_scale_i(cmd_q[weft_cmd_pkg::DW_LOG2_SCALE_LSB +: weft_cmd_pkg::DW_LOG2_SCALE_W]),
    .pix_valid_i(pix_valid), .pix_ready_o(dw_ready), .pix_i(pix),
    .row_i(pix_tag[0]), .emit_i(pix_tag[1]), .block_i(pix_tag[2]), .on_i({b_tag[0], pix_tag[11:3]}),
    .first_i(pix_tag[12]), .last_i(pix_tag[13]), .by_row_i(n_ky != '0), .two_i(two_rows), .b_first_i(b_tag[1]), .b_last_i(b_tag[2]),
    .wts_valid_i(wts_valid), .wts_take_o(wts_take), .wts_i(wts),
    .row_valid_o(dw_row_valid), .row_ready_i(out_next), .row_o(dw_row), .row_state_o(dw_state));

  weft_vec_pool u_pool (
    .clk_i(clk_i), .rst_ni(rst_ni), .flush_i(flush), .sum_i(pool_sum),
    .x_zp_i(cmd_q[weft_cmd_pkg::POOL_X_ZP_LSB +: weft_cmd_pkg::POOL_X_ZP_W]), .int16_i(x_two), .fp_i(fp), .x_fmt_i(x_fmt),
    .word_valid_i(word_valid && is_pool), .word_ready_o(pool_ready), .word_i(word),
    .first_i(word_tag[0]), .last_i(word_tag[1]),
    .row_valid_o(pool_row_valid), .row_ready_i(out_next), .row_o(pool_row));

  weft_vec_elt u_elt (
    .clk_i(clk_i), .rst_ni(rst_ni), .flush_i(flush), .two_i(two), .mul_i(mul), .once_i(once), .int16_i(x_two), .fp_i(fp), .x_fmt_i(x_fmt),
    .a_zp_i(cmd_q[weft_cmd_pkg::POST_A_ZP_LSB +: weft_cmd_pkg::POST_A_ZP_W]),
    .b_zp_i(cmd_q[weft_cmd_pkg::POST_B_ZP_LSB +: 8]),
    .pre_shift_i(cmd_q[weft_cmd_pkg::POST_PRE_SHIFT_LSB +: weft_cmd_pkg::POST_PRE_SHIFT_W]),
    .word_valid_i(seen_valid && (is_elt || !weft_cfg_pkg::HAS_DWTABLE)), .word_ready_o(elt_ready), .word_i(seen),
    .first_i(seen_tag[0]), .last_i(seen_tag[1]),
    .row_valid_o(elt_row_valid), .row_ready_i(out_next), .row_o(elt_row), .b_o(post_b_o));

  // ---- rows to the post unit ----------------------------------------------------

  weft_vec_out u_out (
    .clk_i(clk_i), .rst_ni(rst_ni), .flush_i(flush), .start_i(start && !is_alu),
    .base_i(cmd_q[weft_cmd_pkg::POST_OUT_BASE_LSB +: weft_cmd_pkg::POST_OUT_BASE_W]),
    .x_step_i(cmd_q[weft_cmd_pkg::POST_OUT_X_STRIDE_LSB +: weft_cmd_pkg::POST_OUT_X_STRIDE_W]),
    .y_step_i(cmd_q[weft_cmd_pkg::POST_OUT_Y_STRIDE_LSB +: weft_cmd_pkg::POST_OUT_Y_STRIDE_W]),
    .ow_i(ow), .oh_i(oh), .oc_i(oc), .log_i(raw ? {1'b1, int16} : {1'b0, out_two}),
    .valid_o(out_valid), .next_i(out_next), .addr_o(post_addr_o), .mask_o(post_mask_o), .block_o(out_block),
    .bad_o(out_bad), .bad_addr_o(out_bad_addr));

  assign row_valid    = dw_row_valid || pool_row_valid || elt_row_valid;
  assign post_valid_o = row_valid && rec_ok_q && !out_bad && !flush;
  assign out_next     = post_valid_o && post_ready_i;
  assign post_acc_o   = is_dw ? dw_row : is_pool ? pool_row : elt_row;
  assign post_state_o = dw_state;     // looked at with sums of mode 2 only
  assign post_stage_o = two && !mul ? StageNone : (is_pool && !pool_sum) || (is_elt && fp) ? StageClamp : StageRescale;

  weft_rest u_rest (
    .clk_i,
    .rst_ni,
    .busy_i(cmd_valid_i || look || lost || (state_q != Idle && !planned) || done_q || abort_i),
    .need_o
  );
  assign need_alu_o = need_o && (is_alu || flush || take_alu);

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni && !flush) begin
      assert (!(row_valid && !out_valid));
      // What was planned is what is taken.
      if (ahead_q && take) assert (cmd_q == cmd_i);
      assert (state_q != Idle || (!scan_valid && !tap_valid && !word_valid && !out_valid && !wts_valid && !rec_valid));
    end
  end
`endif

endmodule
