// SPDX-License-Identifier: Apache-2.0
//
// Command processor: fetch, decode, check, queue, issue, retire, faults.
//
// A word is decoded a cycle; a command enters its unit's queue in the cycle
// after its last word and is issued from the second cycle on, when its wait
// counts are met. A unit's done_i counts in the next cycle.
//
// Faults of a unit belong to its oldest command under way. Faults that decoding
// finds (and a stream that ends early, or a bus error of the fetch) are
// reported when every earlier command has retired, so that the commands before
// the reported one have run. The first fault is kept; then abort_o is high
// until all units and the fetch are quiet, for four cycles at least, so that what
// units register has settled, and only then fault_o rises. Done and reset go the
// same way.
//
// Theory: hw/cmd/README.md
module weft_cmd #(
  parameter bit Ecc = 1'b0        // memories have check bits
) (
  input  logic clk_i,
  input  logic rst_ni,
  output logic need_o,            // clk_i's next edge is needed; comes from registers

  input  logic start_i,           // pulse; ignored unless idle and without fault
  input  logic reset_i,           // pulse
  output logic started_o,         // pulse: start was taken
  output logic cleared_o,         // pulse: reset was done
  output logic running_o,         // from start to END
  output logic busy_o,
  output logic done_o,            // last stream reached END
  output logic fault_o,           // a fault is kept
  output logic done_pulse_o,
  output logic fault_pulse_o,

  output weft_cfg_pkg::fault_t first_fault_o,  // the one that is kept, or zeros

  input  logic [31:0]             stream_off_i,
  input  logic [31:0]             stream_words_i,
  input  weft_cfg_pkg::mem_addr_t win_base_i,  // of window 0
  input  logic [31:0]             win_size_i,
  input  logic                    win_read_i,

  output logic                     ar_valid_o,
  input  logic                     ar_ready_i,
  output weft_cfg_pkg::mem_burst_t ar_o,
  input  logic                     r_valid_i,
  input  logic                     r_next_i,  // the next beat is the fetch's; comes from registers
  output logic                     r_ready_o,
  input  weft_cfg_pkg::mem_beat_t  r_i,

  // Units, bit = unit index (LD, ST, CV, VE).
  output logic [3:0]                u_cmd_valid_o,
  input  logic [3:0]                u_cmd_ready_i,
  output weft_cmd_pkg::move_t       ld_cmd_o,
  output weft_cmd_pkg::move_t       st_cmd_o,
  output weft_cmd_pkg::cmd_t        cv_cmd_o,
  output weft_cmd_pkg::cmd_t        ve_cmd_o,
  output logic                      ve_waits_o,   // ve_cmd_o is the next command, and waits for other units
  input  weft_cfg_pkg::unit_state_t ld_i,
  input  weft_cfg_pkg::unit_state_t st_i,
  input  weft_cfg_pkg::unit_state_t cv_i,
  input  weft_cfg_pkg::unit_state_t ve_i,
  output logic                      abort_o,

  // With Ecc: a word was read from the scratchpad of which a byte has two wrong bits, and the word's
  // address; how many words of commands were corrected.
  input  logic                   ecc_bad_i,
  input  weft_cfg_pkg::sp_addr_t ecc_addr_i,
  output logic [2:0]             ecc_fixed_o,

  output logic [3:0]      active_o,      // unit has a command under way
  output logic [3:0]      retire_o,
  output logic [4*32-1:0] retired_o      // since start
);

  typedef enum logic [1:0] {Idle, Run, Drain} state_e;
  typedef enum logic [1:0] {Done, Fault, Reset} reason_e;
  state_e  state_q;
  reason_e reason_q;
  logic [1:0] drain_q;                   // cycles of Drain, up to 3

  // What the units say, bit or slice = unit index.
  logic [3:0]      u_done, u_fault, u_busy;
  logic [4*8-1:0]  u_fault_code;
  logic [4*32-1:0] u_fault_info;
  assign u_done       = {ve_i.done, cv_i.done, st_i.done, ld_i.done};
  assign u_fault      = {ve_i.fault, cv_i.fault, st_i.fault, ld_i.fault};
  assign u_busy       = {ve_i.busy, cv_i.busy, st_i.busy, ld_i.busy};
  assign u_fault_code = {ve_i.code, cv_i.code, st_i.code, ld_i.code};
  assign u_fault_info = {ve_i.info, cv_i.info, st_i.info, ld_i.info};

  logic stop;
  assign started_o = state_q == Idle && start_i && !reset_i && !fault_o;
  assign running_o = state_q == Run;
  assign busy_o    = state_q != Idle;
  assign abort_o   = state_q == Drain;
  assign stop      = state_q == Drain;

  // ---- fetch -------------------------------------------------------------------------

  logic        word_valid, word_ready, word_error, stream_end, bad_window, fetch_busy;
  logic [63:0] word;

  weft_cmd_fetch u_fetch (
    .clk_i,
    .rst_ni,
    .start_i     (started_o),
    .stop_i      (stop),
    .stream_off_i,
    .stream_words_i,
    .win_base_i,
    .win_size_i,
    .win_read_i,
    .ar_valid_o,
    .ar_ready_i,
    .ar_o,
    .r_valid_i,
    .r_ready_o,
    .r_i,
    .word_valid_o(word_valid),
    .word_ready_i(word_ready),
    .word_o      (word),
    .word_error_o(word_error),
    .end_o       (stream_end),
    .bad_window_o(bad_window),
    .busy_o      (fetch_busy)
  );

  // ---- decode -------------------------------------------------------------------------

  weft_cmd_pkg::cmd_t asm_q;    // the command being put together
  logic [4:0]         n_q;      // words of it
  logic [23:0]        index_q;
  logic               ended_q;  // END was decoded
  logic               bad_window_q;

  logic [7:0] words, unit, check_fault;
  logic       rules_ok;
  weft_cmd_check u_check (
    .cmd_i  (asm_q),
    .words_o(words),
    .unit_o (unit),
    .fault_o(check_fault)
  );
  weft_cmd_rules u_rules (
    .cmd_i(asm_q),
    .ok_o (rules_ok)
  );

  logic       head_bad, complete, bad, good, blocked;
  logic [7:0] bad_code;
  always_comb begin
    head_bad = n_q != '0 && (words == '0 || asm_q[weft_cmd_pkg::HEADER_N_WORDS_LSB +: 8] != words);
    complete = n_q != '0 && !head_bad && 8'(n_q) == words;
    bad_code = weft_cmd_pkg::FAULT_NONE;
    if (bad_window_q) bad_code = weft_cmd_pkg::FAULT_WINDOW;
    else if (head_bad || (complete && check_fault != weft_cmd_pkg::FAULT_NONE)) bad_code = check_fault;
    else if (complete && !rules_ok) bad_code = weft_cmd_pkg::FAULT_BAD_FIELD;
    else if (!complete && word_valid && word_error) bad_code = weft_cmd_pkg::FAULT_BUS;
    else if (!complete && stream_end) bad_code = weft_cmd_pkg::FAULT_STREAM_END;
    bad  = !ended_q && running_o && bad_code != weft_cmd_pkg::FAULT_NONE;
    good = !ended_q && running_o && complete && bad_code == weft_cmd_pkg::FAULT_NONE;
  end

  logic [3:0] push, queue_ready;
  logic       is_end, leave;
  assign is_end     = unit == weft_cmd_pkg::UNIT_CP;
  assign push       = good && !is_end ? (4'd1 << unit[1:0]) & queue_ready : '0;
  assign blocked    = good && !is_end && push == '0;
  assign leave      = push != '0 || (good && is_end);
  assign word_ready = running_o && !ended_q && !bad && !word_error && (!complete || (leave && !is_end));

  logic take;
  assign take = word_valid && word_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      n_q          <= '0;
      index_q      <= '0;
      ended_q      <= 1'b0;
      bad_window_q <= 1'b0;
    end else if (started_o) begin
      n_q          <= '0;
      index_q      <= '0;
      ended_q      <= 1'b0;
      bad_window_q <= bad_window;
    end else begin
      if (leave) begin
        n_q     <= {4'd0, take};
        index_q <= index_q + 24'd1;
      end else if (take) begin
        n_q <= n_q + 5'd1;
      end
      if (good && is_end) ended_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      for (int unsigned i = 0; i < weft_cfg_pkg::CMD_MAX_WORDS; i++) begin
        if (leave ? i == 0 : n_q == 5'(i)) asm_q[64*i +: 64] <= word;
      end
    end else if (leave) begin
      asm_q[weft_cmd_pkg::HEADER_OP_LSB +: 8] <= '0;  // no command: nothing to check
    end
  end

  // ---- queues ---------------------------------------------------------------------------
  logic            ecc_bad;   // a word that cannot be corrected was read
  logic [3:0]      waiting, reading, moving, empty, unit_done;
  logic [4*24-1:0] oldest_index;
  logic [4*32-1:0] head_header, oldest_tag;
  logic [3:0]      valid;
  assign u_cmd_valid_o = running_o && !ecc_bad ? valid : '0;
  assign unit_done     = running_o ? u_done : '0;

  // Of each queue: a word was corrected; a word cannot be corrected, and the same of the cycle before.
  logic [3:0] ecc_fixed, queue_bad, queue_bad_q;
  assign ecc_bad = Ecc && (ecc_bad_i || queue_bad_q != '0);
  assign retire_o      = unit_done;

  for (genvar u = 0; u < 4; u++) begin : g_queue
    // Of VE the longest is alu, else dw (and pool).
    localparam int unsigned Words = u == 2 ? 32'(weft_cmd_pkg::CONV_WORDS) :
                                    u == 3 && weft_cfg_pkg::HAS_ALU ? 32'(weft_cmd_pkg::ALU_WORDS) :
                                    u == 3 ? 32'(weft_cmd_pkg::DW_WORDS) : 32'(weft_cmd_pkg::LOAD_WORDS);
    /* verilator lint_off UNUSEDSIGNAL */  // a load and a store are shorter
    weft_cmd_pkg::cmd_t cmd;
    /* verilator lint_on UNUSEDSIGNAL */
    weft_cmd_queue #(
      .Words(Words),
      .Ecc  (Ecc)
    ) u_queue (
      .clk_i,
      .rst_ni,
      .clr_i         (stop),
      .word_we_i     (take),
      .word_n_i      (leave ? 4'd0 : n_q[3:0]),
      .word_i        (word),
      .count_i       (n_q),
      .push_i        (push[u]),
      .drop_i        (started_o || (leave && !push[u])),
      .ready_o       (queue_ready[u]),
      .tag_i         (asm_q[weft_cmd_pkg::HEADER_TAG_LSB +: 32]),
      .index_i       (index_q),
      .retired_i     (retired_o),
      .cmd_valid_o   (valid[u]),
      .cmd_ready_i   (u_cmd_ready_i[u] && running_o && !ecc_bad),
      .cmd_o         (cmd),
      .done_i        (unit_done[u]),
      .waiting_o     (waiting[u]),
      .reading_o     (reading[u]),
      .moving_o      (moving[u]),
      .empty_o       (empty[u]),
      .active_o      (active_o[u]),
      .head_header_o (head_header[32*u +: 32]),
      .oldest_index_o(oldest_index[24*u +: 24]),
      .oldest_tag_o  (oldest_tag[32*u +: 32]),
      .ecc_fixed_o   (ecc_fixed[u]),
      .ecc_bad_o     (queue_bad[u])
    );

    always_ff @(posedge clk_i) begin
      if (!rst_ni) retired_o[32*u +: 32] <= '0;
      else if (started_o || cleared_o) retired_o[32*u +: 32] <= '0;
      else if (unit_done[u]) retired_o[32*u +: 32] <= retired_o[32*u +: 32] + 32'd1;
    end
  end

  if (Ecc) begin : g_ecc
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        ecc_fixed_o <= '0;
        queue_bad_q <= '0;
      end else begin
        ecc_fixed_o <= 3'(ecc_fixed[0]) + 3'(ecc_fixed[1]) + 3'(ecc_fixed[2]) + 3'(ecc_fixed[3]);
        queue_bad_q <= queue_bad;
      end
    end
  end else begin : g_no_ecc
    logic unused_ecc;
    assign unused_ecc  = ^{ecc_fixed, queue_bad, ecc_bad_i, ecc_addr_i, queue_bad_q};
    assign ecc_fixed_o = '0;
    assign queue_bad_q = '0;
  end

  assign ld_cmd_o = g_queue[0].cmd[64*weft_cmd_pkg::LOAD_WORDS-1:0];
  assign st_cmd_o = g_queue[1].cmd[64*weft_cmd_pkg::STORE_WORDS-1:0];
  assign cv_cmd_o = g_queue[2].cmd;
  assign ve_cmd_o = g_queue[3].cmd;
  assign ve_waits_o = running_o && !ecc_bad && waiting[3];

  // ---- end, deadlock, faults ---------------------------------------------------------------

  logic quiet, finished, bad_now, deadlock, fault_now;
  assign quiet     = active_o == '0 && u_busy == '0;
  assign finished  = running_o && ended_q && empty == '1 && quiet;
  assign bad_now   = bad && empty == '1 && quiet;
  assign deadlock  = running_o && quiet && valid == '0 && waiting != '0 && reading == '0 && (ended_q || bad || blocked);
  assign fault_now = running_o && (u_fault != '0 || bad_now || deadlock || ecc_bad);

  logic [7:0]  new_code, new_unit;
  logic [23:0] new_index;
  logic [31:0] new_tag, new_info;
  always_comb begin
    new_code  = bad_code;
    new_unit  = weft_cmd_pkg::UNIT_CP;
    new_index = index_q;
    new_tag   = '0;
    new_info  = '0;
    if (fault_now) begin
      if (u_fault != '0) begin
        for (int unsigned i = 0; i < 4; i++) begin
          if (u_fault[3-i]) begin
            new_code  = u_fault_code[8*(3-i) +: 8];
            new_unit  = 8'(3-i);
            new_index = oldest_index[24*(3-i) +: 24];
            new_tag   = oldest_tag[32*(3-i) +: 32];
            new_info  = u_fault_info[32*(3-i) +: 32];
          end
        end
      end else if (deadlock) begin
        // Of the waiting commands, the first in the stream. None is active: the oldest of a
        // queue is its head.
        new_code  = weft_cmd_pkg::FAULT_DEADLOCK;
        new_index = '1;
        for (int unsigned i = 0; i < 4; i++) begin
          if (waiting[i] && oldest_index[24*i +: 24] <= new_index) begin
            new_index = oldest_index[24*i +: 24];
            new_tag   = oldest_tag[32*i +: 32];
            new_info  = head_header[32*i +: 32];
          end
        end
      end else if (bad_window_q) begin
        new_info = stream_off_i;
      end else if (n_q != '0) begin
        new_tag  = asm_q[weft_cmd_pkg::HEADER_TAG_LSB +: 32];
        new_info = asm_q[31:0];
      end
      // A unit's fault may come from wrong bytes, so the fault ECC goes before it. The index is
      // that of the command being decoded: it says how far the stream has come.
      if (ecc_bad) begin
        new_code  = weft_cmd_pkg::FAULT_ECC;
        new_unit  = weft_cmd_pkg::UNIT_CP;
        new_index = index_q;
        new_tag   = '0;
        new_info  = 32'(ecc_addr_i);
        for (int unsigned i = 0; i < 4; i++) begin
          if (!ecc_bad_i && queue_bad_q[i]) begin
            new_unit = 8'(i);
            new_info = '0;
          end
        end
      end
    end
  end

  logic drained;
  assign drained       = state_q == Drain && drain_q == 2'd3 && u_busy == '0 && !fetch_busy;
  assign cleared_o     = drained && reason_q == Reset;
  assign done_pulse_o  = drained && reason_q == Done && !reset_i;
  assign fault_pulse_o = drained && reason_q == Fault && !reset_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q  <= Idle;
      reason_q <= Done;
      drain_q  <= '0;
      done_o   <= 1'b0;
      fault_o  <= 1'b0;
    end else begin
      if (state_q != Drain) drain_q <= '0;
      else if (drain_q != 2'd3) drain_q <= drain_q + 2'd1;

      if (started_o) begin
        state_q <= Run;
        done_o  <= 1'b0;
      end
      if (fault_now) begin
        state_q  <= Drain;
        reason_q <= Fault;
      end else if (finished) begin
        state_q  <= Drain;
        reason_q <= Done;
      end
      if (drained) begin
        state_q <= Idle;
        if (reason_q == Done) done_o <= 1'b1;
        if (reason_q == Fault) fault_o <= 1'b1;
      end
      if (cleared_o) begin
        done_o  <= 1'b0;
        fault_o <= 1'b0;
      end
      if (reset_i) begin
        state_q  <= Drain;
        reason_q <= Reset;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_fault_o <= '0;
    end else if (cleared_o || started_o) begin
      first_fault_o <= '0;
    end else if (fault_now) begin
      first_fault_o.code  <= new_code;
      first_fault_o.unit  <= new_unit;
      first_fault_o.index <= new_index;
      first_fault_o.tag   <= new_tag;
      first_fault_o.info  <= new_info;
    end
  end

  // Else nothing changes: the word at hand waits for its queue, the queues for units, and
  // the fetch for beats.
  weft_rest #(
    .Behind(3'd1)
  ) u_rest (
    .clk_i,
    .rst_ni,
    .busy_i(start_i || reset_i || state_q == Drain || fault_now || finished || take || leave || unit_done != '0 ||
            moving != '0 || (u_cmd_valid_o & u_cmd_ready_i) != '0 || ar_valid_o || r_next_i),
    .need_o
  );

`ifdef WEFT_ASSERT
  logic                 kept_q;      // a fault was there in the cycle before
  weft_cfg_pkg::fault_t kept_fault_q;
  logic                 abort_q;
  logic [2:0]           aborting_q;  // cycles of abort_o, up to 4
  always_ff @(posedge clk_i) begin
    kept_q       <= rst_ni && fault_o && !cleared_o;
    kept_fault_q <= first_fault_o;
    abort_q      <= rst_ni && abort_o;
    aborting_q   <= !abort_o ? '0 : aborting_q[2] ? 3'd4 : aborting_q + 3'd1;
    if (rst_ni) begin
      if (kept_q) assert (fault_o && first_fault_o == kept_fault_q);                  // the first is kept
      if (fault_o) assert (!started_o && first_fault_o.code != weft_cmd_pkg::FAULT_NONE);
      if (abort_q && !abort_o) assert (u_busy == '0 && !fetch_busy && aborting_q[2]);  // until all are quiet
      if (started_o) assert (!busy_o && !reset_i);
      if (retire_o != '0) assert ((retire_o & ~active_o) == '0);
      assert (!(running_o && (u_fault & ~active_o) != '0));
      if (fault_pulse_o || done_pulse_o) assert (u_busy == '0);
    end
  end
`endif

endmodule
