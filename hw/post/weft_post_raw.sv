// SPDX-License-Identifier: Apache-2.0
//
// Writes rows of sums as they are, with their biases: commands with raw. Beside
// weft_post, which gets the other rows.
//
// A row leaves as words of N bytes, one a cycle: four of int32, in mode 1 eight of
// int48 sign extended to 64 bits; those behind its last channel are left out. The
// row itself is not kept: ready comes with its last word, so ready depends on
// valid, and a row that is offered must stay until then. A word is requested at
// the scratchpad in the cycle after it was formed. Contexts take turns by rows.
//
// Model: sim/model/post.c   Theory: hw/post/README.md
module weft_post_raw (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic abort_i,

  input  logic                    c0_valid_i,
  output logic                    c0_ready_o,
  input  logic                    c0_int16_i,  // mode 1
  input  weft_cfg_pkg::row_acc_t  c0_acc_i,
  input  weft_cfg_pkg::row_acc_t  c0_bias_i,
  input  weft_cfg_pkg::sp_addr_t  c0_addr_i,
  input  weft_cfg_pkg::row_mask_t c0_mask_i,   // the first channels, one at least
  output logic                    c0_idle_o,

  input  logic                    c1_valid_i,
  output logic                    c1_ready_o,
  input  logic                    c1_int16_i,
  input  weft_cfg_pkg::row_acc_t  c1_acc_i,
  input  weft_cfg_pkg::row_acc_t  c1_bias_i,
  input  weft_cfg_pkg::sp_addr_t  c1_addr_i,
  input  weft_cfg_pkg::row_mask_t c1_mask_i,
  output logic                    c1_idle_o,

  output weft_cfg_pkg::sp_write_t wr_o,
  input  logic                    wr_gnt_i
);
  localparam int N = weft_cfg_pkg::N;
  localparam int unsigned AddrW = weft_cfg_pkg::SP_ADDR_BITS;
  localparam int Quarter = N / 4;   // int32 in a word
  localparam int Eighth  = N < 8 ? 1 : N / 8;   // int64 in a word; with N below 8 there is no mode 1
  localparam int Room    = N < 8 ? 8 : N;       // bytes of a word, or of an int64

  logic                    wr_req_q;
  weft_cfg_pkg::sp_addr_t  wr_addr_q;
  weft_cfg_pkg::sp_word_t  wr_data_q;
  weft_cfg_pkg::row_mask_t wr_mask_q;
  assign wr_o.req  = wr_req_q;
  assign wr_o.addr = wr_addr_q;
  assign wr_o.mask = wr_mask_q;
  assign wr_o.data = wr_data_q;

  logic       ctx, ctx_q;           // of the row, of the word
  logic [2:0] word_q;               // of the row, the next one
  logic       int16, go, last;
  assign ctx   = word_q != '0 || (c0_valid_i && c1_valid_i) ? ctx_q ^ (word_q == '0) : c1_valid_i;
  assign int16 = weft_cfg_pkg::HAS_INT16 && (ctx ? c1_int16_i : c0_int16_i);
  assign go    = (ctx ? c1_valid_i : c0_valid_i) && (!wr_req_q || wr_gnt_i);

  weft_cfg_pkg::row_acc_t  acc, bias;
  weft_cfg_pkg::row_mask_t mask;

  // The word's channels. Of mode 1 only the first half of them are.
  logic [48*Quarter-1:0] word_acc, word_bias;
  logic [Quarter-1:0]    word_mask;
  logic                  more;      // channels behind them
  // Not under go: each bit of a word of int32 is one of eight, four words of two contexts.
  always_comb begin
    acc       = ctx ? c1_acc_i : c0_acc_i;
    bias      = ctx ? c1_bias_i : c0_bias_i;
    mask      = ctx ? c1_mask_i : c0_mask_i;
    word_acc  = word_q[1] ? word_q[0] ? acc[48*Quarter*3 +: 48*Quarter] : acc[48*Quarter*2 +: 48*Quarter]
                          : word_q[0] ? acc[48*Quarter +: 48*Quarter] : acc[48*Quarter-1:0];
    word_bias = word_q[1] ? word_q[0] ? bias[48*Quarter*3 +: 48*Quarter] : bias[48*Quarter*2 +: 48*Quarter]
                          : word_q[0] ? bias[48*Quarter +: 48*Quarter] : bias[48*Quarter-1:0];
    word_mask = word_q[1] ? word_q[0] ? mask[Quarter*3 +: Quarter] : mask[Quarter*2 +: Quarter]
                          : word_q[0] ? mask[Quarter +: Quarter] : mask[Quarter-1:0];
    more      = word_q[1] ? !word_q[0] && mask[Quarter*3] : word_q[0] ? mask[Quarter*2] : mask[Quarter];
    if (int16) begin
      word_acc  = '0;
      word_bias = '0;
      word_mask = '0;
      more      = 1'b0;
      for (int k = 0; k < 8; k++) begin
        if (word_q == 3'(k)) begin
          word_acc[48*Eighth-1:0]  = acc[48*(Eighth*k % N) +: 48*Eighth];
          word_bias[48*Eighth-1:0] = bias[48*(Eighth*k % N) +: 48*Eighth];
          word_mask[Eighth-1:0]    = mask[Eighth*k % N +: Eighth];
          more = k < 7 && mask[(Eighth*(k + 1)) % N];
        end
      end
    end
  end

  logic [48*Quarter-1:0]  sums;
  /* verilator lint_off UNUSEDSIGNAL */  // with N below 8 their upper halves
  logic [8*Room-1:0]      data;
  logic [Room-1:0]        bytes;
  /* verilator lint_on UNUSEDSIGNAL */
  always_comb begin
    sums  = '0;
    data  = '0;
    bytes = '0;
    if (go) begin
      for (int i = 0; i < Quarter; i++) sums[48*i +: 48] = word_acc[48*i +: 48] + word_bias[48*i +: 48];
      for (int i = 0; i < Quarter; i++) begin
        data[32*i +: 32] = sums[48*i +: 32];
        bytes[4*i +: 4]  = {4{word_mask[i]}};
      end
      if (int16) begin
        for (int i = 0; i < Eighth; i++) begin
          data[64*i +: 64] = {{16{sums[48*i + 47]}}, sums[48*i +: 48]};
          bytes[8*i +: 8]  = {8{word_mask[i]}};
        end
      end
    end
  end

  assign last       = go && !more;
  assign c0_ready_o = last && !ctx;
  assign c1_ready_o = last && ctx;
  assign c0_idle_o  = !(wr_req_q && !ctx_q);
  assign c1_idle_o  = !(wr_req_q && ctx_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wr_req_q <= 1'b0;
      word_q   <= '0;
      ctx_q    <= 1'b0;
    end else if (abort_i) begin
      wr_req_q <= 1'b0;
      word_q   <= '0;
    end else begin
      if (go) begin
        wr_req_q <= 1'b1;
        word_q   <= last ? '0 : word_q + 3'd1;
        ctx_q    <= ctx;
      end else if (wr_gnt_i) begin
        wr_req_q <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (go) begin
      wr_addr_q <= (ctx ? c1_addr_i : c0_addr_i) + AddrW'(N) * AddrW'(word_q);
      wr_data_q <= data[8*N-1:0];
      wr_mask_q <= bytes[N-1:0];
    end
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni && go) assert (mask[0] && (int16 || word_q < 3'd4));
  end
`endif
endmodule
