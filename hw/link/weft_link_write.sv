// SPDX-License-Identifier: Apache-2.0
//
// Bytes of a WRITE to card memory: packed into bus words, sent as bursts of up
// to 16 that end at multiples of 16 words, so none crosses 4 KiB.
//
// A burst is started when all of it is here, so its data never waits for the
// host. busy_o falls when the last burst has been acknowledged; start_i only
// while it is low. error_o: a burst of this WRITE was answered with an error.
module weft_link_write #(
  parameter int unsigned Bytes = 16   // of a bus word
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               start_i,
  input  logic [31:0]        addr_i,
  input  logic [20:0]        len_i,
  input  logic               valid_i,
  output logic               ready_o,
  input  logic [7:0]         data_i,
  output logic               busy_o,
  output logic               error_o,

  output logic               m_awvalid_o,
  input  logic               m_awready_i,
  output logic [31:0]        m_awaddr_o,
  output logic [7:0]         m_awlen_o,
  output logic               m_wvalid_o,
  input  logic               m_wready_i,
  output logic [8*Bytes-1:0] m_wdata_o,
  output logic [Bytes-1:0]   m_wstrb_o,
  input  logic               m_bvalid_i,
  input  logic               m_berror_i
);

  localparam int unsigned Log2   = $clog2(Bytes);
  localparam int unsigned WordsW = 32 - Log2;

  // ---- bytes into words ----

  logic [31:0]        addr_q;
  logic [20:0]        left_q;
  logic [8*Bytes-1:0] data_q, data;
  logic [Bytes-1:0]   strb_q, strb;
  logic [3:0]         n_words_q;      // of the burst so far
  logic               take, last, full_word, end_burst;
  logic               word_ready, burst_ready;

  assign last      = left_q == 21'd1;
  assign full_word = addr_q[Log2-1:0] == '1 || last;
  assign end_burst = full_word && (addr_q[Log2+:4] == '1 || last);
  assign ready_o   = left_q != '0 && (!full_word || word_ready) && (!end_burst || burst_ready);
  assign take      = valid_i && ready_o;
  always_comb begin
    data = data_q;
    strb = strb_q;
    data[8*addr_q[Log2-1:0]+:8] = data_i;
    strb[addr_q[Log2-1:0]]      = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      addr_q    <= '0;
      left_q    <= '0;
      data_q    <= '0;
      strb_q    <= '0;
      n_words_q <= '0;
    end else if (start_i) begin
      addr_q    <= addr_i;
      left_q    <= len_i;
      strb_q    <= '0;
      n_words_q <= '0;
    end else if (take) begin
      addr_q <= addr_q + 32'd1;
      left_q <= left_q - 21'd1;
      data_q <= data;
      strb_q <= full_word ? '0 : strb;
      if (full_word) n_words_q <= end_burst ? '0 : n_words_q + 4'd1;
    end
  end

  // ---- words and bursts that wait ----

  logic              word_valid, burst_valid, word_pop, burst_pop;
  logic [3:0]        burst_len;
  logic [WordsW-1:0] burst_word;
  /* verilator lint_off PINCONNECTEMPTY */  // count_o
  weft_fifo #(
    .Width(9 * Bytes),
    .Depth(32)
  ) u_word (
    .clk_i,
    .rst_ni,
    .clr_i   (1'b0),
    .wvalid_i(take && full_word),
    .wready_o(word_ready),
    .wdata_i ({strb, data}),
    .rvalid_o(word_valid),
    .rready_i(word_pop),
    .rdata_o ({m_wstrb_o, m_wdata_o}),
    .count_o ()
  );
  weft_fifo #(
    .Width(WordsW + 4),
    .Depth(4)
  ) u_burst (
    .clk_i,
    .rst_ni,
    .clr_i   (1'b0),
    .wvalid_i(take && end_burst),
    .wready_o(burst_ready),
    .wdata_i ({addr_q[31:Log2] - WordsW'(n_words_q), n_words_q}),
    .rvalid_o(burst_valid),
    .rready_i(burst_pop),
    .rdata_o ({burst_word, burst_len}),
    .count_o ()
  );
  /* verilator lint_on PINCONNECTEMPTY */

  // ---- bursts to memory ----

  logic       sending_q, error_q;
  logic [3:0] beats_q;
  logic [2:0] answers_q;    // that are to come
  assign m_awvalid_o = burst_valid && !sending_q && answers_q != '1;
  assign m_awaddr_o  = {burst_word, Log2'(0)};
  assign m_awlen_o   = {4'd0, burst_len};
  assign burst_pop   = m_awvalid_o && m_awready_i;
  assign m_wvalid_o  = sending_q && word_valid;
  assign word_pop    = m_wvalid_o && m_wready_i;
  assign busy_o      = left_q != '0 || burst_valid || sending_q || answers_q != '0;
  assign error_o     = error_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sending_q <= 1'b0;
      error_q   <= 1'b0;
      beats_q   <= '0;
      answers_q <= '0;
    end else begin
      answers_q <= answers_q + 3'(burst_pop) - 3'(m_bvalid_i);
      if (start_i) error_q <= 1'b0;
      else if (m_bvalid_i && m_berror_i) error_q <= 1'b1;
      if (burst_pop) begin
        sending_q <= 1'b1;
        beats_q   <= burst_len;
      end else if (word_pop) begin
        beats_q   <= beats_q - 4'd1;
        sending_q <= beats_q != '0;
      end
    end
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (!start_i || !busy_o);
      assert (!sending_q || word_valid);
      if (m_awvalid_o) assert (m_awlen_o < 8'd16 && 32'(burst_word[3:0]) + 32'(m_awlen_o) < 32'd16);
      if (m_wvalid_o) assert (m_wstrb_o != '0);
      if (m_bvalid_i) assert (answers_q != '0);
    end
  end
`endif

endmodule
