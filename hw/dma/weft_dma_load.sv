// SPDX-License-Identifier: Apache-2.0
//
// Load DMA: memory to scratchpad.
//
// Takes the next command while data of earlier ones is under way; up to 64
// bursts are outstanding. Read addresses are aligned to the bus; one burst
// address a cycle, the first three cycles after the command is taken. Each beat
// is one scratchpad write at any byte address, or two where it widens more than
// N int4. A coded row goes through weft_dma_decode, which makes up to two whole
// words a cycle of its beats. state_o.done comes in the cycle after
// the command's last write was granted, in order of commands.
//
// A fault comes in order too: every earlier command has retired, the faulty
// one has written what precedes the faulty row or burst. While abort_i is
// high nothing is written and no new address leaves; state_o.busy stays high until
// all beats of accepted addresses have come back.
//
// Theory: hw/dma/README.md
module weft_dma_load (
  input  logic clk_i,
  input  logic rst_ni,
  output logic need_o,     // clk_i's next edge is needed; comes from registers

  input  logic                      cmd_valid_i,
  output logic                      cmd_ready_o,
  input  weft_cmd_pkg::move_t       cmd_i,
  output weft_cfg_pkg::unit_state_t state_o,
  input  logic                      abort_i,

  input  weft_cfg_pkg::windows_t win_i,

  // AXI read, through weft_axi_read: valid may be withdrawn.
  output logic                     ar_valid_o,
  input  logic                     ar_ready_i,
  output weft_cfg_pkg::mem_burst_t ar_o,
  input  logic                     r_valid_i,
  output logic                     r_ready_o,
  input  weft_cfg_pkg::mem_beat_t  r_i,

  output weft_cfg_pkg::sp_load_t ldw_o,
  input  logic                    ldw_gnt_i,

  output logic [weft_cfg_pkg::LOG2_N:0] bytes_o        // of memory, whose beat was taken up in this cycle
);

  localparam int unsigned N           = weft_cfg_pkg::N;
  localparam int unsigned AddrW       = weft_cfg_pkg::SP_ADDR_BITS;
  localparam int unsigned MemW        = weft_cfg_pkg::DRAM_ADDR_BITS;
  localparam int unsigned Log2N       = weft_cfg_pkg::LOG2_N;
  localparam int unsigned BytesBits   = Log2N + 5;  // of a burst
  localparam int unsigned Outstanding = 64;

  // ---- stop: from a fault on, and during abort -------------------------------

  logic dead_q, stop;
  logic [$clog2(Outstanding):0] pending_q;  // bursts accepted, last beat not yet back
  assign stop = dead_q || abort_i;

  // ---- rows and bursts -----------------------------------------------------------

  logic                   row_valid, row_ready, rows_busy;
  weft_cfg_pkg::dma_row_t row;

  weft_dma_rows u_rows (
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
  weft_cfg_pkg::dma_burst_t burst;
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

  // ---- address out, and what to do with the data ------------------------------------

  localparam int unsigned CodedBits = weft_cfg_pkg::HAS_CODED ? 9 + AddrW - Log2N : 0;   // of an entry
  localparam int unsigned OrderBits = 32 + AddrW + BytesBits + 4 + CodedBits;
  logic                   order_wready, order_valid, order_pop;
  logic [OrderBits-1:0]   order_in, order_out;

  assign ar_valid_o  = burst_valid && !burst.fault && order_wready && !stop;
  assign ar_o.addr   = {burst.addr[MemW-1:Log2N], Log2N'(0)};
  assign ar_o.len    = burst.len;
  assign burst_ready = order_wready && (burst.fault || ar_ready_i);
  assign order_in    = OrderBits'({burst.centre, burst.words, burst.coded, burst.addr[31:0], burst.sp, burst.bytes, burst.int4, burst.odd,
                                   burst.last, burst.fault});

  /* verilator lint_off PINCONNECTEMPTY */  // count_o
  weft_fifo #(
    .Width(OrderBits),
    .Depth(Outstanding)
  ) u_order (
    .clk_i,
    .rst_ni,
    .clr_i   (stop),
    .wvalid_i(burst_valid && (burst.fault || ar_ready_i)),
    .wready_o(order_wready),
    .wdata_i (order_in),
    .rvalid_o(order_valid),
    .rready_i(order_pop),
    .rdata_o (order_out),
    .count_o ()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  logic r_done;
  assign r_done = r_valid_i && r_ready_o && r_i.last;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) pending_q <= '0;
    else if (ar_valid_o && ar_ready_i && !r_done) pending_q <= pending_q + 1'b1;
    else if (!(ar_valid_o && ar_ready_i) && r_done) pending_q <= pending_q - 1'b1;
  end

  // ---- data in -----------------------------------------------------------------------

  logic                   beat_wready, beat_valid, beat_pop, beat_error;
  weft_cfg_pkg::sp_word_t beat_data;
  assign r_ready_o = beat_wready || stop;

  /* verilator lint_off PINCONNECTEMPTY */  // count_o
  weft_fifo #(
    .Width(8*N + 1),
    .Depth(4)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .clr_i   (stop),
    .wvalid_i(r_valid_i),
    .wready_o(beat_wready),
    .wdata_i ({r_i.error, r_i.data}),
    .rvalid_o(beat_valid),
    .rready_i(beat_pop),
    .rdata_o ({beat_error, beat_data}),
    .count_o ()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  // The burst at the head; its first beat takes the fields from the FIFO.
  logic [31:0]            head_addr;
  weft_cfg_pkg::sp_addr_t head_sp;
  logic [BytesBits-1:0]   head_bytes;
  logic                   head_int4, head_odd, head_last, head_fault;
  logic                   head_coded;
  logic [AddrW-Log2N-1:0] head_words;
  logic [7:0]             head_centre;
  assign {head_addr, head_sp, head_bytes, head_int4, head_odd, head_last, head_fault} = order_out[OrderBits-CodedBits-1:0];

  logic                   inside_q;  // first beat of the burst was taken
  weft_cfg_pkg::sp_addr_t sp_q;
  logic [BytesBits-1:0]   left_q;

  logic [Log2N-1:0]       skip;      // bytes of the beat before the wanted ones
  weft_cfg_pkg::sp_addr_t sp;
  logic [BytesBits-1:0]   left;
  logic [Log2N:0]         room, n_bytes;
  logic                   final_beat, int4;
  logic [Log2N+1:0]       n_elems;   // bytes in the scratchpad that the beat becomes
  logic                   second_q;  // the first N of them are written
  logic                   twice;     // there are more
  logic [Log2N:0]         n_write;
  assign int4       = weft_cfg_pkg::HAS_INT4 && head_int4;
  assign skip       = inside_q ? '0 : head_addr[Log2N-1:0];
  assign sp         = inside_q ? sp_q : head_sp;
  assign left       = inside_q ? left_q : head_bytes;
  assign room       = {1'b1, Log2N'(0)} - {1'b0, skip};
  assign final_beat = left <= BytesBits'(room);
  assign n_bytes    = final_beat ? left[Log2N:0] : room;
  assign n_elems    = int4 ? {n_bytes, 1'b0} - (Log2N+2)'(final_beat && head_odd) : {1'b0, n_bytes};
  assign twice      = n_elems > (Log2N+2)'(N) && !second_q;
  assign n_write    = twice ? (Log2N+1)'(N) : second_q ? (Log2N+1)'(n_elems - (Log2N+2)'(N)) : n_elems[Log2N:0];

  // The beat at the head is one that can be written as it is; or the decoder takes it.
  logic write_q, write_last_q, fault_now, write_free, beat_good, beat_go, write_go;
  assign write_free = !write_q || ldw_gnt_i;
  assign beat_good  = order_valid && beat_valid && !head_fault && !beat_error;
  assign beat_go    = beat_good && !head_coded && !decoding && write_free;
  assign write_go   = beat_go || decoded;
  assign beat_pop   = (beat_go && !twice) || decode_take;
  assign order_pop  = beat_pop && final_beat;
  assign fault_now  = order_valid && (head_fault || (beat_valid && beat_error)) && !write_q && !earlier && !able && !stop;

  // ---- coded rows: the only ones of their commands ---------------------------------

  logic                   decoding, earlier, able;      // a row is decoded; all its beats have come; it has words to write
  logic                   decode_start, decode_take;    // its first beat is there; it takes the beat
  logic                   decoded, both, decoded_last;  // words are written, two of them, the last ones
  weft_cfg_pkg::sp_pair_t words;

  if (weft_cfg_pkg::HAS_CODED) begin : g_decode
    logic decode_ready, words_valid;
    assign {head_centre, head_words, head_coded} = order_out[OrderBits-1 -: CodedBits];
    assign decode_start = beat_good && head_coded && !decoding && !stop;
    assign decode_take  = beat_good && head_coded && !earlier && decode_ready;
    assign decoded      = words_valid && write_free;

    weft_dma_decode u_decode (
      .clk_i,
      .rst_ni,
      .clear_i    (stop),
      .start_i    (decode_start),
      .words_i    (head_words),
      .centre_i   (head_centre),
      .busy_o     (decoding),
      .able_o     (able),
      .whole_o    (earlier),
      .in_valid_i (beat_good && head_coded && !earlier),
      .in_ready_o (decode_ready),
      .in_last_i  (final_beat && head_last),
      .in_data_i  (beat_data),
      .out_valid_o(words_valid),
      .out_ready_i(write_free),
      .out_both_o (both),
      .out_last_o (decoded_last),
      .out_data_o (words)
    );
  end else begin : g_plain
    assign {head_centre, head_words, head_coded} = '0;
    assign {decoding, earlier, able, decode_start, decode_take, decoded, both, decoded_last} = '0;
    assign words = '0;
    logic unused_coded;
    assign unused_coded = ^{head_centre, head_words, burst.centre, burst.words, burst.coded};
  end

  // Lanes that no wanted byte comes to are masked.
  weft_cfg_pkg::sp_word_t shifted;
  weft_rotate #(
    .Bytes(N)
  ) u_shift (
    .data_i(beat_data),
    .by_i  (skip),
    .data_o(shifted)
  );

  // The half of the beat whose int4 are written, widened.
  logic [4*N-1:0]         half;
  weft_cfg_pkg::sp_word_t wide;
  assign half = second_q ? shifted[8*N-1:4*N] : shifted[4*N-1:0];
  always_comb begin
    wide = shifted;
    if (int4) begin
      for (int unsigned i = 0; i < N; i++) wide[8*i +: 8] = {{4{half[4*i + 3]}}, half[4*i +: 4]};
    end
  end

  logic                    done_q, fault_q, busy, ldw_req, ldw_both_q;
  logic [7:0]              fault_code_q;
  logic [31:0]             fault_info_q;
  weft_cfg_pkg::sp_addr_t  ldw_addr_q;
  weft_cfg_pkg::sp_addr_t  words_sp_q;   // of the next decoded word
  weft_cfg_pkg::sp_word_t  ldw_data_q, ldw_next_q;
  weft_cfg_pkg::row_mask_t ldw_mask_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inside_q <= 1'b0;
      second_q <= 1'b0;
      write_q  <= 1'b0;
      dead_q   <= 1'b0;
      done_q   <= 1'b0;
      fault_q  <= 1'b0;
    end else begin
      done_q  <= write_q && ldw_gnt_i && write_last_q && !stop;
      fault_q <= fault_now;
      if (stop) begin
        inside_q <= 1'b0;
        second_q <= 1'b0;
        write_q  <= 1'b0;
        if (abort_i && !busy) dead_q <= 1'b0;
      end else begin
        if (fault_now) dead_q <= 1'b1;
        if (ldw_gnt_i) write_q <= 1'b0;
        if (write_go) begin
          write_q  <= 1'b1;
          second_q <= beat_go && twice;
        end
        if (beat_pop) inside_q <= !final_beat;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (beat_pop) begin
      sp_q          <= sp + AddrW'(n_elems);
      left_q        <= left - BytesBits'(n_bytes);
    end
    if (decode_start) words_sp_q <= head_sp;
    else if (decoded) words_sp_q <= words_sp_q + AddrW'(2*N);
    if (decoded) begin
      ldw_addr_q    <= words_sp_q;
      ldw_data_q    <= words[8*N-1:0];
      ldw_mask_q    <= '1;
      write_last_q  <= decoded_last;
    end else if (write_go) begin
      ldw_addr_q    <= sp + (second_q ? AddrW'(N) : '0);
      ldw_data_q    <= wide;
      ldw_mask_q    <= N'((33'd1 << n_write) - 33'd1);
      write_last_q  <= final_beat && head_last && !twice;
    end
    if (write_go) begin
      ldw_both_q <= decoded && both;
      ldw_next_q <= words[16*N-1:8*N];
    end
    if (fault_now) begin
      fault_code_q <= head_fault ? row_fault_code : weft_cmd_pkg::FAULT_BUS;
      fault_info_q <= head_fault ? row_fault_info : head_addr;
    end
  end

  assign ldw_req       = write_q && !stop;
  assign ldw_o.req     = ldw_req;
  assign ldw_o.both    = weft_cfg_pkg::HAS_CODED && ldw_both_q;
  assign ldw_o.next    = weft_cfg_pkg::HAS_CODED ? ldw_next_q : '0;
  assign ldw_o.addr    = ldw_addr_q;
  assign ldw_o.mask    = ldw_mask_q;
  assign ldw_o.data    = ldw_data_q;
  assign bytes_o       = beat_pop && !stop ? n_bytes : '0;
  assign busy          = rows_busy || split_busy || order_valid || beat_valid || decoding || write_q || pending_q != '0;
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
      assert (32'(pending_q) <= Outstanding);
      if (ar_valid_o) assert (ar_o.addr[Log2N-1:0] == '0 && ar_o.len < 8'd16 && !burst.fault);
      if (abort_i) assert (!ar_valid_o && !ldw_req);
      if (pending_q != '0) assert (busy);
      if (ldw_req && ldw_o.both) assert (ldw_mask_q == '1 && ldw_addr_q[Log2N-1:0] == '0);
      if (ldw_req) assert (ldw_mask_q[0] && (ldw_mask_q & (ldw_mask_q + N'(1))) == '0);   // the first bytes, one at least
      if (r_valid_i) assert (pending_q != '0);
    end
  end
`endif

endmodule
