// SPDX-License-Identifier: Apache-2.0
//
// Output-stationary systolic array, N x N, with its skew buffers.
//
// In a slot (a cycle with adv_i) the word of row phase_i and the word of
// column phase_i enter the skew buffers (zeros if load_i is low), every row
// and column passes its next byte, minus the zero point, to the operand
// registers of its first PE, operands move on by one PE, and every PE
// multiplies and adds what it held. A word that enters in slot s leaves byte j
// in slot s+j, so the words of rows 0..N-1 in successive slots are skewed as a
// systolic array needs them.
//
// last_i (in the slot of row N-1 of a group's last chunk) starts a token: one
// bit per anti-diagonal, moving a diagonal a slot. Behind it PE(r,c) copies
// its sum to its shadow register and starts again from zero. Row r is whole
// N+1+r slots after last_i: due_o and due_row_o announce it, and a slot with
// take_i puts it in row_o. It must be taken in that slot, or it is lost.
// leaving_o: row 0 is due in the next slot.
// Groups may follow each other every N slots, the length of one chunk.
//
// All of it is one flat block with blocking assignments in dependency order,
// because that simulates an order of magnitude faster than PE modules.
// Registers read outside the block are assigned without blocking.
//
// Theory: hw/array/README.md
module weft_array (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic                              clr_i,     // forget everything
  input  logic                              adv_i,
  input  logic                              load_i,
  input  logic                              last_i,
  input  logic                              wide_i,    // sums of 48 bits, else 32
  input  logic [weft_cfg_pkg::LOG2_N-1:0]   phase_i,
  input  logic [8*weft_cfg_pkg::N-1:0]      act_i,
  input  logic [7:0]                        act_zp_i,
  input  logic [8*weft_cfg_pkg::N-1:0]      wgt_i,
  input  logic [7:0]                        wgt_zp_i,

  output logic                              leaving_o,
  output logic                              due_o,
  output logic [weft_cfg_pkg::LOG2_N-1:0]   due_row_o,
  input  logic                              take_i,
  output logic [48*weft_cfg_pkg::N-1:0]     row_o
);
  localparam int N = weft_cfg_pkg::N;
  localparam int LOG2_N = weft_cfg_pkg::LOG2_N;

  // Tokens: bit d belongs to the PEs with r + c = d; from bit N on, to row d - N
  // on its way out.
  logic [2*N-1:0] token_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni)      token_q <= '0;
    else if (clr_i)   token_q <= '0;
    else if (adv_i)   token_q <= {token_q[2*N-2:0], last_i};
  end

  assign leaving_o = token_q[N-1];

  always_comb begin
    due_o = |token_q[2*N-1:N];
    due_row_o = '0;
    for (int r = 0; r < N; r++) begin
      if (token_q[N + r]) due_row_o = due_row_o | LOG2_N'(r);
    end
  end

  // skew_x[k][r]: what row r passes on in the slots whose phase is k.
  logic signed [15:0] skew_a [N][N];
  logic signed [8:0]  skew_w [N][N];
  // Operand registers of PE(r,c). A 16x9 multiplier serves int16 as well.
  logic signed [15:0] op_a [N][N] /*verilator public_flat_rd*/;
  logic signed [8:0]  op_w [N][N];
  // Sums; bits 47:32 count in wide mode only.
  logic signed [31:0] acc_lo [N][N];
  logic [15:0] acc_hi [N][N];
  logic signed [31:0] shadow_lo [N][N];
  logic [15:0] shadow_hi [N][N];
  logic [47:0]        out;
  logic signed [31:0] prod;
  logic               carry, sum_top;

`ifdef WEFT_FAULT_HOOK
  // [31] enable, [15:8] row, [23:16] column, [5:0] bit of the sum stuck at 1
  logic [31:0] fault_hook_q /*verilator public_flat_rw*/;
  initial fault_hook_q = '0;
`endif

  // verilator lint_off BLKSEQ
  always_ff @(posedge clk_i) begin
    if (clr_i) begin
      for (int r = 0; r < N; r++) begin
        for (int c = 0; c < N; c++) begin
          skew_a[r][c] = '0;
          skew_w[r][c] = '0;
          op_a[r][c] = '0;
          op_w[r][c] = '0;
          acc_lo[r][c] = '0;
          acc_hi[r][c] = '0;
        end
      end
    end else if (adv_i) begin
      if (take_i) begin
        for (int c = 0; c < N; c++) begin
          out = '0;
          for (int r = 0; r < N; r++) begin
            out = out | ({shadow_hi[r][c], shadow_lo[r][c]} & {48{token_q[N + r]}});
          end
          row_o[48*c +: 48] <= out;
        end
      end

      // Multiply and add. In wide mode the carry out of bit 31 is the majority
      // of the two addends' top bits and the inverted top bit of their sum.
      if (wide_i) begin
        for (int r = 0; r < N; r++) begin
          for (int c = 0; c < N; c++) begin
            prod = op_a[r][c] * op_w[r][c];
            sum_top = 1'((acc_lo[r][c] + prod) >> 31);
            carry = (acc_lo[r][c][31] & prod[31]) | ((acc_lo[r][c][31] | prod[31]) & ~sum_top);
            acc_hi[r][c] = acc_hi[r][c] + {16{prod[31]}} + 16'(carry);
          end
        end
      end
      for (int r = 0; r < N; r++) begin
        for (int c = 0; c < N; c++) begin
          acc_lo[r][c] = acc_lo[r][c] + op_a[r][c] * op_w[r][c];
        end
      end
`ifdef WEFT_FAULT_HOOK
      if (fault_hook_q[31]) begin
        if (fault_hook_q[5])
          acc_hi[fault_hook_q[8 +: LOG2_N]][fault_hook_q[16 +: LOG2_N]][fault_hook_q[3:0]] = 1'b1;
        else
          acc_lo[fault_hook_q[8 +: LOG2_N]][fault_hook_q[16 +: LOG2_N]][fault_hook_q[4:0]] = 1'b1;
      end
`endif

      for (int d = 0; d < 2*N - 1; d++) begin
        if (token_q[d]) begin
          for (int r = 0; r < N; r++) begin
            if (d >= r && d - r < N) begin
              shadow_lo[r][d - r] = acc_lo[r][d - r];
              shadow_hi[r][d - r] = acc_hi[r][d - r];
              acc_lo[r][d - r] = '0;
              acc_hi[r][d - r] = '0;
            end
          end
        end
      end

      // Operands move on.
      for (int r = 0; r < N; r++) begin
        for (int c = N - 1; c > 0; c--) op_a[r][c] = op_a[r][c - 1];
      end
      for (int r = N - 1; r > 0; r--) begin
        for (int c = 0; c < N; c++) op_w[r][c] = op_w[r - 1][c];
      end

      // New words, then the bytes whose turn it is.
      for (int r = 0; r < N; r++) begin
        if (phase_i == LOG2_N'(r)) begin
          for (int j = 0; j < N; j++) begin
            skew_a[(r + j) % N][r] = load_i ? 16'($signed(act_i[8*j +: 8])) - 16'($signed(act_zp_i)) : '0;
            skew_w[(r + j) % N][r] = load_i ? 9'($signed(wgt_i[8*j +: 8])) - 9'($signed(wgt_zp_i)) : '0;
          end
        end
      end
      for (int r = 0; r < N; r++) begin
        op_a[r][0] = skew_a[phase_i][r];
        op_w[0][r] = skew_w[phase_i][r];
      end
    end
  end
  // verilator lint_on BLKSEQ
endmodule
