// SPDX-License-Identifier: Apache-2.0
//
// The kernel rows that lie in the input, of one output row after the other: what a
// depthwise command with n_ky streams. Of an output row that has none, one that lies
// outside. Behind a block's last row comes its first again. With n_ky_i = 0 (3x3) row
// 0 is first and last of everything.
//
// The row at hand is shown from the cycle after start_i or next_i.
module weft_vec_rows (
  input  logic clk_i,
  input  logic start_i,
  input  logic next_i,

  input  logic [3:0]  n_ky_i,
  input  logic [3:0]  stride_y_i,
  input  logic [15:0] iy_start_i,     // signed
  input  logic [15:0] in_h_i,
  input  logic [15:0] oh_i,

  output logic [3:0]  ky_o,
  output logic [20:0] row_o,          // of the input, signed
  output logic        on_o,           // it exists
  output logic        first_o,        // of its output row
  output logic        last_o,
  output logic        end_o           // last of the block's last output row
);

  logic [20:0] top_q;                 // kernel row 0, signed; at most 2^15 + 15*2^16
  logic [15:0] oy_q;

  // Of the row that comes next. All in one block: it is of use once a pass.
  /* verilator lint_off BLKSEQ */
  logic [20:0] top, above, row;       // above: rows of padding
  logic [15:0] oy;
  logic [3:0]  ky, ky_last;
  logic        renew, last;
  always_ff @(posedge clk_i) begin
    if (start_i || next_i) begin
      ky_last = n_ky_i == '0 ? 4'd0 : n_ky_i - 4'd1;
      renew   = start_i || last_o;
      top     = top_q;
      oy      = oy_q;
      if (start_i || end_o) begin
        top = {{5{iy_start_i[15]}}, iy_start_i};
        oy  = '0;
      end else if (last_o) begin
        top = top_q + {17'd0, stride_y_i};
        oy  = oy_q + 16'd1;
      end
      above = -top;
      ky    = !renew ? ky_o + 4'd1 : !top[20] ? 4'd0 : above > {17'd0, ky_last} ? ky_last : above[3:0];
      row   = top + {17'd0, ky};
      last  = ky == ky_last || (!row[20] && row + 21'd1 >= {5'd0, in_h_i});
      top_q   <= top;
      oy_q    <= oy;
      ky_o    <= ky;
      row_o   <= row;
      on_o    <= row < {5'd0, in_h_i};    // as unsigned numbers: negative ones are large
      first_o <= renew;
      last_o  <= last;
      end_o   <= n_ky_i == '0 || (last && oy + 16'd1 == oh_i);
    end
  end
  /* verilator lint_on BLKSEQ */

`ifdef WEFT_ASSERT
  // In the cycle in which a new row is shown; later the fields may be the next command's.
  logic        new_q;
  logic [3:0]  old_n_ky_q;
  logic [15:0] old_in_h_q;
  always_ff @(posedge clk_i) begin
    new_q      <= start_i || next_i;
    old_n_ky_q <= n_ky_i;
    old_in_h_q <= in_h_i;
    if (new_q) begin
      assert (on_o == (row_o < {5'd0, old_in_h_q}));
      assert (!end_o || last_o);                     // a block ends with the last row of an output row
      assert (old_n_ky_q != '0 || (first_o && last_o && end_o));
      assert (ky_o < old_n_ky_q || ky_o == '0);
    end
  end
`endif

endmodule
