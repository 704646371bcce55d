// SPDX-License-Identifier: Apache-2.0
//
// Parameter prefetch: reads the N records of a column tile into one of two
// buffers while the other is in use.
//
// start_i is a pulse; cmd_i is stable from then until idle_o. valid_o says that
// the records on the outputs are whole; next_i drops them and shows the next
// tile's, of this command or the one after it. With other_i the outputs are the
// tile's behind that one, which is not dropped. If the scratchpad grants at
// once, a tile takes 10 cycles, or 6 if its records are short (p_short).
//
// A byte beyond the scratchpad is never requested: fault_o stays high until clr_i, and
// fault_addr_o is where the read would begin.
//
// Theory: hw/feed/README.md
module weft_feed_par (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic clr_i,

  input  logic               start_i,
  input  weft_cmd_pkg::cmd_t cmd_i,
  output logic               idle_o,

  output weft_cfg_pkg::sp_read_t read_o,
  input  logic                   gnt_i,
  input  weft_cfg_pkg::sp_pair_t rdata_i,

  output logic                     valid_o,
  input  logic                     next_i,
  input  logic                     other_i,
  output weft_cfg_pkg::row_acc_t   bias_o,
  output weft_cfg_pkg::row_mul_t   mul_o,
  output weft_cfg_pkg::row_shift_t shift_o,

  output logic                   fault_o,
  output weft_cfg_pkg::sp_addr_t fault_addr_o
);
  localparam int N = weft_cfg_pkg::N;
  localparam int unsigned AddrW = weft_cfg_pkg::SP_ADDR_BITS;
  localparam int LOG2_N = weft_cfg_pkg::LOG2_N;
  localparam int SP_BITS = weft_cfg_pkg::LOG2_SP_BYTES;
  localparam int READ_BYTES = 2 * N;

  logic unused_cmd;  // fields of other modules, and the records' spare bytes
  assign unused_cmd = ^cmd_i ^ (^rdata_i);

  logic [15:0]              oc_left_q;
  logic                     run_q, bad_q, go;
  weft_cfg_pkg::sp_addr_t   addr_q, next_addr, p_base;
  logic [2:0]               read_q, c_read_q, last_read;
  logic                     c_valid_q;
  logic                     c_sel_q, wr_sel_q, rd_sel_q, shown;
  logic [1:0]               used_q;  // buffers filled or being filled
  logic [1:0]               full_q;  // buffer is whole
  weft_cfg_pkg::row_acc_t   bias0_q, bias1_q;
  weft_cfg_pkg::row_mul_t   mul0_q, mul1_q;
  weft_cfg_pkg::row_shift_t shift0_q, shift1_q;

  // A buffer is free to be filled if it is not whole and, at its first read, its
  // earlier contents have been dropped.
  // p_base is a multiple of N: a read of two words crosses the end if it begins with the last word.
  function automatic logic beyond(input weft_cfg_pkg::sp_addr_t first);
    beyond = (first >> SP_BITS) != 20'd0 || (SP_BITS < AddrW && &first[SP_BITS-1:LOG2_N]);
  endfunction
  assign p_base    = cmd_i[weft_cmd_pkg::CONV_P_BASE_LSB +: AddrW];
  assign next_addr = addr_q + AddrW'(READ_BYTES);
  assign read_o.req   = run_q && !bad_q && (read_q != '0 || used_q < 2'd2);
  assign read_o.wide = 1'b1;
  assign read_o.addr  = addr_q & AddrW'(weft_cfg_pkg::SP_BYTES - 1);
  assign go      = read_o.req && gnt_i;
  assign idle_o  = !run_q && !c_valid_q;
  assign fault_o = run_q && bad_q;
  assign fault_addr_o = addr_q;

  logic [2:0] unused_last;   // it is the same for both
  weft_param_row u_row0 (
    .clk_i, .is_short_i(cmd_i[weft_cmd_pkg::CONV_P_SHORT_LSB]), .last_read_o(last_read), .en_i(c_valid_q && !c_sel_q),
    .read_i(c_read_q), .rdata_i, .bias_o(bias0_q), .mul_o(mul0_q), .shift_o(shift0_q));
  weft_param_row u_row1 (
    .clk_i, .is_short_i(cmd_i[weft_cmd_pkg::CONV_P_SHORT_LSB]), .last_read_o(unused_last), .en_i(c_valid_q && c_sel_q),
    .read_i(c_read_q), .rdata_i, .bias_o(bias1_q), .mul_o(mul1_q), .shift_o(shift1_q));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      run_q     <= 1'b0;
      c_valid_q <= 1'b0;
      wr_sel_q  <= 1'b0;
      rd_sel_q  <= 1'b0;
      used_q    <= '0;
      full_q    <= '0;
      read_q    <= '0;
    end else if (clr_i) begin
      run_q     <= 1'b0;
      c_valid_q <= 1'b0;
      wr_sel_q  <= 1'b0;
      rd_sel_q  <= 1'b0;
      used_q    <= '0;
      full_q    <= '0;
      read_q    <= '0;
    end else begin
      if (start_i) begin
        run_q     <= 1'b1;
        read_q    <= '0;
        addr_q    <= p_base;
        bad_q     <= beyond(p_base);
        oc_left_q <= cmd_i[weft_cmd_pkg::POST_OC_LSB +: 16];
      end else if (go) begin
        addr_q <= next_addr;
        bad_q  <= beyond(next_addr);
        read_q <= read_q == last_read ? '0 : read_q + 3'd1;
        if (read_q == last_read) begin
          wr_sel_q  <= !wr_sel_q;
          oc_left_q <= oc_left_q - 16'(N);
          run_q     <= oc_left_q > 16'(N);
        end
      end
      c_valid_q <= go;
      c_read_q  <= read_q;
      c_sel_q   <= wr_sel_q;
      if (c_valid_q && c_read_q == last_read) full_q[c_sel_q] <= 1'b1;
      if (next_i) begin
        full_q[rd_sel_q] <= 1'b0;
        rd_sel_q         <= !rd_sel_q;
      end
      used_q <= used_q + 2'(go && read_q == '0) - 2'(next_i);
    end
  end

  assign shown   = rd_sel_q ^ (weft_cfg_pkg::HAS_PAIRS && other_i);
  assign valid_o = full_q[shown];
  assign bias_o  = shown ? bias1_q : bias0_q;
  assign mul_o   = shown ? mul1_q : mul0_q;
  assign shift_o = shown ? shift1_q : shift0_q;

`ifdef WEFT_ASSERT
  always @(posedge clk_i) begin
    if (rst_ni && !clr_i) begin
      assert (!(next_i && (!valid_o || other_i)));
      assert (!(start_i && run_q));
      assert (used_q <= 2'd2);
    end
  end
`endif
endmodule
