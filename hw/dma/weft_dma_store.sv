// SPDX-License-Identifier: Apache-2.0
//
// Store DMA: scratchpad to memory.
//
// Takes the next command while answers to earlier ones are outstanding; up to
// 16 bursts have their address out before their data, up to 64 wait for the
// answer. Addresses are aligned to the bus, bytes outside the row are masked.
// A beat is one scratchpad read at any byte address. Data never leaves before
// its address was taken. state_o.done comes in the cycle after the last answer to
// the command, in order of commands.
//
// A fault comes in order too. While abort_i is high no new burst starts; those
// whose address left are finished with their data, and state_o.busy stays high until
// all are answered.
//
// Theory: hw/dma/README.md
module weft_dma_store (
  input  logic clk_i,
  input  logic rst_ni,
  output logic need_o,     // clk_i's next edge is needed; comes from registers

  input  logic                      cmd_valid_i,
  output logic                      cmd_ready_o,
  input  weft_cmd_pkg::move_t       cmd_i,
  output weft_cfg_pkg::unit_state_t state_o,
  input  logic                      abort_i,

  input  weft_cfg_pkg::windows_t win_i,

  // AXI write
  output logic                     aw_valid_o,
  input  logic                     aw_ready_i,
  output weft_cfg_pkg::mem_burst_t aw_o,
  output logic                     w_valid_o,
  input  logic                     w_ready_i,
  output weft_cfg_pkg::mem_write_t w_o,
  input  logic                     b_valid_i,
  output logic                     b_ready_o,
  input  logic                     b_error_i,

  output weft_cfg_pkg::sp_read_t str_o,
  input  logic                   str_gnt_i,
  input  weft_cfg_pkg::sp_word_t str_rdata_i,

  output logic [weft_cfg_pkg::LOG2_N:0] bytes_o        // read this cycle
);

  localparam int unsigned N           = weft_cfg_pkg::N;
  localparam int unsigned AddrW       = weft_cfg_pkg::SP_ADDR_BITS;
  localparam int unsigned MemW        = weft_cfg_pkg::DRAM_ADDR_BITS;
  localparam int unsigned Log2N       = weft_cfg_pkg::LOG2_N;
  localparam int unsigned BytesBits   = Log2N + 5;  // of a burst
  localparam int unsigned Outstanding = 64;
  localparam int unsigned Ahead       = 16;
  localparam int unsigned OutDepth    = 4;

  logic dead_q, stop;
  assign stop = dead_q || abort_i;

  // ---- rows and bursts -----------------------------------------------------------

  logic                   row_valid, row_ready, rows_busy;
  weft_cfg_pkg::dma_row_t row;

  weft_dma_rows #(
    .Store(1'b1)
  ) u_rows (
    .clk_i,
    .rst_ni,
    .clear_i    (stop),
    .cmd_valid_i,
    .cmd_ready_o,
    .cmd_i,
    .win_i,
    .row_valid_o(row_valid),
    .row_ready_i(row_ready),
    .row_o      (row),
    .busy_o     (rows_busy)
  );

  logic                     burst_valid, burst_ready, split_busy;
  /* verilator lint_off UNUSEDSIGNAL */  // int4 is for load only
  weft_cfg_pkg::dma_burst_t burst;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [7:0]               row_fault_code;
  logic [31:0]              row_fault_info;

  weft_dma_split u_split (
    .clk_i,
    .rst_ni,
    .clear_i      (stop),
    .row_valid_i  (row_valid),
    .row_ready_o  (row_ready),
    .row_i        (row),
    .burst_valid_o(burst_valid),
    .burst_ready_i(burst_ready),
    .burst_o      (burst),
    .fault_code_o (row_fault_code),
    .fault_info_o (row_fault_info),
    .busy_o       (split_busy)
  );

  // ---- address out --------------------------------------------------------------------
  // A burst is committed when it enters the address FIFO: from then on it will
  // be finished. It leaves an entry for its data and one for its answer.

  logic addr_wready, data_wready, reply_wready, commit, mark;
  assign commit      = burst_valid && !burst.fault && addr_wready && data_wready && reply_wready && !stop;
  assign mark        = burst_valid && burst.fault && reply_wready && !stop;
  assign burst_ready = commit || mark;

  /* verilator lint_off PINCONNECTEMPTY */  // count_o
  weft_fifo #(
    .Width(MemW + 8),
    .Depth(2)
  ) u_addr (
    .clk_i,
    .rst_ni,
    .clr_i   (1'b0),
    .wvalid_i(commit),
    .wready_o(addr_wready),
    .wdata_i ({burst.addr[MemW-1:Log2N], Log2N'(0), burst.len}),
    .rvalid_o(aw_valid_o),
    .rready_i(aw_ready_i),
    .rdata_o (aw_o),
    .count_o ()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  // ---- scratchpad to data channel ---------------------------------------------------------

  logic                   data_valid, data_pop;
  weft_cfg_pkg::sp_addr_t head_sp;
  logic [BytesBits-1:0]   head_bytes;
  logic [Log2N-1:0]       head_skip;

  /* verilator lint_off PINCONNECTEMPTY */  // count_o
  weft_fifo #(
    .Width(AddrW + BytesBits + Log2N),
    .Depth(Ahead)
  ) u_data (
    .clk_i,
    .rst_ni,
    .clr_i   (1'b0),
    .wvalid_i(commit),
    .wready_o(data_wready),
    .wdata_i ({burst.sp, burst.bytes, burst.addr[Log2N-1:0]}),
    .rvalid_o(data_valid),
    .rready_i(data_pop),
    .rdata_o ({head_sp, head_bytes, head_skip}),
    .count_o ()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  logic                   inside_q;  // first beat of the burst was read
  weft_cfg_pkg::sp_addr_t sp_q;
  logic [BytesBits-1:0]   left_q;

  logic [Log2N-1:0]       skip;  // lanes of the beat before the row's bytes
  weft_cfg_pkg::sp_addr_t sp;
  logic [BytesBits-1:0]   left;
  logic [Log2N:0]         room, n_bytes;
  logic                   final_beat, read;
  assign skip       = inside_q ? '0 : head_skip;
  assign sp         = inside_q ? sp_q : head_sp;
  assign left       = inside_q ? left_q : head_bytes;
  assign room       = {1'b1, Log2N'(0)} - {1'b0, skip};
  assign final_beat = left <= BytesBits'(room);
  assign n_bytes    = final_beat ? left[Log2N:0] : room;

  logic                    got_q;  // the scratchpad's data is there
  logic [$clog2(OutDepth):0] out_count;
  logic                    str_req;
  assign str_req    = data_valid && 32'(out_count) + 32'(got_q) < OutDepth;
  assign str_o.req  = str_req;
  assign str_o.wide = 1'b0;
  assign str_o.addr = sp;
  assign read       = str_req && str_gnt_i;
  assign data_pop   = read && final_beat;
  assign bytes_o    = read ? n_bytes : '0;

  logic [Log2N-1:0]        got_skip_q;
  weft_cfg_pkg::row_mask_t got_strb_q;
  logic                    got_last_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      got_q    <= 1'b0;
    end else begin
      got_q <= read;
      if (read) inside_q <= !final_beat;
    end
  end

  always_ff @(posedge clk_i) begin
    if (read) begin
      sp_q       <= sp + AddrW'(n_bytes);
      left_q     <= left - BytesBits'(n_bytes);
      got_skip_q <= skip;
      got_strb_q <= N'((33'd1 << n_bytes) - 33'd1) << skip;
      got_last_q <= final_beat;
    end
  end

  // Lanes that no wanted byte comes to are masked.
  weft_cfg_pkg::sp_word_t shifted;
  weft_rotate #(
    .Bytes(N)
  ) u_shift (
    .data_i(str_rdata_i),
    .by_i  (-got_skip_q),
    .data_o(shifted)
  );

  logic out_wready, out_valid;
  weft_fifo #(
    .Width(9*N + 1),
    .Depth(OutDepth)
  ) u_out (
    .clk_i,
    .rst_ni,
    .clr_i   (1'b0),
    .wvalid_i(got_q),
    .wready_o(out_wready),
    .wdata_i ({got_last_q, got_strb_q, shifted}),
    .rvalid_o(out_valid),
    .rready_i(w_valid_o && w_ready_i),
    .rdata_o (w_o),
    .count_o (out_count)
  );

  // Bursts whose address was taken and whose last beat was not.
  logic [$clog2(Outstanding):0] taken_q;
  logic aw_done, w_done;
  assign aw_done   = aw_valid_o && aw_ready_i;
  assign w_done    = w_valid_o && w_ready_i && w_o.last;
  assign w_valid_o = out_valid && taken_q != '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) taken_q <= '0;
    else if (aw_done && !w_done) taken_q <= taken_q + 1'b1;
    else if (!aw_done && w_done) taken_q <= taken_q - 1'b1;
  end

  // ---- answers ------------------------------------------------------------------------------

  logic        reply_valid, reply_last, reply_fault, fault_now;
  logic [31:0] reply_addr;

  /* verilator lint_off PINCONNECTEMPTY */  // count_o
  weft_fifo #(
    .Width(34),
    .Depth(Outstanding)
  ) u_reply (
    .clk_i,
    .rst_ni,
    .clr_i   (1'b0),
    .wvalid_i(commit || mark),
    .wready_o(reply_wready),
    .wdata_i ({burst.addr[31:0], burst.last, burst.fault}),
    .rvalid_o(reply_valid),
    .rready_i(reply_fault || b_valid_i),
    .rdata_o ({reply_addr, reply_last, reply_fault}),
    .count_o ()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  logic        done_q, fault_q, busy;
  logic [7:0]  fault_code_q;
  logic [31:0] fault_info_q;
  assign b_ready_o = reply_valid && !reply_fault;
  assign fault_now = reply_valid && (reply_fault || (b_valid_i && b_error_i)) && !stop;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      done_q  <= 1'b0;
      fault_q <= 1'b0;
      dead_q  <= 1'b0;
    end else begin
      done_q  <= b_valid_i && b_ready_o && !b_error_i && reply_last && !stop;
      fault_q <= fault_now;
      if (fault_now) dead_q <= 1'b1;
      else if (abort_i && !busy) dead_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (fault_now) begin
      fault_code_q <= reply_fault ? row_fault_code : weft_cmd_pkg::FAULT_BUS;
      fault_info_q <= reply_fault ? row_fault_info : reply_addr;
    end
  end

  assign busy          = rows_busy || split_busy || reply_valid;
  assign state_o.busy  = busy;
  assign state_o.done  = done_q;
  assign state_o.fault = fault_q;
  assign state_o.code  = fault_code_q;
  assign state_o.info  = fault_info_q;

  weft_rest u_rest (
    .clk_i,
    .rst_ni,
    .busy_i(cmd_valid_i || busy || stop),
    .need_o
  );

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (!(done_q && fault_q));
      if (got_q) assert (out_wready);
      assert (32'(taken_q) <= Outstanding);
      if (aw_valid_o) assert (aw_o.addr[Log2N-1:0] == '0 && aw_o.len < 8'd16);
      if (w_valid_o) assert (taken_q != '0 && w_o.strb != '0);   // never before its address
      if (abort_i) assert (!commit && !mark);
      if (aw_valid_o || w_valid_o || data_valid) assert (busy);  // what has begun is answered first
    end
  end
`else
  logic unused_ready;
  assign unused_ready = out_wready;
`endif

endmodule
