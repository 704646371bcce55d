// SPDX-License-Identifier: Apache-2.0
//
// Rules of cmd.toml that join several fields; combinational.
//
// conv with keep has one column tile and one pixel group; dw and pool have no
// second addend; a row of dw, padding included, fits the line buffer.
module weft_cmd_rules (
  /* verilator lint_off UNUSEDSIGNAL */  // fields without such a rule
  input  logic [1023:0] cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic          ok_o
);

  localparam int unsigned N = weft_cfg_pkg::N;

  logic [15:0] ow, oh, oc;
  logic [3:0]  stride_x;
  logic        add, keep;
  assign ow       = cmd_i[weft_cmd_pkg::POST_OW_LSB +: 16];
  assign oh       = cmd_i[weft_cmd_pkg::POST_OH_LSB +: 16];
  assign oc       = cmd_i[weft_cmd_pkg::POST_OC_LSB +: 16];
  assign add      = cmd_i[weft_cmd_pkg::POST_ADD_LSB];
  assign keep     = cmd_i[weft_cmd_pkg::CONV_KEEP_LSB];
  assign stride_x = cmd_i[weft_cmd_pkg::DW_STRIDE_X_LSB +: 4];

  // The products are taken of what passed the comparison before them.
  logic        few;
  logic [13:0] pixels;
  assign few  = ow <= 16'(N) && oh <= 16'(N);
  assign pixels = 14'(ow[6:0]) * 14'(oh[6:0]);

  logic        narrow;
  logic [19:0] row;
  assign narrow = ow <= 16'(weft_cfg_pkg::DW_LINE);
  assign row    = (20'(ow) - 20'd1) * 20'(stride_x) + 20'd3;

  always_comb begin
    ok_o = 1'b1;
    case (cmd_i[weft_cmd_pkg::HEADER_OP_LSB +: 8])
      weft_cmd_pkg::OP_CONV: ok_o = !keep || (few && pixels <= 14'(N) && oc <= 16'(N));
      weft_cmd_pkg::OP_DW:   ok_o = !add && narrow && row <= 20'(weft_cfg_pkg::DW_LINE);
      weft_cmd_pkg::OP_POOL: ok_o = !add;
      default: ;
    endcase
  end

endmodule
