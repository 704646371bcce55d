// SPDX-License-Identifier: Apache-2.0
//
// Lists the passes of a depthwise command with n_ky: for one output row after the other, the kernel rows that lie in the
// input. An output row of which no kernel row lies there has one pass, whose row lies outside. After a block's last pass its first
// one follows again. With n_ky_i = 0 (3x3) the only row is row 0, which is first and last of everything.
//
// With two_i a pass serves two output rows, a and the next one, b. If a is the block's last row, there is no b. The passes are those
// of a kernel that is stride_y_i rows longer: a takes its first n_ky_i rows and b its last n_ky_i. The last pass of b comes behind
// that of a: if both would end with the same pass, b has one more, whose row lies outside. two_i needs stride_y_i < n_ky_i.
//
// The outputs show the present pass from the cycle after start_i or next_i.
module weft_vec_rows (
  input  logic clk_i,
  input  logic start_i,
  input  logic next_i,
  input  logic two_i,

  input  logic [3:0]  n_ky_i,
  input  logic [3:0]  stride_y_i,
  input  logic [15:0] iy_start_i,     // signed
  input  logic [15:0] in_h_i,
  input  logic [15:0] oh_i,

  output logic [3:0]  ky_o,           // kernel row of a; if a takes none in this pass, any that exists
  output logic [3:0]  b_ky_o,         // the same for b
  output logic [20:0] row_o,          // of the input, signed
  output logic        on_o,           // the row exists, and a takes it
  output logic        first_o,        // the pass is the first of a
  output logic        last_o,
  output logic        b_on_o,         // these are the same for b
  output logic        b_first_o,
  output logic        b_last_o,
  output logic        end_o           // last of the block's last output row
);

  localparam logic Two    = weft_cfg_pkg::DW_ROWS == 2;
  localparam int   KyBits = Two ? 5 : 4;

  logic [20:0] top_q;                 // kernel row 0 of a, signed; at most 2^15 + 15*2^16
  logic [15:0] oy_q;
  logic [KyBits-1:0] ky_q;            // row of the longer kernel
  logic        done_q, b_begun_q;     // a has had its last row, b its first
  logic        ends_q;                // the pass is the last of a, or of b if there is a b

  // Of the pass that comes next. All in one block: it is of use once a pass.
  /* verilator lint_off BLKSEQ */
  logic [20:0] top, above, row;       // above: rows of padding
  logic [15:0] oy;
  logic [KyBits-1:0] ky, a_last, b_last;
  logic        two, renew, both, done, b_begun, exists, below, b_takes, end_a, end_b;
  always_ff @(posedge clk_i) begin
    if (start_i || next_i) begin
      two     = Two && two_i;
      a_last  = n_ky_i == '0 ? '0 : KyBits'(n_ky_i) - KyBits'(1);
      b_last  = a_last + KyBits'(stride_y_i);
      renew   = start_i || ends_q;
      top     = top_q;
      oy      = oy_q;
      if (start_i || end_o) begin
        top = {{5{iy_start_i[15]}}, iy_start_i};
        oy  = '0;
      end else if (ends_q) begin
        top = top_q + (two ? {16'd0, stride_y_i, 1'b0} : {17'd0, stride_y_i});
        oy  = oy_q + (two ? 16'd2 : 16'd1);
      end
      both    = two && oy + 16'd1 != oh_i;
      done    = Two && !renew && done_q;
      b_begun = !renew && b_begun_q;
      above   = -top;
      ky      = !renew ? ky_q + KyBits'(1) : !top[20] ? '0 : above > 21'(a_last) ? a_last : above[KyBits-1:0];
      row     = top + 21'(ky);
      exists  = row < {5'd0, in_h_i};           // as unsigned numbers: negative ones are large
      below   = !row[20] && row + 21'd1 >= {5'd0, in_h_i};
      b_takes = both && ky >= KyBits'(stride_y_i);
      end_a   = !done && (ky == a_last || below);
      end_b   = b_takes && done && (ky == b_last || below);
      top_q     <= top;
      oy_q      <= oy;
      ky_q      <= ky;
      done_q    <= done || end_a;
      b_begun_q <= b_begun || b_takes;
      ends_q    <= both ? end_b : end_a;
      ky_o      <= Two && ky > a_last ? a_last[3:0] : ky[3:0];
      b_ky_o    <= b_takes ? ky[3:0] - stride_y_i : '0;
      row_o     <= row;
      on_o      <= !done && exists;
      first_o   <= renew;
      last_o    <= end_a;
      b_on_o    <= b_takes && exists;
      b_first_o <= b_takes && !b_begun;
      b_last_o  <= end_b;
      end_o     <= n_ky_i == '0 || ((both ? end_b : end_a) && oy + (both ? 16'd2 : 16'd1) == oh_i);
    end
  end
  /* verilator lint_on BLKSEQ */

`ifdef WEFT_ASSERT
  // In the cycle in which a new pass is shown; later the fields may be the next command's.
  logic        new_q;
  logic [3:0]  old_n_ky_q;
  logic [15:0] old_in_h_q;
  always_ff @(posedge clk_i) begin
    new_q      <= start_i || next_i;
    old_n_ky_q <= n_ky_i;
    old_in_h_q <= in_h_i;
    if (new_q) begin
      assert ((on_o || b_on_o) == (row_o < {5'd0, old_in_h_q}));
      assert (!end_o || ends_q);                     // a block ends with the last row of an output row
      assert (!(last_o && b_last_o));                // one row of results a pass
      assert (old_n_ky_q != '0 || (first_o && last_o && end_o));
      assert ((ky_o < old_n_ky_q && b_ky_o < old_n_ky_q) || (ky_o == '0 && b_ky_o == '0));
    end
  end
`endif

endmodule
