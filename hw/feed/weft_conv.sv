// SPDX-License-Identifier: Apache-2.0
//
// CV unit: convolution on the systolic array.
//
// Two commands can be in the unit. The front one (f) is being fed: operand
// words and parameter records are read. The back one (d) is being drained: its
// rows leave the array and the post unit writes them. A command enters the
// back as soon as the one before has retired; its first row is due N + K slots
// after its first word, so the array goes from one command to the next without
// emptying. state_o.done comes when the back's last row is in the scratchpad.
//
// A slot (see weft_array) happens when both words are there, and no row is due
// or the row register is free. Between commands the array is fed zeros until
// all its rows are out, in whole chunks if another command follows meanwhile.
//
// state_o.fault is a pulse; after it nothing moves until abort_i. It is held back
// until the faulting command is the oldest.
//
// Model: sim/model/conv.c   Theory: hw/feed/README.md
module weft_conv #(
  parameter logic Lazy = 1'b0   // see hw/array; 1 to simulate
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic need_o,     // clk_i's next edge is needed; comes from registers

  input  logic                      cmd_valid_i,
  output logic                      cmd_ready_o,
  input  weft_cmd_pkg::cmd_t        cmd_i,
  output weft_cfg_pkg::unit_state_t state_o,
  input  logic                      abort_i,

  output weft_cfg_pkg::sp_read_t act_o,
  input  logic                   act_gnt_i,
  input  weft_cfg_pkg::sp_pair_t act_rdata_i,

  output weft_cfg_pkg::sp_read_t wgt_o,
  input  logic                   wgt_gnt_i,
  input  weft_cfg_pkg::sp_pair_t wgt_rdata_i,

  output weft_cfg_pkg::sp_read_t par_o,
  input  logic                   par_gnt_i,
  input  weft_cfg_pkg::sp_pair_t par_rdata_i,

  output weft_cfg_pkg::sp_read_t res_o,
  input  logic                   res_gnt_i,
  input  weft_cfg_pkg::sp_pair_t res_rdata_i,

  output logic                     row_valid_o,
  input  logic                     row_ready_i,
  output weft_cfg_pkg::row_acc_t   row_acc_o,
  output weft_cfg_pkg::row_state_t row_state_o,
  output weft_cfg_pkg::row_half_t  row_b_o,
  output weft_cfg_pkg::sp_addr_t   row_addr_o,
  output weft_cfg_pkg::row_mask_t  row_mask_o,
  output weft_cfg_pkg::row_acc_t   par_bias_o,
  output weft_cfg_pkg::row_mul_t   par_mul_o,
  output weft_cfg_pkg::row_shift_t par_shift_o,
  output logic [447:0]             post_cfg_o,
  output logic                     post_turns_o,
  input  logic                     post_idle_i,

  output logic                          stall_act_o,
  output logic                          stall_wgt_o,
  output logic                          stall_post_o
);
  localparam int N = weft_cfg_pkg::N;
  localparam int LOG2_N = weft_cfg_pkg::LOG2_N;

  logic clr_q, dead_q;

  // ---- commands

  logic               f_valid_q, f_start_q, f_pend_q, f_keep, f_end;
  weft_cmd_pkg::cmd_t f_cmd_q;
  logic               d_valid_q, d_start_q, d_last_q, d_keep, d_load, d_end;
  weft_cmd_pkg::cmd_t d_cmd_q;
  logic               act_idle, act_empty, wgt_idle, par_idle;
  logic               row_valid_q, done, busy, fault;

  assign f_keep = f_cmd_q[weft_cmd_pkg::CONV_KEEP_LSB];
  assign d_keep = d_cmd_q[weft_cmd_pkg::CONV_KEEP_LSB];

  // A command with keep has no rows: it ends when its last word has been read.
  assign f_end  = f_valid_q && !f_start_q && !f_pend_q && !d_start_q && act_idle && wgt_idle && par_idle;
  assign d_load = f_pend_q && (!d_valid_q || d_end);
  assign d_end  = d_valid_q && !d_start_q
                  && (d_keep ? f_end : (d_last_q && !row_valid_q && post_idle_i));

  assign cmd_ready_o = (!f_valid_q || f_end) && !clr_q && !abort_i && !dead_q && !fault;
  assign done        = d_end && !clr_q;
  assign busy        = f_valid_q || d_valid_q;

  logic [31:0] fault_info;

  assign state_o.busy  = busy;
  assign state_o.done  = done;
  assign state_o.fault = fault;
  assign state_o.code  = weft_cmd_pkg::FAULT_SP_RANGE;
  assign state_o.info  = fault_info;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      f_valid_q <= 1'b0;
      f_start_q <= 1'b0;
      f_pend_q  <= 1'b0;
      d_valid_q <= 1'b0;
      d_start_q <= 1'b0;
    end else if (clr_q) begin
      f_valid_q <= 1'b0;
      f_start_q <= 1'b0;
      f_pend_q  <= 1'b0;
      d_valid_q <= 1'b0;
      d_start_q <= 1'b0;
    end else begin
      f_start_q <= cmd_valid_i && cmd_ready_o;
      if (cmd_valid_i && cmd_ready_o) begin
        f_valid_q <= 1'b1;
        f_pend_q  <= 1'b1;
        f_cmd_q   <= cmd_i;
      end else begin
        if (f_end) f_valid_q <= 1'b0;
        if (d_load) f_pend_q <= 1'b0;
      end
      d_start_q <= d_load;
      if (d_load) begin
        d_valid_q <= 1'b1;
        d_cmd_q   <= f_cmd_q;
      end else if (d_end) begin
        d_valid_q <= 1'b0;
      end
    end
  end

  assign post_cfg_o = d_cmd_q[128 +: 448];
  assign post_turns_o = d_cmd_q[weft_cmd_pkg::CONV_TURNS_LSB];

  // ---- feeders

  logic                    step, step_ready, step_odd, step_pair, group_end, tile_end;
  logic                    act_valid, act_row_ok, act_pair, act_last, wgt_valid, word_ready;
  logic [1:0]              act_kind;
  weft_cfg_pkg::row_half_t act_word;
  weft_cfg_pkg::sp_word_t  wgt_word, wgt_second;
  logic [7:0]              act_zp, wgt_zp;
  logic                    act_fault, wgt_fault, par_fault, rows_fault, f_fault;
  weft_cfg_pkg::sp_addr_t  act_fault_addr, wgt_fault_addr, par_fault_addr, rows_fault_addr;

  weft_feed_act u_act (
    .clk_i, .rst_ni, .clr_i(clr_q),
    .start_i(f_start_q), .cmd_i(f_cmd_q), .idle_o(act_idle), .empty_o(act_empty),
    .step_o(step), .step_ready_i(step_ready), .step_odd_o(step_odd), .step_pair_o(step_pair),
    .group_end_o(group_end), .tile_end_o(tile_end),
    .read_o(act_o), .gnt_i(act_gnt_i), .rdata_i(act_rdata_i),
    .valid_o(act_valid), .ready_i(word_ready), .word_o(act_word), .kind_o(act_kind), .zp_o(act_zp),
    .row_ok_o(act_row_ok), .pair_o(act_pair), .last_o(act_last),
    .fault_o(act_fault), .fault_addr_o(act_fault_addr)
  );

  weft_feed_wgt u_wgt (
    .clk_i, .rst_ni, .clr_i(clr_q),
    .start_i(f_start_q), .cmd_i(f_cmd_q), .idle_o(wgt_idle),
    .step_i(step), .step_ready_o(step_ready), .step_odd_i(step_odd), .step_pair_i(step_pair),
    .group_end_i(group_end), .tile_end_i(tile_end),
    .read_o(wgt_o), .gnt_i(wgt_gnt_i), .rdata_i(wgt_rdata_i),
    .valid_o(wgt_valid), .ready_i(word_ready), .word_o(wgt_word), .second_o(wgt_second), .zp_o(wgt_zp),
    .fault_o(wgt_fault), .fault_addr_o(wgt_fault_addr)
  );

  logic par_valid, par_next, row_other_q;

  weft_feed_par u_par (
    .clk_i, .rst_ni, .clr_i(clr_q),
    .start_i(f_start_q && !f_keep), .cmd_i(f_cmd_q), .idle_o(par_idle),
    .read_o(par_o), .gnt_i(par_gnt_i), .rdata_i(par_rdata_i),
    .valid_o(par_valid), .next_i(par_next), .other_i(row_other_q),
    .bias_o(par_bias_o), .mul_o(par_mul_o), .shift_o(par_shift_o),
    .fault_o(par_fault), .fault_addr_o(par_fault_addr)
  );

  logic                    rows_valid, rows_tile_last, rows_cmd_last, rows_other, take;
  weft_cfg_pkg::sp_addr_t  rows_addr;
  weft_cfg_pkg::row_mask_t rows_mask;
  weft_cfg_pkg::row_half_t rows_b;

  weft_feed_rows u_rows (
    .clk_i, .rst_ni, .clr_i(clr_q),
    .start_i(d_start_q && !d_keep), .cmd_i(d_cmd_q),
    .read_o(res_o), .gnt_i(res_gnt_i), .rdata_i(res_rdata_i),
    .valid_o(rows_valid), .ready_i(take), .row_addr_o(rows_addr), .row_mask_o(rows_mask),
    .row_b_o(rows_b), .tile_last_o(rows_tile_last), .cmd_last_o(rows_cmd_last), .other_o(rows_other),
    .fault_o(rows_fault), .fault_addr_o(rows_fault_addr)
  );

  // ---- slots

  logic [LOG2_N-1:0] phase_q;
  logic              chunk_q;        // in a chunk of words: the phase must match
  logic [LOG2_N+1:0] live_q;         // zeros to feed until the array is empty
  logic [LOG2_N:0]   n_ok_q, n_ok;   // pixels in the group being fed
  logic [LOG2_N:0]   n_fed_q;        // in the group whose token is before row 0's exit
  logic [LOG2_N:0]   n_out_q;        // in the group on its way out
  logic              pair_fed_q, pair_out_q;  // do these have two column tiles?
  logic              fp_q;           // what is in the array is float8
  logic              act_fp, blocked;
  logic              at_chunk, words, want, load, bubble, adv, last, due, leaving, row_due, row_can;
  logic [LOG2_N-1:0] due_row, due_pixel;

  // Float8 waits until everything else has left the array, and the other way round.
  assign act_fp   = weft_cfg_pkg::HAS_FP8 && {1'b0, act_kind} == weft_cmd_pkg::POST_MODE_V_FLOAT8;
  assign blocked  = act_valid && act_fp != fp_q && live_q != '0;
  assign words    = act_valid && wgt_valid && !blocked;
  assign want     = (f_start_q || !act_empty) && !f_fault;  // words are on their way
  assign at_chunk = phase_q == '0 || chunk_q;
  assign load     = at_chunk && words;
  assign bubble   = live_q != '0 && (at_chunk ? blocked || (!words && !want) : 1'b1);
  assign due_pixel = pair_out_q ? due_row & LOG2_N'(N/2 - 1) : due_row;
  assign row_due  = due && {1'b0, due_pixel} < n_out_q;
  assign row_can  = rows_valid && (!row_valid_q || (row_valid_o && row_ready_i));
  assign adv      = (load || bubble) && (!row_due || row_can) && !clr_q;
  assign word_ready = adv && load;
  assign last     = load && act_last;
  assign take     = adv && row_due;
  assign n_ok     = (phase_q == '0 ? '0 : n_ok_q) + (LOG2_N+1)'(act_row_ok && !(act_pair && phase_q[LOG2_N-1]));

  assign stall_act_o  = at_chunk && want && !act_valid;
  assign stall_wgt_o  = at_chunk && act_valid && !wgt_valid;
  assign stall_post_o = (load || bubble) && row_due && !row_can;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      phase_q <= '0;
      chunk_q <= 1'b0;
      live_q  <= '0;
      fp_q    <= 1'b0;
      n_ok_q  <= '0;
      n_fed_q <= '0;
      n_out_q <= '0;
      pair_fed_q <= 1'b0;
      pair_out_q <= 1'b0;
    end else if (clr_q) begin
      phase_q <= '0;
      chunk_q <= 1'b0;
      live_q  <= '0;
      fp_q    <= 1'b0;
      n_ok_q  <= '0;
      n_fed_q <= '0;
      n_out_q <= '0;
      pair_fed_q <= 1'b0;
      pair_out_q <= 1'b0;
    end else if (adv) begin
      phase_q <= phase_q + LOG2_N'(1);
      chunk_q <= load;
      live_q  <= load ? (LOG2_N+2)'(2*N) : live_q - (LOG2_N+2)'(1);
      if (load) begin
        n_ok_q <= n_ok;
        fp_q   <= act_fp;
        if (last) begin
          n_fed_q    <= n_ok;
          pair_fed_q <= act_pair;
        end
      end
      if (leaving) begin
        n_out_q    <= n_fed_q;
        pair_out_q <= pair_fed_q;
      end
    end else if (live_q == '0) begin
      phase_q <= '0;
      chunk_q <= 1'b0;
    end
  end

  weft_array #(.Lazy(Lazy)) u_array (
    .clk_i, .rst_ni, .clr_i(clr_q),
    .adv_i(adv), .load_i(load), .last_i(last),
    .kind_i(act_kind),
    .phase_i(phase_q), .act_i(act_word), .act_zp_i(act_zp), .wgt_i(wgt_word), .wgt_second_i(wgt_second), .wgt_zp_i(wgt_zp),
    .leaving_o(leaving), .due_o(due), .due_row_o(due_row), .take_i(take), .row_o(row_acc_o), .row_state_o(row_state_o)
  );

  // ---- the row on its way to the post unit

  logic row_tile_last_q;

  assign row_valid_o = row_valid_q && par_valid;
  assign par_next    = row_valid_o && row_ready_i && row_tile_last_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      row_valid_q <= 1'b0;
      d_last_q    <= 1'b0;
    end else if (clr_q) begin
      row_valid_q <= 1'b0;
      d_last_q    <= 1'b0;
    end else begin
      if (take) begin
        row_valid_q     <= 1'b1;
        row_addr_o      <= rows_addr;
        row_mask_o      <= rows_mask;
        row_b_o         <= rows_b;
        row_tile_last_q <= rows_tile_last;
        row_other_q     <= rows_other;
      end else if (row_ready_i && row_valid_o) begin
        row_valid_q <= 1'b0;
      end
      if (d_load) d_last_q <= 1'b0;
      else if (take && rows_cmd_last) d_last_q <= 1'b1;
    end
  end

  // ---- faults

  assign f_fault = act_fault || wgt_fault || par_fault;
  assign fault   = !clr_q && (rows_fault || (f_fault && !f_pend_q));
  always_comb begin
    fault_info = 32'(par_fault_addr);
    if (rows_fault)     fault_info = 32'(rows_fault_addr);
    else if (act_fault) fault_info = 32'(act_fault_addr);
    else if (wgt_fault) fault_info = 32'(wgt_fault_addr);
    // A read that begins in the scratchpad crosses its end.
    if (fault_info < 32'(weft_cfg_pkg::SP_BYTES)) fault_info = 32'(weft_cfg_pkg::SP_BYTES);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      dead_q <= 1'b0;
      clr_q  <= 1'b1;
    end else begin
      if (fault)        dead_q <= 1'b1;
      else if (abort_i) dead_q <= 1'b0;
      clr_q <= abort_i || fault || dead_q;
    end
  end

  weft_rest u_rest (
    .clk_i,
    .rst_ni,
    .busy_i(cmd_valid_i || busy || live_q != '0 || clr_q || abort_i || fault || dead_q),
    .need_o
  );

`ifdef WEFT_ASSERT
  always @(posedge clk_i) begin
    if (rst_ni && !clr_q) begin
      assert (!(done && fault));
      assert (!(take && !rows_valid));
      assert (!(adv && row_due && !row_can));   // a row that is due would be lost
      assert (!(row_due && !d_valid_q));
      assert (!row_valid_o || par_valid);       // the post unit samples them with the row
      assert (!(done && !(f_valid_q || d_valid_q)));
      assert (!adv || !dead_q);                 // after a fault nothing moves
      assert (!(fault && dead_q));              // a pulse
    end
  end
`endif
endmodule
