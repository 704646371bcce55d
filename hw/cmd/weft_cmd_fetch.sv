// SPDX-License-Identifier: Apache-2.0
//
// Fetches the stream through window 0 and hands it out word by word. A beat is a word, several, or, at
// N = 4, half of one.
//
// start_i loads the registers; word_valid_o is up to one word a cycle (at N = 4 in two). Bursts
// of up to 8 beats are asked for as long as the 512-byte buffer has room for
// them, so the answer never waits. word_error_o marks a word that came with a
// bus error. end_o: every word was handed out. bad_window_o: with start_i, the
// stream does not lie in window 0; nothing is fetched then.
//
// While stop_i is high nothing is asked for and what comes is dropped; busy_o
// is low when nothing is outstanding.
module weft_cmd_fetch (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic start_i,
  input  logic stop_i,

  input  logic [31:0]             stream_off_i,
  input  logic [31:0]             stream_words_i,
  input  weft_cfg_pkg::mem_addr_t win_base_i,
  input  logic [31:0]             win_size_i,
  input  logic                    win_read_i,

  output logic                     ar_valid_o,  // may be withdrawn by stop_i
  input  logic                     ar_ready_i,
  output weft_cfg_pkg::mem_burst_t ar_o,
  input  logic                     r_valid_i,
  output logic                     r_ready_o,
  input  weft_cfg_pkg::mem_beat_t  r_i,

  output logic        word_valid_o,
  input  logic        word_ready_i,
  output logic [63:0] word_o,
  output logic        word_error_o,
  output logic        end_o,
  output logic        bad_window_o,
  output logic        busy_o
);

  localparam int unsigned N         = weft_cfg_pkg::N;
  localparam int unsigned MemW      = weft_cfg_pkg::DRAM_ADDR_BITS;
  localparam int unsigned Log2N     = weft_cfg_pkg::LOG2_N;
  localparam int unsigned Log2Words = Log2N < 3 ? 0 : Log2N - 3;   // words of a beat
  localparam int unsigned Log2Beats = Log2N < 3 ? 3 - Log2N : 0;   // beats of a word
  localparam int unsigned Depth     = 512 / N;     // beats
  localparam int unsigned CountBits = $clog2(Depth) + 1;
  localparam int unsigned BeatBits  = 33 - Log2Words + Log2Beats;

  localparam logic [31:0]  Round    = N < 8 ? 0 : N/8 - 1;

  // ---- is the stream inside window 0? -----------------------------------------
  logic [35:0] stream_end;
  always_comb begin
    stream_end = '0;
    bad_window_o = 1'b0;
    if (start_i) begin
      stream_end = {4'd0, stream_off_i} + {1'b0, stream_words_i, 3'd0};
      bad_window_o = !win_read_i || stream_end > {4'd0, win_size_i} || stream_off_i[5:0] != '0;
    end
  end

  // ---- addresses ---------------------------------------------------------------
  logic [MemW-Log2N-1:0] beat_addr_q;   // next beat to ask for
  logic [BeatBits-1:0]  beats_q;       // beats still to ask for
  logic [CountBits-1:0] room_q;        // free places that no burst has claimed
  logic [3:0]           outstanding_q; // bursts

  logic [3:0] chunk, beats;
  assign chunk      = 4'd8 - {1'b0, beat_addr_q[2:0]};
  assign beats      = beats_q < BeatBits'(chunk) ? beats_q[3:0] : chunk;
  assign ar_valid_o = beats_q != '0 && room_q >= CountBits'(beats) && !outstanding_q[3] && !stop_i;
  assign ar_o.addr  = {beat_addr_q, Log2N'(0)};
  assign ar_o.len   = 8'(beats) - 8'd1;

  logic ar_done, r_done, beat_pop;
  assign ar_done   = ar_valid_o && ar_ready_i;
  assign r_done    = r_valid_i && r_i.last;
  assign r_ready_o = 1'b1;

  /* verilator lint_off UNUSEDSIGNAL */  // both are multiples of 64
  weft_cfg_pkg::mem_addr_t stream_addr;
  /* verilator lint_on UNUSEDSIGNAL */
  assign stream_addr = win_base_i + MemW'(stream_off_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      beats_q       <= '0;
      room_q        <= CountBits'(Depth);
      outstanding_q <= '0;
    end else begin
      if (ar_done && !r_done) outstanding_q <= outstanding_q + 4'd1;
      if (!ar_done && r_done) outstanding_q <= outstanding_q - 4'd1;
      if (stop_i) begin
        beats_q <= '0;
        room_q  <= CountBits'(Depth);
      end else if (start_i) begin
        beats_q <= bad_window_o ? '0 : BeatBits'(({1'b0, stream_words_i} + {1'b0, Round}) >> Log2Words) << Log2Beats;
      end else begin
        room_q <= room_q - (ar_done ? CountBits'(beats) : '0) + CountBits'(beat_pop);
        if (ar_done) beats_q <= beats_q - BeatBits'(beats);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) beat_addr_q <= stream_addr[MemW-1:Log2N];
    else if (ar_done) beat_addr_q <= beat_addr_q + (MemW-Log2N)'(beats);
  end

  // ---- words -------------------------------------------------------------------------
  logic                   beat_valid, beat_error, beat_wready;
  weft_cfg_pkg::sp_word_t beat_data;

  /* verilator lint_off PINCONNECTEMPTY */  // count_o
  weft_fifo #(
    .Width(8*N + 1),
    .Depth(Depth)
  ) u_beats (
    .clk_i,
    .rst_ni,
    .clr_i   (stop_i),
    .wvalid_i(r_valid_i),
    .wready_o(beat_wready),
    .wdata_i ({r_i.error, r_i.data}),
    .rvalid_o(beat_valid),
    .rready_i(beat_pop),
    .rdata_o ({beat_error, beat_data}),
    .count_o ()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  logic [31:0] words_q;                // still to hand out
  logic        take, beat_end;
  logic        part;                   // the beat is a part of a word, not its last
  assign word_valid_o = beat_valid && words_q != '0 && !part;
  assign end_o        = words_q == '0;
  assign take         = word_valid_o && word_ready_i;
  assign beat_pop     = (take && (beat_end || words_q == 32'd1)) || (beat_valid && part);
  assign busy_o       = outstanding_q != '0;

  if (Log2Beats != 0) begin : g_parts
    // The word's beats before its last.
    localparam int unsigned Parts = (1 << Log2Beats) - 1;
    logic [Log2Beats-1:0]   index_q;
    logic [8*N*Parts-1:0]   parts_q;
    logic                   error_q;   // one of them came with an error
    assign part         = index_q != '1;
    assign word_o       = {beat_data, parts_q};
    assign word_error_o = beat_error || error_q;
    assign beat_end     = 1'b1;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) index_q <= '0;
      else if (stop_i || start_i) index_q <= '0;
      else if (beat_pop) index_q <= index_q + 1'b1;
    end

    always_ff @(posedge clk_i) begin
      if (beat_pop && part) begin
        parts_q[8*N*index_q +: 8*N] <= beat_data;
        error_q                     <= beat_error || (index_q != '0 && error_q);
      end
    end
  end else if (Log2Words == 0) begin : g_one
    assign part         = 1'b0;
    assign word_o       = beat_data;
    assign word_error_o = beat_error;
    assign beat_end     = 1'b1;
  end else begin : g_many
    logic [Log2Words-1:0] index_q;
    assign part         = 1'b0;
    assign word_o       = beat_data[64*index_q +: 64];
    assign word_error_o = beat_error;
    assign beat_end     = index_q == '1;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) index_q <= '0;
      else if (stop_i || start_i) index_q <= '0;
      else if (take) index_q <= index_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) words_q <= '0;
    else if (stop_i) words_q <= '0;
    else if (start_i) words_q <= bad_window_o ? '0 : stream_words_i;
    else if (take) words_q <= words_q - 32'd1;
  end

`ifdef WEFT_ASSERT
  // Of window 0, as start_i found it; a stream that did not lie in it is not fetched.
  weft_cfg_pkg::mem_addr_t first_q, end_q;
  logic                    known_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) known_q <= 1'b0;
    else if (start_i) begin
      known_q <= !bad_window_o;
      first_q <= stream_addr;
      end_q   <= win_base_i + MemW'(win_size_i);
    end
    if (rst_ni) begin
      if (r_valid_i && !stop_i) assert (beat_wready);
      if (ar_valid_o) begin
        assert (!stop_i && known_q);
        assert (ar_o.len < 8'd8 && ar_o.addr >= first_q);
        // The last beat holds a word of the stream; the window may end inside of it.
        assert (ar_o.addr + (MemW'(ar_o.len) << Log2N) < end_q);
      end
      if (stop_i) assert (!ar_valid_o);
      if (start_i) assert (words_q == '0 || stop_i || !word_valid_o);
    end
  end
`else
  logic unused_ready;
  assign unused_ready = beat_wready;
`endif

endmodule
