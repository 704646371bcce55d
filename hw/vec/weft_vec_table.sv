// SPDX-License-Identifier: Apache-2.0
//
// A table of 256 bytes for elt and dw: read once through PARV, then N elements a cycle
// choose from it.
//
// start_i begins to read 256 / 2N wide words at base_i, a multiple of N; ready_o is
// high from when all are here until flush_i or the next start_i. bad_o: the next one lies
// beyond the scratchpad, it is not asked for. Words that come with word_valid_i and
// word_ready_o leave a cycle later with their tag; with on_i the low byte of
// each lane is then what it chose, else they pass in the same cycle.
//
// Model: sim/model/elt.c dw.c   Theory: hw/vec/README.md
module weft_vec_table #(
  parameter int unsigned TagBits = 2
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic flush_i,
  input  logic start_i,
  input  logic on_i,
  output logic ready_o,

  input  weft_cfg_pkg::sp_addr_t base_i,
  output logic                   bad_o,
  output weft_cfg_pkg::sp_addr_t bad_addr_o,

  output weft_cfg_pkg::sp_read_t parv_o,
  input  logic                   parv_gnt_i,
  input  weft_cfg_pkg::sp_pair_t parv_rdata_i,

  input  logic                    word_valid_i,
  output logic                    word_ready_o,
  input  weft_cfg_pkg::row_half_t word_i,
  input  logic [TagBits-1:0]      tag_i,

  output logic                    word_valid_o,
  input  logic                    word_ready_i,
  output weft_cfg_pkg::row_half_t word_o,
  output logic [TagBits-1:0]      tag_o
);

  localparam int unsigned N     = weft_cfg_pkg::N;
  localparam int unsigned AddrW = weft_cfg_pkg::SP_ADDR_BITS;
  localparam int unsigned Low   = weft_cfg_pkg::LOG2_N + 1;   // bits of a place in a row of 2N bytes
  localparam int unsigned Rows  = 128 / N;
  localparam int unsigned High  = 8 - Low;

  // ---- reading the table ---------------------------------------------------------------

  logic                   run_q, got_q, got_last_q, ready_q, range_bad;
  logic [High-1:0]        row_q, got_row_q;
  weft_cfg_pkg::sp_addr_t addr_q;

  weft_vec_range u_range (.addr_i(addr_q), .bytes_i(9'(2*N)), .bad_o(range_bad), .bad_addr_o(bad_addr_o));

  assign bad_o       = run_q && range_bad;
  assign parv_o.req  = run_q && !range_bad;
  assign parv_o.wide = 1'b1;
  assign parv_o.addr = addr_q;
  assign ready_o     = ready_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || flush_i) begin
      run_q   <= 1'b0;
      got_q   <= 1'b0;
      ready_q <= 1'b0;
    end else begin
      got_q <= parv_o.req && parv_gnt_i;
      if (start_i) run_q <= 1'b1;
      else if (parv_o.req && parv_gnt_i && row_q == '1) run_q <= 1'b0;
      if (start_i) ready_q <= 1'b0;
      else if (got_q && got_last_q) ready_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      row_q  <= '0;
      addr_q <= base_i;
    end else if (parv_o.req && parv_gnt_i) begin
      row_q  <= row_q + High'(1);
      addr_q <= addr_q + AddrW'(2*N);
    end
    got_row_q  <= row_q;
    got_last_q <= row_q == '1;
  end

  // ---- looking up: each element reads its row, then chooses from it --------------------

  logic                    valid_q, go;
  logic [TagBits-1:0]      tag_q;
  // Each element has block RAM of its own. None reads it while the table is being written.
  (* ram_style = "block", no_rw_check *)
  weft_cfg_pkg::row_half_t mem [Rows];
  weft_cfg_pkg::row_half_t chosen_q [N];
  logic [Low*N-1:0]        place_q;
  weft_cfg_pkg::sp_word_t  found;

  assign word_ready_o = on_i ? ready_q && (!valid_q || word_ready_i) : word_ready_i;
  assign go           = on_i && word_valid_i && word_ready_o;
  assign word_valid_o = on_i ? valid_q : word_valid_i;
  assign tag_o        = on_i ? tag_q : tag_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || flush_i) valid_q <= 1'b0;
    else if (go) valid_q <= 1'b1;
    else if (word_ready_i) valid_q <= 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (got_q) mem[got_row_q] <= parv_rdata_i;
  end

  always_ff @(posedge clk_i) begin
    if (go) begin
      tag_q <= tag_i;
      for (int unsigned c = 0; c < N; c++) begin
        chosen_q[c]           <= mem[word_i[8*c + Low +: High]];
        place_q[Low*c +: Low] <= word_i[8*c +: Low];
      end
    end
  end

  for (genvar c = 0; c < N; c++) begin : g_found
    assign found[8*c +: 8] = chosen_q[c][{place_q[Low*c +: Low], 3'd0} +: 8];
  end

  assign word_o = {word_i[16*N-1:8*N], on_i ? found : word_i[8*N-1:0]};

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni && !flush_i) begin
      assert (!(start_i && run_q));
      if (start_i) assert (base_i % AddrW'(N) == '0);
      if (parv_o.req) assert (32'(parv_o.addr) + 2*N <= weft_cfg_pkg::SP_BYTES || weft_cfg_pkg::LOG2_SP_BYTES == AddrW);
      if (ready_o) assert (!run_q);                        // all are here
      if (go) assert (ready_o);                            // nothing is looked up in half a table
    end
  end
`endif

endmodule
