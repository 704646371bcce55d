// SPDX-License-Identifier: Apache-2.0
//
// Rules of cmd.toml that join several fields; combinational.
//
// conv with keep has one column tile and one pixel group; dw and pool have no
// second addend; a row of dw, padding included, fits the line buffer, which
// holds half as many int16. scale16 is for conv and dw and rounds once. In mode 2
// these have no input of fp16, and pool has no sum.
module weft_cmd_rules (
  /* verilator lint_off UNUSEDSIGNAL */  // fields without such a rule
  input  logic [1023:0] cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic          ok_o
);

  localparam int unsigned N = weft_cfg_pkg::N;

  logic [15:0] ow, oh, oc;
  logic [3:0]  stride_x;
  logic        add, keep, int16, fp, scale16, mac_ok;
  assign ow       = cmd_i[weft_cmd_pkg::POST_OW_LSB +: 16];
  assign oh       = cmd_i[weft_cmd_pkg::POST_OH_LSB +: 16];
  assign oc       = cmd_i[weft_cmd_pkg::POST_OC_LSB +: 16];
  assign add      = cmd_i[weft_cmd_pkg::POST_ADD_LSB];
  assign int16    = cmd_i[weft_cmd_pkg::POST_MODE_LSB +: weft_cmd_pkg::POST_MODE_W] == 3'd1;
  assign scale16  = cmd_i[weft_cmd_pkg::POST_SCALE16_LSB];
  assign fp       = cmd_i[weft_cmd_pkg::POST_MODE_LSB +: weft_cmd_pkg::POST_MODE_W] == 3'd2;
  assign mac_ok   = !(scale16 && cmd_i[weft_cmd_pkg::POST_DOUBLE_ROUND_LSB]) && !(fp && cmd_i[weft_cmd_pkg::POST_X_FMT_LSB + 2]);
  assign keep     = cmd_i[weft_cmd_pkg::CONV_KEEP_LSB];
  assign stride_x = cmd_i[weft_cmd_pkg::DW_STRIDE_X_LSB +: 4];

  // The products are taken of what passed the comparison before them.
  logic        few;
  logic [13:0] pixels;
  assign few  = ow <= 16'(N) && oh <= 16'(N);
  assign pixels = 14'(ow[6:0]) * 14'(oh[6:0]);

  logic        narrow;
  logic [19:0] row, line;
  assign narrow = ow <= 16'(weft_cfg_pkg::DW_LINE);
  assign line   = int16 ? 20'(weft_cfg_pkg::DW_LINE / 2) : 20'(weft_cfg_pkg::DW_LINE);
  assign row    = (20'(ow) - 20'd1) * 20'(stride_x) + 20'd3;

  always_comb begin
    ok_o = 1'b1;
    case (cmd_i[weft_cmd_pkg::HEADER_OP_LSB +: 8])
      weft_cmd_pkg::OP_CONV: ok_o = mac_ok && (!keep || (few && pixels <= 14'(N) && oc <= 16'(N)));
      weft_cmd_pkg::OP_DW:   ok_o = mac_ok && !add && narrow && row <= line;
      weft_cmd_pkg::OP_POOL: ok_o = !scale16 && !add && !(fp && cmd_i[weft_cmd_pkg::POOL_SUM_LSB]);
      weft_cmd_pkg::OP_ELT:  ok_o = !scale16;
      default: ;
    endcase
  end

endmodule
