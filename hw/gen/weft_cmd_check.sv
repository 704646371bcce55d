// Generated from include/spec/cmd.toml by tools/gen.py; edit that and run `make gen`.
// SPDX-License-Identifier: Apache-2.0
//
// What the command set says of one whole command; combinational.
//
//   words_o  words of this opcode, 0 where there is no such opcode
//   unit_o   unit that executes it
//   fault_o  first that applies: BAD_OP, BAD_LEN, BAD_FIELD for reserved bits,
//            alignment and fields that the mode does not have, then the first field
//            outside its range or the configuration; else NONE
//
// Words beyond words_o are not looked at. Same in C: weft_cmd_fault().
// With opcode 0 (no command yet) a simulator skips the fields.
module weft_cmd_check
(
  input  weft_cmd_pkg::cmd_t cmd_i,
  output logic [7:0] words_o,
  output logic [7:0] unit_o,
  output logic [7:0] fault_o
);

  logic x_two;  // an element has two bytes
  assign x_two = (cmd_i[240 +: 3] == 3'd1) || (cmd_i[240 +: 3] == 3'd2 && cmd_i[566 +: 3] == 3'd4);
  logic b_two;  // an element has two bytes
  assign b_two = (cmd_i[240 +: 3] == 3'd1) || (cmd_i[240 +: 3] == 3'd2 && cmd_i[571 +: 3] == 3'd4);
  logic out_two;  // an element has two bytes
  assign out_two = (cmd_i[240 +: 3] == 3'd1) || (cmd_i[240 +: 3] == 3'd2 && cmd_i[251 +: 3] == 3'd4);
  logic not_1;  // the mode is none of bits 0x1
  assign not_1 = cmd_i[240 +: 3] != 3'd0;
  logic not_2;  // the mode is none of bits 0x2
  assign not_2 = cmd_i[240 +: 3] != 3'd1;
  logic not_3;  // the mode is none of bits 0x3
  assign not_3 = cmd_i[240 +: 3] != 3'd0 && cmd_i[240 +: 3] != 3'd1;
  logic not_4;  // the mode is none of bits 0x4
  assign not_4 = cmd_i[240 +: 3] != 3'd2;

  logic [7:0] post_fault;
  always_comb begin
    post_fault = weft_cmd_pkg::FAULT_NONE;
    if (cmd_i[weft_cmd_pkg::HEADER_OP_LSB +: weft_cmd_pkg::HEADER_OP_W] != '0) begin
      if ((cmd_i[weft_cmd_pkg::POST_S_EVEN_LSB +: weft_cmd_pkg::POST_S_EVEN_W] != '0 && !weft_cfg_pkg::HAS_EVEN)) post_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::POST_EVEN_LSB +: weft_cmd_pkg::POST_EVEN_W] != '0 && !weft_cfg_pkg::HAS_EVEN)) post_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::POST_B_FMT_LSB +: weft_cmd_pkg::POST_B_FMT_W] > weft_cmd_pkg::POST_B_FMT_MAX)) post_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::POST_X_FMT_LSB +: weft_cmd_pkg::POST_X_FMT_W] > weft_cmd_pkg::POST_X_FMT_MAX)) post_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::POST_S_SHIFT_LSB +: weft_cmd_pkg::POST_S_SHIFT_W] < weft_cmd_pkg::POST_S_SHIFT_MIN) || (cmd_i[weft_cmd_pkg::POST_S_SHIFT_LSB +: weft_cmd_pkg::POST_S_SHIFT_W] > weft_cmd_pkg::POST_S_SHIFT_MAX)) post_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::POST_B_SHIFT_LSB +: weft_cmd_pkg::POST_B_SHIFT_W] < weft_cmd_pkg::POST_B_SHIFT_MIN) || (cmd_i[weft_cmd_pkg::POST_B_SHIFT_LSB +: weft_cmd_pkg::POST_B_SHIFT_W] > weft_cmd_pkg::POST_B_SHIFT_MAX)) post_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::POST_SUB_LSB +: weft_cmd_pkg::POST_SUB_W] != '0 && !weft_cfg_pkg::HAS_SUB)) post_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::POST_A_SHIFT_LSB +: weft_cmd_pkg::POST_A_SHIFT_W] < weft_cmd_pkg::POST_A_SHIFT_MIN) || (cmd_i[weft_cmd_pkg::POST_A_SHIFT_LSB +: weft_cmd_pkg::POST_A_SHIFT_W] > weft_cmd_pkg::POST_A_SHIFT_MAX)) post_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::POST_S_MUL_LSB +: weft_cmd_pkg::POST_S_MUL_W] > weft_cmd_pkg::POST_S_MUL_MAX)) post_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::POST_B_MUL_LSB +: weft_cmd_pkg::POST_B_MUL_W] > weft_cmd_pkg::POST_B_MUL_MAX)) post_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::POST_A_MUL_LSB +: weft_cmd_pkg::POST_A_MUL_W] > weft_cmd_pkg::POST_A_MUL_MAX)) post_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::POST_RAW_LSB +: weft_cmd_pkg::POST_RAW_W] != '0 && !weft_cfg_pkg::HAS_RAW)) post_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::POST_OUT_FMT_LSB +: weft_cmd_pkg::POST_OUT_FMT_W] > weft_cmd_pkg::POST_OUT_FMT_MAX)) post_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::POST_PRE_SHIFT_LSB +: weft_cmd_pkg::POST_PRE_SHIFT_W] > weft_cmd_pkg::POST_PRE_SHIFT_MAX)) post_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::POST_MODE_LSB +: weft_cmd_pkg::POST_MODE_W] > weft_cmd_pkg::POST_MODE_MAX) || (((weft_cfg_pkg::FEATURES_VALUE >> cmd_i[weft_cmd_pkg::POST_MODE_LSB +: weft_cmd_pkg::POST_MODE_W]) & 32'd1) == 32'd0)) post_fault = weft_cmd_pkg::FAULT_BAD_MODE;
      if ((cmd_i[weft_cmd_pkg::POST_OC_LSB +: weft_cmd_pkg::POST_OC_W] < weft_cmd_pkg::POST_OC_MIN)) post_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::POST_OH_LSB +: weft_cmd_pkg::POST_OH_W] < weft_cmd_pkg::POST_OH_MIN)) post_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::POST_OW_LSB +: weft_cmd_pkg::POST_OW_W] < weft_cmd_pkg::POST_OW_MIN)) post_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
    end
  end

  logic [7:0] load_fault;
  always_comb begin
    load_fault = weft_cmd_pkg::FAULT_NONE;
    if (cmd_i[weft_cmd_pkg::HEADER_OP_LSB +: weft_cmd_pkg::HEADER_OP_W] != '0) begin
      if (($signed(cmd_i[weft_cmd_pkg::LOAD_CENTRE_LSB +: weft_cmd_pkg::LOAD_CENTRE_W]) != '0 && !weft_cfg_pkg::HAS_CODED)) load_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::LOAD_CODED_LSB +: weft_cmd_pkg::LOAD_CODED_W] != '0 && !weft_cfg_pkg::HAS_CODED)) load_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::LOAD_INT4_LSB +: weft_cmd_pkg::LOAD_INT4_W] != '0 && !weft_cfg_pkg::HAS_INT4)) load_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::LOAD_N3_LSB +: weft_cmd_pkg::LOAD_N3_W] < weft_cmd_pkg::LOAD_N3_MIN)) load_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::LOAD_N2_LSB +: weft_cmd_pkg::LOAD_N2_W] < weft_cmd_pkg::LOAD_N2_MIN)) load_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::LOAD_N1_LSB +: weft_cmd_pkg::LOAD_N1_W] < weft_cmd_pkg::LOAD_N1_MIN)) load_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::LOAD_ROW_BYTES_LSB +: weft_cmd_pkg::LOAD_ROW_BYTES_W] < weft_cmd_pkg::LOAD_ROW_BYTES_MIN)) load_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
    end
  end

  logic [7:0] conv_fault;
  always_comb begin
    conv_fault = weft_cmd_pkg::FAULT_NONE;
    if (cmd_i[weft_cmd_pkg::HEADER_OP_LSB +: weft_cmd_pkg::HEADER_OP_W] != '0) begin
      if (($signed(cmd_i[weft_cmd_pkg::CONV_W_ZP_LSB +: weft_cmd_pkg::CONV_W_ZP_W]) < weft_cmd_pkg::CONV_W_ZP_MIN) || ($signed(cmd_i[weft_cmd_pkg::CONV_W_ZP_LSB +: weft_cmd_pkg::CONV_W_ZP_W]) > weft_cmd_pkg::CONV_W_ZP_MAX)) conv_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if (($signed(cmd_i[weft_cmd_pkg::CONV_X_ZP_LSB +: weft_cmd_pkg::CONV_X_ZP_W]) < weft_cmd_pkg::CONV_X_ZP_MIN) || ($signed(cmd_i[weft_cmd_pkg::CONV_X_ZP_LSB +: weft_cmd_pkg::CONV_X_ZP_W]) > weft_cmd_pkg::CONV_X_ZP_MAX)) conv_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::CONV_X_LIMIT_LSB +: weft_cmd_pkg::CONV_X_LIMIT_W] < weft_cmd_pkg::CONV_X_LIMIT_MIN)) conv_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::CONV_IN_H_LSB +: weft_cmd_pkg::CONV_IN_H_W] < weft_cmd_pkg::CONV_IN_H_MIN)) conv_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::CONV_TURNS_LSB +: weft_cmd_pkg::CONV_TURNS_W] != '0 && !weft_cfg_pkg::HAS_TURNS)) conv_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::CONV_P_SHORT_LSB +: weft_cmd_pkg::CONV_P_SHORT_W] != '0 && !weft_cfg_pkg::HAS_P_SHORT)) conv_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::CONV_PAIRS_LSB +: weft_cmd_pkg::CONV_PAIRS_W] != '0 && !weft_cfg_pkg::HAS_PAIRS)) conv_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::CONV_DIL_Y_LSB +: weft_cmd_pkg::CONV_DIL_Y_W] < weft_cmd_pkg::CONV_DIL_Y_MIN) || (cmd_i[weft_cmd_pkg::CONV_DIL_Y_LSB +: weft_cmd_pkg::CONV_DIL_Y_W] > weft_cmd_pkg::CONV_DIL_Y_MAX)) conv_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::CONV_STRIDE_Y_LSB +: weft_cmd_pkg::CONV_STRIDE_Y_W] < weft_cmd_pkg::CONV_STRIDE_Y_MIN) || (cmd_i[weft_cmd_pkg::CONV_STRIDE_Y_LSB +: weft_cmd_pkg::CONV_STRIDE_Y_W] > weft_cmd_pkg::CONV_STRIDE_Y_MAX)) conv_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::CONV_N_KX_LSB +: weft_cmd_pkg::CONV_N_KX_W] < weft_cmd_pkg::CONV_N_KX_MIN)) conv_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::CONV_N_KY_LSB +: weft_cmd_pkg::CONV_N_KY_W] < weft_cmd_pkg::CONV_N_KY_MIN)) conv_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::CONV_RUN_LEN_LSB +: weft_cmd_pkg::CONV_RUN_LEN_W] < weft_cmd_pkg::CONV_RUN_LEN_MIN)) conv_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
    end
  end

  logic [7:0] dw_fault;
  always_comb begin
    dw_fault = weft_cmd_pkg::FAULT_NONE;
    if (cmd_i[weft_cmd_pkg::HEADER_OP_LSB +: weft_cmd_pkg::HEADER_OP_W] != '0) begin
      if ((cmd_i[weft_cmd_pkg::DW_P_SHORT_LSB +: weft_cmd_pkg::DW_P_SHORT_W] != '0 && !weft_cfg_pkg::HAS_P_SHORT)) dw_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::DW_TABLE_LSB +: weft_cmd_pkg::DW_TABLE_W] != '0 && !weft_cfg_pkg::HAS_DWTABLE)) dw_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::DW_N_KX_LSB +: weft_cmd_pkg::DW_N_KX_W] > weft_cmd_pkg::DW_N_KX_MAX) || (cmd_i[weft_cmd_pkg::DW_N_KX_LSB +: weft_cmd_pkg::DW_N_KX_W] != '0 && !weft_cfg_pkg::HAS_DWK)) dw_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::DW_N_KY_LSB +: weft_cmd_pkg::DW_N_KY_W] != '0 && !weft_cfg_pkg::HAS_DWK)) dw_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::DW_STRIDE_X_LSB +: weft_cmd_pkg::DW_STRIDE_X_W] < weft_cmd_pkg::DW_STRIDE_X_MIN)) dw_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::DW_STRIDE_Y_LSB +: weft_cmd_pkg::DW_STRIDE_Y_W] < weft_cmd_pkg::DW_STRIDE_Y_MIN)) dw_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::DW_IN_W_LSB +: weft_cmd_pkg::DW_IN_W_W] < weft_cmd_pkg::DW_IN_W_MIN)) dw_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::DW_IN_H_LSB +: weft_cmd_pkg::DW_IN_H_W] < weft_cmd_pkg::DW_IN_H_MIN)) dw_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
    end
  end

  logic [7:0] pool_fault;
  always_comb begin
    pool_fault = weft_cmd_pkg::FAULT_NONE;
    if (cmd_i[weft_cmd_pkg::HEADER_OP_LSB +: weft_cmd_pkg::HEADER_OP_W] != '0) begin
      if ((cmd_i[weft_cmd_pkg::POOL_N_KX_LSB +: weft_cmd_pkg::POOL_N_KX_W] < weft_cmd_pkg::POOL_N_KX_MIN)) pool_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::POOL_N_KY_LSB +: weft_cmd_pkg::POOL_N_KY_W] < weft_cmd_pkg::POOL_N_KY_MIN)) pool_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
    end
  end

  logic [7:0] elt_fault;
  always_comb begin
    elt_fault = weft_cmd_pkg::FAULT_NONE;
    if (cmd_i[weft_cmd_pkg::HEADER_OP_LSB +: weft_cmd_pkg::HEADER_OP_W] != '0) begin
      if ((cmd_i[weft_cmd_pkg::ELT_MUL_LSB +: weft_cmd_pkg::ELT_MUL_W] != '0 && !weft_cfg_pkg::HAS_MUL)) elt_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::ELT_TABLE_LSB +: weft_cmd_pkg::ELT_TABLE_W] != '0 && !weft_cfg_pkg::HAS_TABLE)) elt_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
    end
  end

  logic [7:0] alu_fault;
  always_comb begin
    alu_fault = weft_cmd_pkg::FAULT_NONE;
    if (cmd_i[weft_cmd_pkg::HEADER_OP_LSB +: weft_cmd_pkg::HEADER_OP_W] != '0) begin
      if ((cmd_i[weft_cmd_pkg::ALU_EVEN_LSB +: weft_cmd_pkg::ALU_EVEN_W] != '0 && !weft_cfg_pkg::HAS_EVEN)) alu_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::ALU_FUNC_LSB +: weft_cmd_pkg::ALU_FUNC_W] > weft_cmd_pkg::ALU_FUNC_MAX)) alu_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::ALU_OUT_TYPE_LSB +: weft_cmd_pkg::ALU_OUT_TYPE_W] > weft_cmd_pkg::ALU_OUT_TYPE_MAX)) alu_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::ALU_C_TYPE_LSB +: weft_cmd_pkg::ALU_C_TYPE_W] > weft_cmd_pkg::ALU_C_TYPE_MAX)) alu_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::ALU_B_TYPE_LSB +: weft_cmd_pkg::ALU_B_TYPE_W] > weft_cmd_pkg::ALU_B_TYPE_MAX)) alu_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::ALU_A_TYPE_LSB +: weft_cmd_pkg::ALU_A_TYPE_W] > weft_cmd_pkg::ALU_A_TYPE_MAX)) alu_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::ALU_N3_LSB +: weft_cmd_pkg::ALU_N3_W] < weft_cmd_pkg::ALU_N3_MIN)) alu_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::ALU_N2_LSB +: weft_cmd_pkg::ALU_N2_W] < weft_cmd_pkg::ALU_N2_MIN)) alu_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::ALU_N1_LSB +: weft_cmd_pkg::ALU_N1_W] < weft_cmd_pkg::ALU_N1_MIN)) alu_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
      if ((cmd_i[weft_cmd_pkg::ALU_N0_LSB +: weft_cmd_pkg::ALU_N0_W] < weft_cmd_pkg::ALU_N0_MIN)) alu_fault = weft_cmd_pkg::FAULT_BAD_FIELD;
    end
  end

  logic [7:0] range_fault;
  logic bad_bits;

  always_comb begin
    words_o = 8'd0;
    unit_o = weft_cmd_pkg::UNIT_CP;
    range_fault = weft_cmd_pkg::FAULT_NONE;
    bad_bits = 1'b0;
    case (cmd_i[weft_cmd_pkg::HEADER_OP_LSB +: weft_cmd_pkg::HEADER_OP_W])
      weft_cmd_pkg::OP_END: begin
        words_o = weft_cmd_pkg::END_WORDS;
        unit_o = weft_cmd_pkg::UNIT_CP;
        bad_bits = ((cmd_i[127:0] & 128'hffff0000) != '0);
      end
      weft_cmd_pkg::OP_LOAD: begin
        words_o = weft_cmd_pkg::LOAD_WORDS;
        unit_o = weft_cmd_pkg::UNIT_LD;
        bad_bits = ((cmd_i[447:0] & 448'hf00000000000000000000000000000000000000000000000000000000000000000000000000000f8000000000000000000000000ffff0000) != '0);
        range_fault = load_fault;
      end
      weft_cmd_pkg::OP_STORE: begin
        words_o = weft_cmd_pkg::STORE_WORDS;
        unit_o = weft_cmd_pkg::UNIT_ST;
        bad_bits = ((cmd_i[447:0] & 448'hf00000000000000000000000000000000000000000000000000000000000000000000000000000f8000000000000000000000000ffff0000) != '0);
        range_fault = load_fault;
      end
      weft_cmd_pkg::OP_CONV: begin
        words_o = weft_cmd_pkg::CONV_WORDS;
        unit_o = weft_cmd_pkg::UNIT_CV;
        bad_bits = ((cmd_i[1023:0] & 1024'hffffffffffffffc0ffffff0000000000fffe000000e00000fff0000000000000f0c000c000000000f000000000000000f0000000000000000000c0800000000000000000000000000000000000000000f00000000000000000000000000000000000000000000000f000000000000000000000000000000000000000ffff0000) != '0)
          || (cmd_i[896 +: weft_cfg_pkg::LOG2_N] != '0)
          || (cmd_i[916 +: weft_cfg_pkg::LOG2_N] != '0)
          || (out_two && cmd_i[128])
          || (out_two && cmd_i[148])
          || (out_two && cmd_i[168])
          || (b_two && cmd_i[320])
          || (b_two && cmd_i[340])
          || (b_two && cmd_i[360])
          || (x_two && cmd_i[576])
          || (x_two && cmd_i[596])
          || (x_two && cmd_i[616])
          || (x_two && cmd_i[640])
          || (x_two && cmd_i[660])
          || (x_two && cmd_i[680])
          || (x_two && cmd_i[800])
          || (x_two && cmd_i[832])
          || (not_3 && cmd_i[243 +: 1] != '0)
          || (not_2 && cmd_i[244 +: 1] != '0)
          || (not_3 && cmd_i[246 +: 5] != '0)
          || (not_4 && cmd_i[251 +: 3] != '0)
          || (not_4 && cmd_i[254 +: 1] != '0)
          || (not_3 && cmd_i[255 +: 1] != '0)
          || (not_3 && cmd_i[256 +: 16] != '0)
          || (not_3 && cmd_i[304 +: 16] != '0)
          || (not_3 && cmd_i[384 +: 16] != '0)
          || (not_3 && cmd_i[400 +: 16] != '0)
          || (not_3 && cmd_i[448 +: 32] != '0)
          || (not_3 && cmd_i[480 +: 32] != '0)
          || (not_3 && cmd_i[512 +: 32] != '0)
          || (not_3 && cmd_i[550 +: 1] != '0)
          || (not_4 && cmd_i[566 +: 3] != '0)
          || (not_4 && cmd_i[569 +: 2] != '0)
          || (not_4 && cmd_i[571 +: 3] != '0)
          || (not_3 && cmd_i[574 +: 1] != '0)
          || (not_3 && cmd_i[575 +: 1] != '0)
          || (not_3 && cmd_i[761 +: 1] != '0)
          || (not_1 && cmd_i[856 +: 16] != '0)
          || (not_3 && cmd_i[872 +: 9] != '0)
          || (not_4 && cmd_i[960 +: 6] != '0);
        range_fault = (post_fault != weft_cmd_pkg::FAULT_NONE) ? post_fault : conv_fault;
      end
      weft_cmd_pkg::OP_DW: begin
        words_o = weft_cmd_pkg::DW_WORDS;
        unit_o = weft_cmd_pkg::UNIT_VE;
        bad_bits = ((cmd_i[831:0] & 832'hfffffffffffc00c000000000000000000000000000000000f0000000000000000000c0800000000000000000000000000000000000000000f00000000000000000000000000000000000000000000000f000000000000000000000000000000000000000ffff0000) != '0)
          || (cmd_i[704 +: weft_cfg_pkg::LOG2_N] != '0)
          || (cmd_i[724 +: weft_cfg_pkg::LOG2_N] != '0)
          || (out_two && cmd_i[128])
          || (out_two && cmd_i[148])
          || (out_two && cmd_i[168])
          || (b_two && cmd_i[320])
          || (b_two && cmd_i[340])
          || (b_two && cmd_i[360])
          || (x_two && cmd_i[576])
          || (x_two && cmd_i[596])
          || (x_two && cmd_i[616])
          || (not_3 && cmd_i[243 +: 1] != '0)
          || (not_2 && cmd_i[244 +: 1] != '0)
          || (not_3 && cmd_i[246 +: 5] != '0)
          || (not_4 && cmd_i[251 +: 3] != '0)
          || (not_4 && cmd_i[254 +: 1] != '0)
          || (not_3 && cmd_i[255 +: 1] != '0)
          || (not_3 && cmd_i[256 +: 16] != '0)
          || (not_3 && cmd_i[304 +: 16] != '0)
          || (not_3 && cmd_i[384 +: 16] != '0)
          || (not_3 && cmd_i[400 +: 16] != '0)
          || (not_3 && cmd_i[448 +: 32] != '0)
          || (not_3 && cmd_i[480 +: 32] != '0)
          || (not_3 && cmd_i[512 +: 32] != '0)
          || (not_3 && cmd_i[550 +: 1] != '0)
          || (not_4 && cmd_i[566 +: 3] != '0)
          || (not_4 && cmd_i[569 +: 2] != '0)
          || (not_4 && cmd_i[571 +: 3] != '0)
          || (not_3 && cmd_i[574 +: 1] != '0)
          || (not_3 && cmd_i[575 +: 1] != '0)
          || (not_1 && cmd_i[752 +: 8] != '0)
          || (not_3 && cmd_i[760 +: 8] != '0)
          || (not_4 && cmd_i[768 +: 6] != '0)
          || (not_3 && cmd_i[776 +: 4] != '0)
          || (not_3 && cmd_i[780 +: 4] != '0)
          || (not_1 && cmd_i[784 +: 1] != '0);
        range_fault = (post_fault != weft_cmd_pkg::FAULT_NONE) ? post_fault : dw_fault;
      end
      weft_cmd_pkg::OP_POOL: begin
        words_o = weft_cmd_pkg::POOL_WORDS;
        unit_o = weft_cmd_pkg::UNIT_VE;
        bad_bits = ((cmd_i[767:0] & 768'hffffffff00000000fffe000000000000f0000000000000000000c0800000000000000000000000000000000000000000f00000000000000000000000000000000000000000000000f000000000000000000000000000000000000000ffff0000) != '0)
          || (out_two && cmd_i[128])
          || (out_two && cmd_i[148])
          || (out_two && cmd_i[168])
          || (b_two && cmd_i[320])
          || (b_two && cmd_i[340])
          || (b_two && cmd_i[360])
          || (x_two && cmd_i[576])
          || (x_two && cmd_i[596])
          || (x_two && cmd_i[616])
          || (x_two && cmd_i[640])
          || (x_two && cmd_i[660])
          || (not_3 && cmd_i[243 +: 1] != '0)
          || (not_2 && cmd_i[244 +: 1] != '0)
          || (not_3 && cmd_i[246 +: 5] != '0)
          || (not_4 && cmd_i[251 +: 3] != '0)
          || (not_4 && cmd_i[254 +: 1] != '0)
          || (not_3 && cmd_i[255 +: 1] != '0)
          || (not_3 && cmd_i[256 +: 16] != '0)
          || (not_3 && cmd_i[304 +: 16] != '0)
          || (not_3 && cmd_i[384 +: 16] != '0)
          || (not_3 && cmd_i[400 +: 16] != '0)
          || (not_3 && cmd_i[448 +: 32] != '0)
          || (not_3 && cmd_i[480 +: 32] != '0)
          || (not_3 && cmd_i[512 +: 32] != '0)
          || (not_3 && cmd_i[550 +: 1] != '0)
          || (not_4 && cmd_i[566 +: 3] != '0)
          || (not_4 && cmd_i[569 +: 2] != '0)
          || (not_4 && cmd_i[571 +: 3] != '0)
          || (not_3 && cmd_i[574 +: 1] != '0)
          || (not_3 && cmd_i[575 +: 1] != '0)
          || (not_3 && cmd_i[680 +: 8] != '0);
        range_fault = (post_fault != weft_cmd_pkg::FAULT_NONE) ? post_fault : pool_fault;
      end
      weft_cmd_pkg::OP_ELT: begin
        words_o = weft_cmd_pkg::ELT_WORDS;
        unit_o = weft_cmd_pkg::UNIT_VE;
        bad_bits = ((cmd_i[639:0] & 640'hc0000000000000000000c0800000000000000000000000000000000000000000f00000000000000000000000000000000000000000000000f000000000000000000000000000000000000000ffff0000) != '0)
          || (out_two && cmd_i[128])
          || (out_two && cmd_i[148])
          || (out_two && cmd_i[168])
          || (b_two && cmd_i[320])
          || (b_two && cmd_i[340])
          || (b_two && cmd_i[360])
          || (x_two && cmd_i[576])
          || (x_two && cmd_i[596])
          || (x_two && cmd_i[616])
          || (not_3 && cmd_i[243 +: 1] != '0)
          || (not_2 && cmd_i[244 +: 1] != '0)
          || (not_3 && cmd_i[246 +: 5] != '0)
          || (not_4 && cmd_i[251 +: 3] != '0)
          || (not_4 && cmd_i[254 +: 1] != '0)
          || (not_3 && cmd_i[255 +: 1] != '0)
          || (not_3 && cmd_i[256 +: 16] != '0)
          || (not_3 && cmd_i[304 +: 16] != '0)
          || (not_3 && cmd_i[384 +: 16] != '0)
          || (not_3 && cmd_i[400 +: 16] != '0)
          || (not_3 && cmd_i[448 +: 32] != '0)
          || (not_3 && cmd_i[480 +: 32] != '0)
          || (not_3 && cmd_i[512 +: 32] != '0)
          || (not_3 && cmd_i[550 +: 1] != '0)
          || (not_4 && cmd_i[566 +: 3] != '0)
          || (not_4 && cmd_i[569 +: 2] != '0)
          || (not_4 && cmd_i[571 +: 3] != '0)
          || (not_3 && cmd_i[574 +: 1] != '0)
          || (not_3 && cmd_i[575 +: 1] != '0)
          || (not_1 && cmd_i[636 +: 1] != '0)
          || (not_3 && cmd_i[637 +: 1] != '0);
        range_fault = (post_fault != weft_cmd_pkg::FAULT_NONE) ? post_fault : elt_fault;
      end
      weft_cmd_pkg::OP_ALU: if (weft_cfg_pkg::HAS_ALU) begin
        words_o = weft_cmd_pkg::ALU_WORDS;
        unit_o = weft_cmd_pkg::UNIT_VE;
        bad_bits = ((cmd_i[895:0] & 896'hff0000000000000000000000000000000000000000000000fe000000000000008000000000000000ffffff00000000008000000000000000fe000000000000008000000000000000fe0000000000000080000000000000000000000000000000000000000000000000000000ffff0000) != '0);
        range_fault = alu_fault;
      end
      default: ;
    endcase
  end

  always_comb begin
    fault_o = range_fault;
    if (words_o == 8'd0) fault_o = weft_cmd_pkg::FAULT_BAD_OP;
    else if (cmd_i[weft_cmd_pkg::HEADER_N_WORDS_LSB +: weft_cmd_pkg::HEADER_N_WORDS_W] != words_o)
      fault_o = weft_cmd_pkg::FAULT_BAD_LEN;
    else if (bad_bits) fault_o = weft_cmd_pkg::FAULT_BAD_FIELD;
  end

endmodule
