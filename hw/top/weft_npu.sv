// SPDX-License-Identifier: Apache-2.0
//
// The NPU: registers, command processor, DMA, scratchpad, array, post unit and
// vector engine. Wiring only.
//
// One clock, synchronous reset of at least one cycle. The units' clocks are clk_i
// too; each may be left out while its unit does not need the next edge (need_*_o,
// which come from registers), or tied to clk_i. reg_rdata_o is combinational. The AXI4 master
// port has one ID and INCR bursts of at most 16 beats; addresses are aligned
// to the bus. retire_o pulses once per retired command, bit = unit index, in a
// cycle in which all its writes are in the scratchpad or acknowledged.
module weft_npu #(
  parameter bit Lazy = 1'b0,  // see hw/array; 1 to simulate
  parameter bit Ecc  = 1'b0   // scratchpad and queues of commands have check bits (hw/sp)
) (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic clk_cp_i,
  input  logic clk_ld_i,
  input  logic clk_st_i,
  input  logic clk_cv_i,
  input  logic clk_ve_i,
  input  logic clk_alu_i,
  input  logic clk_post_i,
  output logic need_cp_o,
  output logic need_ld_o,
  output logic need_st_o,
  output logic need_cv_o,
  output logic need_ve_o,
  output logic need_alu_o,
  output logic need_post_o,

  input  logic        reg_req_i,
  input  logic        reg_we_i,
  input  logic [11:0] reg_addr_i,
  input  logic [31:0] reg_wdata_i,
  output logic [31:0] reg_rdata_o,
  output logic        irq_o,
  output logic        busy_o,     // as status.busy
  output logic [3:0]  retire_o,

  output weft_cfg_pkg::mem_addr_t m_araddr_o,
  output logic [7:0]              m_arlen_o,
  output logic                    m_arvalid_o,
  input  logic                    m_arready_i,
  input  weft_cfg_pkg::sp_word_t  m_rdata_i,
  input  logic [1:0]              m_rresp_i,
  input  logic                    m_rlast_i,
  input  logic                    m_rvalid_i,
  output logic                    m_rready_o,

  output weft_cfg_pkg::mem_addr_t m_awaddr_o,
  output logic [7:0]              m_awlen_o,
  output logic                    m_awvalid_o,
  input  logic                    m_awready_i,
  output weft_cfg_pkg::sp_word_t  m_wdata_o,
  output weft_cfg_pkg::row_mask_t m_wstrb_o,
  output logic                    m_wlast_o,
  output logic                    m_wvalid_o,
  input  logic                    m_wready_i,
  input  logic [1:0]              m_bresp_i,
  input  logic                    m_bvalid_i,
  output logic                    m_bready_o
);

  localparam int unsigned N        = weft_cfg_pkg::N;
  localparam int unsigned MemW     = weft_cfg_pkg::DRAM_ADDR_BITS;
  localparam int unsigned Log2N    = weft_cfg_pkg::LOG2_N;

  logic unused_resp;
  assign unused_resp = m_rresp_i[0] ^ m_bresp_i[0];

  // ---- registers and command processor ------------------------------------------

  logic start, reset, started, cleared, running, busy, done, fault, done_pulse, fault_pulse;
  weft_cfg_pkg::fault_t first_fault;
  logic [4*32-1:0]      retired;
  logic [31:0]            stream_off, stream_words;
  weft_cfg_pkg::windows_t windows;
  weft_cfg_pkg::events_t  events;
  logic [3:0]             active, conflicts, conflicts_q;
  logic                   stall_act, stall_wgt, stall_post;
  logic [Log2N:0]         rd_bytes, wr_bytes;
  assign events.active     = active;
  assign events.retire     = retire_o;
  assign events.stall_act  = stall_act;
  assign events.stall_wgt  = stall_wgt;
  assign events.stall_post = stall_post;
  assign events.conflicts  = conflicts_q;
  assign events.rd_bytes   = rd_bytes;
  assign events.wr_bytes   = wr_bytes;

  // Counted a cycle later, because it is known late in its own; a stream's last cycles request nothing.
  always_ff @(posedge clk_i) conflicts_q <= conflicts;

  logic [4:0]             sp_fixed;
  logic [2:0]             cmd_fixed;
  logic                   ecc_bad;
  weft_cfg_pkg::sp_addr_t ecc_addr;

  weft_regs #(
    .Ecc(Ecc)
  ) u_regs (
    .clk_i,
    .rst_ni,
    .reg_req_i,
    .reg_we_i,
    .reg_addr_i,
    .reg_wdata_i,
    .reg_rdata_o,
    .irq_o,
    .start_o       (start),
    .reset_o       (reset),
    .busy_i        (busy),
    .done_i        (done),
    .fault_i       (fault),
    .done_pulse_i  (done_pulse),
    .fault_pulse_i (fault_pulse),
    .clear_i       (started || cleared),
    .running_i     (running),
    .first_fault_i (first_fault),
    .retired_i     (retired),
    .stream_off_o  (stream_off),
    .stream_words_o(stream_words),
    .win_o         (windows),
    .events_i      (events),
    .ecc_fixed_i   (6'(sp_fixed) + 6'(cmd_fixed))
  );

  logic                      fetch_arvalid, fetch_arready, fetch_next, fetch_rvalid, fetch_rready;
  weft_cfg_pkg::mem_burst_t fetch_ar;
  weft_cfg_pkg::mem_beat_t  r;
  logic [3:0]                u_valid, u_ready;
  weft_cfg_pkg::unit_state_t ld_state, st_state, cv_state, ve_state;
  weft_cmd_pkg::move_t       ld_cmd, st_cmd;
  weft_cmd_pkg::cmd_t        cv_cmd, ve_cmd;
  logic                      ve_waits;
  logic                      abort;
  assign r.error = m_rresp_i[1];   // OKAY and EXOKAY have bit 1 clear
  assign r.last  = m_rlast_i;
  assign r.data  = m_rdata_i;

  weft_cmd #(
    .Ecc(Ecc)
  ) u_cmd (
    .clk_i         (clk_cp_i),
    .need_o        (need_cp_o),
    .rst_ni,
    .start_i       (start),
    .reset_i       (reset),
    .started_o     (started),
    .cleared_o     (cleared),
    .running_o     (running),
    .busy_o        (busy),
    .done_o        (done),
    .fault_o       (fault),
    .done_pulse_o  (done_pulse),
    .fault_pulse_o (fault_pulse),
    .first_fault_o (first_fault),
    .stream_off_i  (stream_off),
    .stream_words_i(stream_words),
    .win_base_i    (windows.base[MemW-1:0]),
    .win_size_i    (windows.size[31:0]),
    .win_read_i    (windows.read[0]),
    .ar_valid_o    (fetch_arvalid),
    .ar_ready_i    (fetch_arready),
    .ar_o          (fetch_ar),
    .r_valid_i     (fetch_rvalid),
    .r_next_i      (fetch_next),
    .r_ready_o     (fetch_rready),
    .r_i           (r),
    .u_cmd_valid_o (u_valid),
    .u_cmd_ready_i (u_ready),
    .ld_cmd_o      (ld_cmd),
    .st_cmd_o      (st_cmd),
    .cv_cmd_o      (cv_cmd),
    .ve_cmd_o      (ve_cmd),
    .ve_waits_o    (ve_waits),
    .ld_i          (ld_state),
    .st_i          (st_state),
    .cv_i          (cv_state),
    .ve_i          (ve_state),
    .abort_o       (abort),
    .ecc_bad_i     (ecc_bad),
    .ecc_addr_i    (ecc_addr),
    .ecc_fixed_o   (cmd_fixed),
    .active_o      (active),
    .retire_o,
    .retired_o     (retired)
  );

  assign busy_o = busy;

  // ---- memory ------------------------------------------------------------------------

  logic                     load_arvalid, load_arready, load_rvalid, load_rready;
  weft_cfg_pkg::mem_burst_t load_ar, m_ar;
  assign m_araddr_o = m_ar.addr;
  assign m_arlen_o  = m_ar.len;

  weft_axi_read u_read (
    .clk_i,
    .rst_ni,
    .fetch_valid_i (fetch_arvalid),
    .fetch_ready_o (fetch_arready),
    .fetch_ar_i    (fetch_ar),
    .fetch_next_o  (fetch_next),
    .fetch_rvalid_o(fetch_rvalid),
    .fetch_rready_i(fetch_rready),
    .load_valid_i  (load_arvalid),
    .load_ready_o  (load_arready),
    .load_ar_i     (load_ar),
    .load_rvalid_o (load_rvalid),
    .load_rready_i (load_rready),
    .m_arvalid_o,
    .m_arready_i,
    .m_ar_o        (m_ar),
    .m_rvalid_i,
    .m_rlast_i,
    .m_rready_o
  );

  logic                     ldw_gnt, str_gnt;
  weft_cfg_pkg::sp_load_t   ldw;
  weft_cfg_pkg::sp_read_t   str;
  weft_cfg_pkg::sp_pair_t   str_rdata;
  weft_cfg_pkg::mem_burst_t m_aw;
  weft_cfg_pkg::mem_write_t m_w;
  assign m_awaddr_o = m_aw.addr;
  assign m_awlen_o  = m_aw.len;
  assign m_wdata_o  = m_w.data;
  assign m_wstrb_o  = m_w.strb;
  assign m_wlast_o  = m_w.last;

  weft_dma_load u_load (
    .clk_i       (clk_ld_i),
    .need_o      (need_ld_o),
    .rst_ni,
    .cmd_valid_i (u_valid[0]),
    .cmd_ready_o (u_ready[0]),
    .cmd_i       (ld_cmd),
    .state_o     (ld_state),
    .abort_i     (abort),
    .win_i       (windows),
    .ar_valid_o  (load_arvalid),
    .ar_ready_i  (load_arready),
    .ar_o        (load_ar),
    .r_valid_i   (load_rvalid),
    .r_ready_o   (load_rready),
    .r_i         (r),
    .ldw_o       (ldw),
    .ldw_gnt_i   (ldw_gnt),
    .bytes_o     (rd_bytes)
  );

  weft_dma_store u_store (
    .clk_i       (clk_st_i),
    .need_o      (need_st_o),
    .rst_ni,
    .cmd_valid_i (u_valid[1]),
    .cmd_ready_o (u_ready[1]),
    .cmd_i       (st_cmd),
    .state_o     (st_state),
    .abort_i     (abort),
    .win_i       (windows),
    .aw_valid_o  (m_awvalid_o),
    .aw_ready_i  (m_awready_i),
    .aw_o        (m_aw),
    .w_valid_o   (m_wvalid_o),
    .w_ready_i   (m_wready_i),
    .w_o         (m_w),
    .b_valid_i   (m_bvalid_i),
    .b_ready_o   (m_bready_o),
    .b_error_i   (m_bresp_i[1]),
    .str_o       (str),
    .str_gnt_i   (str_gnt),
    .str_rdata_i (str_rdata[8*N-1:0]),
    .bytes_o     (wr_bytes)
  );

  logic                   act_gnt, wgt_gnt, par_gnt, res_gnt, vec_gnt, parv_gnt;
  weft_cfg_pkg::sp_read_t act, wgt, par, res, vec, parv;
  /* verilator lint_off UNUSEDSIGNAL */  // for sim/rtl/profile.h
  logic                   vec_req;
  /* verilator lint_on UNUSEDSIGNAL */
  assign vec_req = vec.req;
  weft_cfg_pkg::sp_pair_t act_rdata, wgt_rdata, par_rdata, res_rdata, vec_rdata, parv_rdata;

  // Raw sums, and behind them alu's results, take the post unit's port when that has none.
  logic                    pst_req, raw_req, alu_req, out_gnt, pst_gnt, raw_gnt, alu_gnt;
  weft_cfg_pkg::sp_write_t out, pst, raw, alu;
  assign pst_req  = pst.req;
  assign raw_req  = raw.req;
  assign alu_req  = alu.req;
  assign out.req  = pst_req || raw_req || alu_req;
  assign out.addr = pst_req ? pst.addr : raw_req ? raw.addr : alu.addr;
  assign out.mask = pst_req ? pst.mask : raw_req ? raw.mask : alu.mask;
  assign out.data = pst_req ? pst.data : raw_req ? raw.data : alu.data;
  assign pst_gnt  = out_gnt && pst_req;
  assign raw_gnt  = out_gnt && !pst_req && raw_req;
  assign alu_gnt  = out_gnt && !pst_req && !raw_req;

  logic unused_wide;
  assign unused_wide = ^str_rdata[16*N-1:8*N];

  weft_sp #(
    .Ecc(Ecc)
  ) u_sp (
    .clk_i,
    .rst_ni,
    .pst_i       (out),
    .pst_gnt_o   (out_gnt),
    .ldw_i       (ldw),
    .ldw_gnt_o   (ldw_gnt),
    .act_i       (act),
    .act_gnt_o   (act_gnt),
    .act_rdata_o (act_rdata),
    .wgt_i       (wgt),
    .wgt_gnt_o   (wgt_gnt),
    .wgt_rdata_o (wgt_rdata),
    .vec_i       (vec),
    .vec_gnt_o   (vec_gnt),
    .vec_rdata_o (vec_rdata),
    .res_i       (res),
    .res_gnt_o   (res_gnt),
    .res_rdata_o (res_rdata),
    .parc_i      (par),
    .parc_gnt_o  (par_gnt),
    .parc_rdata_o(par_rdata),
    .parv_i      (parv),
    .parv_gnt_o  (parv_gnt),
    .parv_rdata_o(parv_rdata),
    .str_i       (str),
    .str_gnt_o   (str_gnt),
    .str_rdata_o (str_rdata),
    .conflicts_o (conflicts),
    .ecc_fixed_o (sp_fixed),
    .ecc_bad_o   (ecc_bad),
    .ecc_addr_o  (ecc_addr)
  );

  // ---- compute -----------------------------------------------------------------------

  logic                     c0_valid, c0_ready, c0_idle, c1_valid, c1_ready, c1_idle;
  logic [1:0]               c1_stage;
  weft_cfg_pkg::row_acc_t   c0_acc, c1_acc, c0_bias, c1_bias;
  weft_cfg_pkg::row_state_t c0_state, c1_state;
  weft_cfg_pkg::row_half_t  c0_b, c1_b;
  weft_cfg_pkg::row_mul_t   c0_mul, c1_mul;
  weft_cfg_pkg::row_shift_t c0_shift, c1_shift;
  weft_cfg_pkg::sp_addr_t   c0_addr, c1_addr;
  weft_cfg_pkg::row_mask_t  c0_mask, c1_mask;
  logic [447:0]             c0_cfg, c1_cfg;
  logic                     c0_turns;

  // Rows of a command with raw go to weft_post_raw, the others to weft_post.
  logic c0_raw, c1_raw, c0_post_ready, c1_post_ready, c0_post_idle, c1_post_idle;
  logic c0_raw_ready, c1_raw_ready, c0_raw_idle, c1_raw_idle;
  assign c0_raw   = weft_cfg_pkg::HAS_RAW && c0_cfg[weft_cmd_pkg::POST_RAW_LSB - 128];
  assign c1_raw   = weft_cfg_pkg::HAS_RAW && c1_cfg[weft_cmd_pkg::POST_RAW_LSB - 128];
  assign c0_ready = c0_raw ? c0_raw_ready : c0_post_ready;
  assign c1_ready = c1_raw ? c1_raw_ready : c1_post_ready;
  assign c0_idle  = c0_post_idle && c0_raw_idle;
  assign c1_idle  = c1_post_idle && c1_raw_idle;

  weft_conv #(.Lazy(Lazy)) u_conv (
    .clk_i       (clk_cv_i),
    .need_o      (need_cv_o),
    .rst_ni,
    .cmd_valid_i (u_valid[2]),
    .cmd_ready_o (u_ready[2]),
    .cmd_i       (cv_cmd),
    .state_o     (cv_state),
    .abort_i     (abort),
    .act_o       (act),
    .act_gnt_i   (act_gnt),
    .act_rdata_i (act_rdata),
    .wgt_o       (wgt),
    .wgt_gnt_i   (wgt_gnt),
    .wgt_rdata_i (wgt_rdata),
    .par_o       (par),
    .par_gnt_i   (par_gnt),
    .par_rdata_i (par_rdata),
    .res_o       (res),
    .res_gnt_i   (res_gnt),
    .res_rdata_i (res_rdata),
    .row_valid_o (c0_valid),
    .row_ready_i (c0_ready),
    .row_acc_o   (c0_acc),
    .row_state_o (c0_state),
    .row_b_o     (c0_b),
    .row_addr_o  (c0_addr),
    .row_mask_o  (c0_mask),
    .par_bias_o  (c0_bias),
    .par_mul_o   (c0_mul),
    .par_shift_o (c0_shift),
    .post_cfg_o  (c0_cfg),
    .post_turns_o(c0_turns),
    .post_idle_i (c0_idle),
    .stall_act_o (stall_act),
    .stall_wgt_o (stall_wgt),
    .stall_post_o(stall_post)
  );

  weft_vec u_vec (
    .clk_i       (clk_ve_i),
    .clk_alu_i   (clk_alu_i),
    .need_alu_o  (need_alu_o),
    .need_o      (need_ve_o),
    .rst_ni,
    .abort_i     (abort),
    .cmd_valid_i (u_valid[3]),
    .cmd_waits_i (ve_waits),
    .cmd_ready_o (u_ready[3]),
    .cmd_i       (ve_cmd),
    .state_o     (ve_state),
    .vec_o       (vec),
    .vec_gnt_i   (vec_gnt),
    .vec_rdata_i (vec_rdata),
    .alu_o (alu),
    .alu_gnt_i   (alu_gnt),
    .parv_o      (parv),
    .parv_gnt_i  (parv_gnt),
    .parv_rdata_i(parv_rdata),
    .post_cfg_o  (c1_cfg),
    .post_valid_o(c1_valid),
    .post_ready_i(c1_ready),
    .post_stage_o(c1_stage),
    .post_acc_o  (c1_acc),
    .post_state_o(c1_state),
    .post_b_o    (c1_b),
    .post_bias_o (c1_bias),
    .post_mul_o  (c1_mul),
    .post_shift_o(c1_shift),
    .post_addr_o (c1_addr),
    .post_mask_o (c1_mask),
    .post_idle_i (c1_idle)
  );

  weft_post u_post (
    .clk_i       (clk_post_i),
    .need_o      (need_post_o),
    .rst_ni,
    .abort_i   (abort),
    .c0_valid_i(c0_valid && !c0_raw),
    .c0_ready_o(c0_post_ready),
    .c0_stage_i(2'd0),
    .c0_acc_i  (c0_acc),
    .c0_state_i(c0_state),
    .c0_b_i    (c0_b),
    .c0_bias_i (c0_bias),
    .c0_mul_i  (c0_mul),
    .c0_shift_i(c0_shift),
    .c0_addr_i (c0_addr),
    .c0_mask_i (c0_mask),
    .c0_cfg_i  (c0_cfg),
    .c0_turns_i(c0_turns),
    .c0_idle_o (c0_post_idle),
    .c1_valid_i(c1_valid && !c1_raw),
    .c1_ready_o(c1_post_ready),
    .c1_stage_i(c1_stage),
    .c1_acc_i  (c1_acc),
    .c1_state_i(c1_state),
    .c1_b_i    (c1_b),
    .c1_bias_i (c1_bias),
    .c1_mul_i  (c1_mul),
    .c1_shift_i(c1_shift),
    .c1_addr_i (c1_addr),
    .c1_mask_i (c1_mask),
    .c1_cfg_i  (c1_cfg),
    .c1_idle_o (c1_post_idle),
    .pst_o (pst),
    .pst_gnt_i (pst_gnt)
  );

  weft_post_raw u_post_raw (
    .clk_i,
    .rst_ni,
    .abort_i   (abort),
    .c0_valid_i(c0_valid && c0_raw),
    .c0_ready_o(c0_raw_ready),
    .c0_int16_i(c0_cfg[weft_cmd_pkg::POST_MODE_LSB - 128]),
    .c0_acc_i  (c0_acc),
    .c0_bias_i (c0_bias),
    .c0_addr_i (c0_addr),
    .c0_mask_i (c0_mask),
    .c0_idle_o (c0_raw_idle),
    .c1_valid_i(c1_valid && c1_raw),
    .c1_ready_o(c1_raw_ready),
    .c1_int16_i(c1_cfg[weft_cmd_pkg::POST_MODE_LSB - 128]),
    .c1_acc_i  (c1_acc),
    .c1_bias_i (c1_bias),
    .c1_addr_i (c1_addr),
    .c1_mask_i (c1_mask),
    .c1_idle_o (c1_raw_idle),
    .wr_o (raw),
    .wr_gnt_i  (raw_gnt)
  );

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      // One of the three that share a port is served.
      assert (!(pst_gnt && raw_gnt) && !(pst_gnt && alu_gnt) && !(raw_gnt && alu_gnt));
      assert (!pst_gnt || pst_req);
      assert (!raw_gnt || raw_req);
      // A unit that has something to do asks for its clock.
      assert (!((u_valid[0] || ld_state.busy) && !need_ld_o));
      assert (!((u_valid[1] || st_state.busy) && !need_st_o));
      assert (!((u_valid[2] || cv_state.busy) && !need_cv_o));
      assert (!((u_valid[3] || ve_state.busy) && !need_ve_o));
      assert (!((pst_req || !c0_post_idle || !c1_post_idle) && !need_post_o));
    end
  end
`endif

endmodule
