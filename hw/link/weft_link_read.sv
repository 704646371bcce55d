// SPDX-License-Identifier: Apache-2.0
//
// Bytes of card memory for a READ: bursts of up to 16 bus words that end at
// multiples of 16 words, so none crosses 4 KiB; bytes in order.
//
// A burst is asked for when there is room for all of it, so read data never
// waits for the host. start_i only while busy_o is low; it falls when the last
// byte has been taken. error_o: a word of this READ was answered with an error.
module weft_link_read #(
  parameter int unsigned Bytes = 16   // of a bus word
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic               start_i,
  input  logic [31:0]        addr_i,
  input  logic [20:0]        len_i,
  output logic               valid_o,
  input  logic               ready_i,
  output logic [7:0]         data_o,
  output logic               busy_o,
  output logic               error_o,

  output logic               m_arvalid_o,
  input  logic               m_arready_i,
  output logic [31:0]        m_araddr_o,
  output logic [7:0]         m_arlen_o,
  input  logic               m_rvalid_i,
  input  logic [8*Bytes-1:0] m_rdata_i,
  input  logic               m_rerror_i
);

  localparam int unsigned Log2   = $clog2(Bytes);
  localparam int unsigned WordsW = 32 - Log2;
  localparam int unsigned Room   = 32;   // words

  // ---- bursts ----

  logic [WordsW-1:0] next_q, end_q, last_word;   // word that comes next, first beyond the end
  logic [5:0]        held_q;          // words asked for and not yet used up
  logic [3:0]        burst, block;    // words of the next burst, to the end of 16, less one
  logic              asking, ask, pop;
  logic [WordsW-1:0] rest;
  assign asking      = next_q != end_q;
  assign rest        = end_q - next_q - 1;
  assign block       = ~next_q[3:0];
  assign burst       = rest < WordsW'(block) ? rest[3:0] : block;
  assign m_arvalid_o = asking && held_q <= 6'(Room - 16);
  assign m_araddr_o  = {next_q, Log2'(0)};
  assign m_arlen_o   = {4'd0, burst};
  assign ask         = m_arvalid_o && m_arready_i;
  assign last_word   = WordsW'((addr_i + 32'(len_i) - 32'd1) >> Log2);

  // ---- words into bytes ----

  logic [Log2-1:0]    at_q;
  logic [20:0]        left_q;
  logic [8*Bytes-1:0] word;
  logic               word_valid, error_q;
  /* verilator lint_off PINCONNECTEMPTY */  // count_o; a burst is asked for where there is room for it
  weft_fifo #(
    .Width(8 * Bytes),
    .Depth(Room)
  ) u_word (
    .clk_i,
    .rst_ni,
    .clr_i   (1'b0),
    .wvalid_i(m_rvalid_i),
    .wready_o(),
    .wdata_i (m_rdata_i),
    .rvalid_o(word_valid),
    .rready_i(pop),
    .rdata_o (word),
    .count_o ()
  );
  /* verilator lint_on PINCONNECTEMPTY */
  assign valid_o = word_valid && left_q != '0;
  assign data_o  = word[8*at_q+:8];
  assign pop     = valid_o && ready_i && (at_q == '1 || left_q == 21'd1);
  assign busy_o  = left_q != '0;
  assign error_o = error_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      next_q  <= '0;
      end_q   <= '0;
      held_q  <= '0;
      at_q    <= '0;
      left_q  <= '0;
      error_q <= 1'b0;
    end else begin
      held_q <= held_q + (ask ? 6'(burst) + 6'd1 : 6'd0) - 6'(pop);
      if (ask) next_q <= next_q + WordsW'(burst) + 1;
      if (valid_o && ready_i) begin
        at_q   <= at_q + 1;
        left_q <= left_q - 21'd1;
      end
      if (m_rvalid_i && m_rerror_i) error_q <= 1'b1;
      if (start_i) begin
        next_q  <= addr_i[31:Log2];
        end_q   <= last_word + 1;
        at_q    <= addr_i[Log2-1:0];
        left_q  <= len_i;
        error_q <= 1'b0;
      end
    end
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (!start_i || !busy_o);
      assert (held_q <= 6'(Room));
      if (m_arvalid_o) assert (m_arlen_o < 8'd16 && 32'(next_q[3:0]) + 32'(m_arlen_o) < 32'd16);
      if (m_arvalid_o) assert (m_araddr_o[31:12] == 20'((m_araddr_o + (32'(m_arlen_o) << Log2)) >> 12));
      if (m_rvalid_i) assert (held_q != '0);   // of a burst that was asked for, so there is room
    end
  end
`endif

endmodule
