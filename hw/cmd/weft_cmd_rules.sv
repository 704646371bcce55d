// SPDX-License-Identifier: Apache-2.0
//
// Rules of cmd.toml that join several fields; combinational.
//
// conv with keep has one column tile and one pixel group, or two tiles that the array computes at a time; dw and pool have no
// second addend; a row of dw, padding included, fits the line buffer, which
// holds half as many int16, or, with a kernel other than 3x3, half as many sums;
// such a kernel has rows and at least three columns. scale16 is for conv and dw and rounds once. In mode 2
// these have no input of fp16, and pool has no sum. store does not narrow to int4. raw is for
// conv and dw without add. elt has at most one of add, table and mul; the table of elt and dw begins with a word.
// A load with coded has one row, whose offset, length and scratchpad address are multiples of N, and no int4. A load
// without coded, and a store, have no centre; a store has no coded.
module weft_cmd_rules (
  /* verilator lint_off UNUSEDSIGNAL */  // fields without such a rule
  input  weft_cmd_pkg::cmd_t cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic          ok_o
);

  localparam int unsigned N = weft_cfg_pkg::N;

  logic [15:0] ow, oh, oc;
  logic [3:0]  stride_x;
  logic [3:0]  n_ky, n_kx;
  logic        add, raw, keep, two, int16, fp, scale16, mac_ok, kernel_ok, lookup, product, dw_lookup, word_ok, elt_ok;
  logic        coded, one_row, whole_ok, no_centre, coded_ok;
  assign ow       = cmd_i[weft_cmd_pkg::POST_OW_LSB +: 16];
  assign oh       = cmd_i[weft_cmd_pkg::POST_OH_LSB +: 16];
  assign oc       = cmd_i[weft_cmd_pkg::POST_OC_LSB +: 16];
  assign add      = cmd_i[weft_cmd_pkg::POST_ADD_LSB];
  assign int16    = cmd_i[weft_cmd_pkg::POST_MODE_LSB +: weft_cmd_pkg::POST_MODE_W] == weft_cmd_pkg::POST_MODE_V_INT16;
  assign scale16  = cmd_i[weft_cmd_pkg::POST_SCALE16_LSB];
  assign fp       = cmd_i[weft_cmd_pkg::POST_MODE_LSB +: weft_cmd_pkg::POST_MODE_W] == weft_cmd_pkg::POST_MODE_V_FLOAT8;
  assign mac_ok   = !(scale16 && cmd_i[weft_cmd_pkg::POST_DOUBLE_ROUND_LSB]) && !(fp && cmd_i[weft_cmd_pkg::POST_X_FMT_LSB + 2]);
  assign lookup   = cmd_i[weft_cmd_pkg::ELT_TABLE_LSB];
  assign product  = cmd_i[weft_cmd_pkg::ELT_MUL_LSB];
  assign dw_lookup = weft_cfg_pkg::HAS_DWTABLE && cmd_i[weft_cmd_pkg::DW_TABLE_LSB];   // without it, another check refuses the bit
  assign word_ok  = cmd_i[weft_cmd_pkg::POST_B_BASE_LSB +: weft_cfg_pkg::LOG2_N] == '0;
  assign elt_ok   = !(add && lookup) && !(add && product) && !(lookup && product) && (!lookup || word_ok);
  assign coded    = weft_cfg_pkg::HAS_CODED && cmd_i[weft_cmd_pkg::LOAD_CODED_LSB +: 15] != '0;   // without it, as dw_lookup
  assign one_row  = cmd_i[weft_cmd_pkg::LOAD_N1_LSB +: 16] == 16'd1 && cmd_i[weft_cmd_pkg::LOAD_N2_LSB +: 16] == 16'd1 &&
                    cmd_i[weft_cmd_pkg::LOAD_N3_LSB +: 16] == 16'd1;
  assign whole_ok = cmd_i[weft_cmd_pkg::LOAD_DRAM_OFF_LSB +: weft_cfg_pkg::LOG2_N] == '0 &&
                    cmd_i[weft_cmd_pkg::LOAD_ROW_BYTES_LSB +: weft_cfg_pkg::LOG2_N] == '0 &&
                    cmd_i[weft_cmd_pkg::LOAD_SP_ADDR_LSB +: weft_cfg_pkg::LOG2_N] == '0;
  assign no_centre = !weft_cfg_pkg::HAS_CODED || cmd_i[weft_cmd_pkg::LOAD_CENTRE_LSB +: 8] == '0;
  assign coded_ok = coded ? one_row && whole_ok && !cmd_i[weft_cmd_pkg::LOAD_INT4_LSB] : no_centre;
  assign raw      = cmd_i[weft_cmd_pkg::POST_RAW_LSB];
  assign keep     = cmd_i[weft_cmd_pkg::CONV_KEEP_LSB];
  assign two      = weft_cfg_pkg::HAS_PAIRS && cmd_i[weft_cmd_pkg::CONV_PAIRS_LSB] && oc > 16'(N);
  assign stride_x = cmd_i[weft_cmd_pkg::DW_STRIDE_X_LSB +: 4];

  assign n_ky     = cmd_i[weft_cmd_pkg::DW_N_KY_LSB +: 4];
  assign n_kx     = cmd_i[weft_cmd_pkg::DW_N_KX_LSB +: 4];
  assign kernel_ok = n_ky == 4'd0 ? n_kx == 4'd0 : n_kx >= 4'd3;

  // Products against a constant, by the smaller factor: no multiplier.
  logic few, narrow;
  always_comb begin
    few = 1'b0;     // ow*oh <= N, or N/2
    for (int unsigned i = 1; i <= N; i++) begin
      if (ow == 16'(i)) few = oh <= (two ? 16'(N / 2 / i) : 16'(N / i));
    end
    narrow = 1'b0;  // (ow-1)*stride_x + 3 <= DW_LINE, half of that in int16; + 9 and half with n_ky
    for (int unsigned i = 1; i < 16; i++) begin
      if (stride_x == 4'(i))
        narrow = ow <= (n_ky != 4'd0 ? 16'((weft_cfg_pkg::DW_LINE / 2 - 9) / i + 1)
                              : int16 ? 16'((weft_cfg_pkg::DW_LINE / 2 - 3) / i + 1)
                              : 16'((weft_cfg_pkg::DW_LINE - 3) / i + 1));
    end
  end

  always_comb begin
    ok_o = 1'b1;
    case (cmd_i[weft_cmd_pkg::HEADER_OP_LSB +: 8])
      weft_cmd_pkg::OP_CONV: ok_o = mac_ok && !(raw && add) && (!keep || (few && oc <= (two ? 16'(2*N) : 16'(N))));
      weft_cmd_pkg::OP_DW:   ok_o = mac_ok && !add && narrow && kernel_ok && (!dw_lookup || word_ok);
      weft_cmd_pkg::OP_POOL: ok_o = !scale16 && !raw && !add && !(fp && cmd_i[weft_cmd_pkg::POOL_SUM_LSB]);
      weft_cmd_pkg::OP_ELT:  ok_o = !scale16 && !raw && elt_ok;
      weft_cmd_pkg::OP_LOAD: ok_o = coded_ok;
      weft_cmd_pkg::OP_STORE: ok_o = !cmd_i[weft_cmd_pkg::LOAD_INT4_LSB] && !coded && no_centre;
      default: ;
    endcase
  end

`ifdef WEFT_ASSERT
  // The header's sentences once more, with products; of commands whose fields are in range.
  logic [7:0]  op;
  logic        is_conv, is_dw, is_pool, is_elt, in_range;
  logic [31:0] pixels, columns;
  logic [15:0] broken;
  always_comb begin
    op       = cmd_i[weft_cmd_pkg::HEADER_OP_LSB +: 8];
    is_conv  = op == weft_cmd_pkg::OP_CONV;
    is_dw    = op == weft_cmd_pkg::OP_DW;
    is_pool  = op == weft_cmd_pkg::OP_POOL;
    is_elt   = op == weft_cmd_pkg::OP_ELT;
    in_range = ow != '0 && oh != '0 && oc != '0 && (!is_dw || stride_x != '0);
    pixels   = 32'(ow) * 32'(oh);
    columns  = (32'(ow) - 32'd1) * 32'(stride_x) + (n_ky != '0 ? 32'd9 : 32'd3);
    if (int16 || n_ky != '0) columns = columns * 32'd2;
    broken = '0;
    broken[0]  = is_conv && keep && (two ? oc > 16'(2*N) || pixels > N / 2 : oc > 16'(N) || pixels > N);
    broken[1]  = (is_dw || is_pool) && add;
    broken[2]  = is_dw && columns > weft_cfg_pkg::DW_LINE;
    broken[3]  = is_dw && ((n_ky == '0) != (n_kx == '0) || (n_ky != '0 && n_kx < 4'd3));
    broken[4]  = (is_pool || is_elt) && scale16;
    broken[5]  = (is_conv || is_dw) && scale16 && cmd_i[weft_cmd_pkg::POST_DOUBLE_ROUND_LSB];
    broken[6]  = (is_conv || is_dw) && fp && cmd_i[weft_cmd_pkg::POST_X_FMT_LSB + 2];
    broken[7]  = is_pool && fp && cmd_i[weft_cmd_pkg::POOL_SUM_LSB];
    broken[8]  = op == weft_cmd_pkg::OP_STORE && cmd_i[weft_cmd_pkg::LOAD_INT4_LSB];
    broken[9]  = raw && (is_pool || is_elt || (is_conv && add));
    broken[10] = is_elt && 2'(add) + 2'(lookup) + 2'(product) > 2'd1;
    broken[12] = is_dw && dw_lookup && cmd_i[weft_cmd_pkg::POST_B_BASE_LSB +: 20] % 20'(N) != '0;
    broken[11] = is_elt && lookup && cmd_i[weft_cmd_pkg::POST_B_BASE_LSB +: 20] % 20'(N) != '0;
    broken[13] = op == weft_cmd_pkg::OP_STORE && (coded || !no_centre);
    broken[14] = op == weft_cmd_pkg::OP_LOAD && coded &&
                 (!one_row || cmd_i[weft_cmd_pkg::LOAD_INT4_LSB] || cmd_i[weft_cmd_pkg::LOAD_ROW_BYTES_LSB +: 20] % 20'(N) != '0 ||
                  cmd_i[weft_cmd_pkg::LOAD_DRAM_OFF_LSB +: 40] % 40'(N) != '0 ||
                  cmd_i[weft_cmd_pkg::LOAD_SP_ADDR_LSB +: 20] % 20'(N) != '0);
    broken[15] = op == weft_cmd_pkg::OP_LOAD && !coded && !no_centre;
    if (in_range) assert (ok_o == (broken == '0));
  end
`endif

endmodule
