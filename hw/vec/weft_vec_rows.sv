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

  logic [20:0] top_q, top;            // kernel row 0, signed; at most 2^15 + 15*2^16
  logic [15:0] oy_q;
  logic [3:0]  ky_q;
  logic        first_q;

  logic        only, load, renew;
  logic [20:0] above;                 // rows of padding above
  logic [3:0]  ky_last;

  assign only    = n_ky_i == '0;
  assign ky_last = only ? '0 : n_ky_i - 4'd1;
  assign row_o   = top_q + {17'd0, ky_q};
  assign on_o    = row_o < {5'd0, in_h_i};    // as unsigned numbers: negative ones are large
  assign last_o  = ky_q == ky_last || (!row_o[20] && row_o + 21'd1 >= {5'd0, in_h_i});
  assign end_o   = only || (last_o && oy_q + 16'd1 == oh_i);
  assign first_o = first_q;
  assign ky_o    = ky_q;

  assign load  = start_i || end_o;
  assign renew = load || last_o;
  assign top   = load ? {{5{iy_start_i[15]}}, iy_start_i} : top_q + {17'd0, stride_y_i};
  assign above = -top;

  always_ff @(posedge clk_i) begin
    if (start_i || next_i) begin
      first_q <= renew;
      if (load) oy_q <= '0;
      else if (last_o) oy_q <= oy_q + 16'd1;
      if (renew) begin
        top_q <= top;
        ky_q  <= !top[20] ? '0 : above > {17'd0, ky_last} ? ky_last : above[3:0];
      end else begin
        ky_q <= ky_q + 4'd1;
      end
    end
  end

endmodule
