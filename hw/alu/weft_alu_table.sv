// SPDX-License-Identifier: Apache-2.0
//
// A table of up to 256 entries of 1, 2 or 4 bytes for lookup: read once from the scratchpad, then every lane
// looks up an entry in each cycle.
//
// start_i begins to read words_i words at base_i; all of them must lie in the scratchpad. ready_o is high from
// when they are here until flush_i or the next start_i. entry_o holds, in the cycle after en_i, the entries whose
// numbers were index_i, extended to 48 bits.
//
// Theory: hw/alu/README.md
module weft_alu_table (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic flush_i,

  input  logic                            start_i,
  input  weft_cfg_pkg::sp_addr_t          base_i,
  input  logic [10-weft_cfg_pkg::LOG2_N:0] words_i,   // 1 .. 1024/N
  output logic                            ready_o,

  output logic                   rd_req_o,
  output weft_cfg_pkg::sp_addr_t rd_addr_o,
  input  logic                   rd_gnt_i,
  input  weft_cfg_pkg::sp_word_t rd_data_i,   // in the cycle after the grant

  input  logic                            en_i,
  input  logic [1:0]                      log_i,      // an entry has 2^log_i bytes, at most 4
  input  logic                            unsigned_i,
  input  logic [2*weft_cfg_pkg::N-1:0]    index_i,    // 8 bits a lane
  output logic [12*weft_cfg_pkg::N-1:0]   entry_o     // 48 bits a lane
);

  localparam int unsigned N     = weft_cfg_pkg::N;
  localparam int unsigned Low   = weft_cfg_pkg::LOG2_N;   // bits of a place in a word
  localparam int unsigned High  = 10 - Low;
  localparam int unsigned Lanes = N / 4;

  // ---- reading the table ---------------------------------------------------------------

  logic                   run_q, got_q, got_last_q, ready_q, last;
  logic [High-1:0]        row_q, got_row_q;
  logic [High:0]          left_q;
  weft_cfg_pkg::sp_addr_t addr_q;

  assign rd_req_o  = run_q;
  assign rd_addr_o = addr_q;
  assign ready_o   = ready_q;
  assign last      = left_q == (High+1)'(1);

  always_ff @(posedge clk_i) begin
    if (!rst_ni || flush_i) begin
      run_q   <= 1'b0;
      got_q   <= 1'b0;
      ready_q <= 1'b0;
    end else begin
      got_q <= run_q && rd_gnt_i;
      if (start_i) run_q <= 1'b1;
      else if (rd_gnt_i && last) run_q <= 1'b0;
      if (start_i) ready_q <= 1'b0;
      else if (got_q && got_last_q) ready_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      row_q  <= '0;
      left_q <= words_i;
      addr_q <= base_i;
    end else if (run_q && rd_gnt_i) begin
      row_q  <= row_q + High'(1);
      left_q <= left_q - (High+1)'(1);
      addr_q <= addr_q + weft_cfg_pkg::SP_ADDR_BITS'(N);
    end
    got_row_q  <= row_q;
    got_last_q <= last;
  end

  // ---- looking up: each lane reads the word of its entry, then chooses from it --------------------

  // Each lane has block RAM of its own. No lane reads it while the table is being written.
  (* ram_style = "block", no_rw_check *)
  weft_cfg_pkg::sp_word_t mem [1 << High];
  weft_cfg_pkg::sp_word_t word_q [Lanes];
  logic [Low-1:0]         place_q [Lanes];
  logic [9:0]             at [Lanes];    // an entry's first byte

  always_comb begin
    for (int unsigned l = 0; l < Lanes; l++) at[l] = {2'd0, index_i[8*l +: 8]} << log_i;
  end

  always_ff @(posedge clk_i) begin
    if (got_q) mem[got_row_q] <= rd_data_i;
  end

  always_ff @(posedge clk_i) begin
    if (en_i) begin
      for (int unsigned l = 0; l < Lanes; l++) begin
        word_q[l]  <= mem[at[l][9:Low]];
        place_q[l] <= at[l][Low-1:0];
      end
    end
  end

  /* verilator lint_off UNUSEDSIGNAL */  // the upper bytes
  weft_cfg_pkg::sp_word_t moved;
  /* verilator lint_on UNUSEDSIGNAL */
  always_comb begin
    moved   = '0;
    entry_o = '0;
    for (int unsigned l = 0; l < Lanes; l++) begin
      moved = word_q[l] >> {place_q[l], 3'd0};
      case (log_i)
        2'd0:    entry_o[48*l +: 48] = {{40{!unsigned_i && moved[7]}}, moved[7:0]};
        2'd1:    entry_o[48*l +: 48] = {{32{!unsigned_i && moved[15]}}, moved[15:0]};
        default: entry_o[48*l +: 48] = {{16{!unsigned_i && moved[31]}}, moved[31:0]};
      endcase
    end
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni && !flush_i) begin
      assert (!(en_i && !ready_q));
      assert (!(start_i && (words_i == '0 || 32'(words_i) > 1024 / N)));
    end
  end
`endif

endmodule
