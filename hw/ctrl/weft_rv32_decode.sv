// SPDX-License-Identifier: Apache-2.0
//
// Decoder of the control core: RV32I, M, Zicsr, Zifencei, machine mode.
//
// Combinational. Whatever the manuals do not define for this set, and every
// CSR that the core does not have, is KIND_ILLEGAL; so is writing a read-only
// CSR. FENCE and FENCE.I ignore their reserved fields, as the manuals ask.
// rs1_used_o and rs2_used_o name the registers whose value matters; rd_o is 0
// where nothing is written.
module weft_rv32_decode (
  input  logic [31:0] instr_i,

  output logic [3:0]  kind_o,
  output logic [3:0]  alu_o,
  output logic [1:0]  a_o,        // first operand of the ALU
  output logic        b_imm_o,    // second operand: the immediate, else rs2
  output logic [31:0] imm_o,
  output logic        rs1_used_o,
  output logic        rs2_used_o,
  output logic [4:0]  rd_o,
  output logic        jalr_o      // KIND_JUMP: target is rs1 + imm, else pc + imm
);

  localparam logic [6:0] OpLoad   = 7'b0000011;
  localparam logic [6:0] OpFence  = 7'b0001111;
  localparam logic [6:0] OpImm    = 7'b0010011;
  localparam logic [6:0] OpAuipc  = 7'b0010111;
  localparam logic [6:0] OpStore  = 7'b0100011;
  localparam logic [6:0] OpOp     = 7'b0110011;
  localparam logic [6:0] OpLui    = 7'b0110111;
  localparam logic [6:0] OpBranch = 7'b1100011;
  localparam logic [6:0] OpJalr   = 7'b1100111;
  localparam logic [6:0] OpJal    = 7'b1101111;
  localparam logic [6:0] OpSystem = 7'b1110011;

  logic [31:0] imm_i, imm_s, imm_b, imm_u, imm_j;
  assign imm_i = {{20{instr_i[31]}}, instr_i[31:20]};
  assign imm_s = {{20{instr_i[31]}}, instr_i[31:25], instr_i[11:7]};
  assign imm_b = {{19{instr_i[31]}}, instr_i[31], instr_i[7], instr_i[30:25], instr_i[11:8], 1'b0};
  assign imm_u = {instr_i[31:12], 12'b0};
  assign imm_j = {{11{instr_i[31]}}, instr_i[31], instr_i[19:12], instr_i[20], instr_i[30:21], 1'b0};

  logic [2:0]  funct3;
  logic [6:0]  funct7;
  logic [11:0] csr;
  assign funct3 = instr_i[14:12];
  assign funct7 = instr_i[31:25];
  assign csr    = instr_i[31:20];

  // CSRRS and CSRRC (and their immediate forms) with x0 or 0 do not write.
  logic csr_there, csr_writes;
  assign csr_writes = funct3[1:0] == 2'b01 || instr_i[19:15] != 5'd0;
  always_comb begin
    case (csr)
      weft_rv32_pkg::CSR_MSTATUS, weft_rv32_pkg::CSR_MISA, weft_rv32_pkg::CSR_MIE,
      weft_rv32_pkg::CSR_MTVEC, weft_rv32_pkg::CSR_MSCRATCH, weft_rv32_pkg::CSR_MEPC,
      weft_rv32_pkg::CSR_MCAUSE, weft_rv32_pkg::CSR_MTVAL, weft_rv32_pkg::CSR_MIP,
      weft_rv32_pkg::CSR_MCYCLE, weft_rv32_pkg::CSR_MINSTRET,
      weft_rv32_pkg::CSR_MCYCLEH, weft_rv32_pkg::CSR_MINSTRETH,
      weft_rv32_pkg::CSR_MVENDORID, weft_rv32_pkg::CSR_MARCHID,
      weft_rv32_pkg::CSR_MIMPID, weft_rv32_pkg::CSR_MHARTID: csr_there = 1'b1;
      default: csr_there = csr[11:2] == weft_rv32_pkg::CSR_PMPCFG0[11:2] || csr[11:4] == weft_rv32_pkg::CSR_PMPADDR0[11:4];
    endcase
  end

  // The operands' way to the adder is the core's longest, so these look at no more bits of the
  // opcode than tell the formats from each other. Of FENCE and of what is illegal, they mean nothing.
  always_comb begin
    imm_o = imm_i;
    if (instr_i[3]) imm_o = imm_j;
    else if (instr_i[4]) imm_o = instr_i[2] ? imm_u : imm_i;
    else if (instr_i[6:5] == 2'b01) imm_o = imm_s;
    else if (instr_i[6] && !instr_i[2]) imm_o = imm_b;
  end
  assign b_imm_o = !(instr_i[5] && !instr_i[2] && instr_i[6] != instr_i[4]);   // not OP, not a branch

  logic writes_rd;
  assign rd_o = writes_rd ? instr_i[11:7] : 5'd0;

  always_comb begin
    kind_o     = weft_rv32_pkg::KIND_ILLEGAL;
    alu_o      = weft_rv32_pkg::ALU_ADD;
    a_o        = weft_rv32_pkg::A_RS1;
    rs1_used_o = 1'b0;
    rs2_used_o = 1'b0;
    writes_rd  = 1'b0;
    jalr_o     = 1'b0;
    case (instr_i[6:0])
      OpLui: begin
        kind_o    = weft_rv32_pkg::KIND_ALU;
        a_o       = weft_rv32_pkg::A_ZERO;
        writes_rd = 1'b1;
      end
      OpAuipc: begin
        kind_o    = weft_rv32_pkg::KIND_ALU;
        a_o       = weft_rv32_pkg::A_PC;
        writes_rd = 1'b1;
      end
      OpJal: begin
        kind_o    = weft_rv32_pkg::KIND_JUMP;
        writes_rd = 1'b1;
      end
      OpJalr: begin
        if (funct3 == 3'b000) begin
          kind_o     = weft_rv32_pkg::KIND_JUMP;
          rs1_used_o = 1'b1;
          writes_rd  = 1'b1;
          jalr_o     = 1'b1;
        end
      end
      OpBranch: begin
        if (funct3[2:1] != 2'b01) begin
          kind_o     = weft_rv32_pkg::KIND_BRANCH;
          rs1_used_o = 1'b1;
          rs2_used_o = 1'b1;
        end
      end
      OpLoad: begin
        // LB, LH, LW, LBU, LHU
        if (funct3 == 3'b000 || funct3 == 3'b001 || funct3 == 3'b010 ||
            funct3 == 3'b100 || funct3 == 3'b101) begin
          kind_o     = weft_rv32_pkg::KIND_LOAD;
          rs1_used_o = 1'b1;
          writes_rd  = 1'b1;
        end
      end
      OpStore: begin
        if (funct3 == 3'b000 || funct3 == 3'b001 || funct3 == 3'b010) begin
          kind_o     = weft_rv32_pkg::KIND_STORE;
          rs1_used_o = 1'b1;
          rs2_used_o = 1'b1;
        end
      end
      OpImm: begin
        alu_o = {1'b0, funct3};
        if (funct3 == 3'b101) alu_o = {funct7[5], funct3};
        if ((funct3 != 3'b001 && funct3 != 3'b101) || funct7 == 7'b0000000 ||
            (funct3 == 3'b101 && funct7 == 7'b0100000)) begin
          kind_o     = weft_rv32_pkg::KIND_ALU;
          rs1_used_o = 1'b1;
          writes_rd  = 1'b1;
        end
      end
      OpOp: begin
        alu_o = {funct7[5], funct3};
        if (funct7 == 7'b0000001) begin
          kind_o     = funct3[2] ? weft_rv32_pkg::KIND_DIV : weft_rv32_pkg::KIND_MUL;
          rs1_used_o = 1'b1;
          rs2_used_o = 1'b1;
          writes_rd  = 1'b1;
        end else if (funct7 == 7'b0000000 ||
                     (funct7 == 7'b0100000 && (funct3 == 3'b000 || funct3 == 3'b101))) begin
          kind_o     = weft_rv32_pkg::KIND_ALU;
          rs1_used_o = 1'b1;
          rs2_used_o = 1'b1;
          writes_rd  = 1'b1;
        end
      end
      OpFence: begin
        if (funct3 == 3'b000) kind_o = weft_rv32_pkg::KIND_FENCE;
        if (funct3 == 3'b001) kind_o = weft_rv32_pkg::KIND_FENCEI;
      end
      OpSystem: begin
        if (funct3 == 3'b000) begin
          if (instr_i[19:15] == 5'd0 && instr_i[11:7] == 5'd0) begin
            case (csr)
              12'h000: kind_o = weft_rv32_pkg::KIND_ECALL;
              12'h001: kind_o = weft_rv32_pkg::KIND_EBREAK;
              12'h302: kind_o = weft_rv32_pkg::KIND_MRET;
              12'h105: kind_o = weft_rv32_pkg::KIND_WFI;
              default: ;
            endcase
          end
        end else if (funct3 != 3'b100 && csr_there && !(csr_writes && csr[11:10] == 2'b11)) begin
          kind_o     = weft_rv32_pkg::KIND_CSR;
          rs1_used_o = !funct3[2];
          writes_rd  = 1'b1;
        end
      end
      default: ;
    endcase
  end

`ifdef WEFT_ASSERT
  logic legal, writes_csr;
  always_comb begin
    legal      = kind_o != weft_rv32_pkg::KIND_ILLEGAL;
    writes_csr = instr_i[6:0] == OpSystem && funct3[1:0] != 2'b00 && csr_writes;
    // No compressed instructions, no CSR that is not there, none written that is read-only.
    if (instr_i[1:0] != 2'b11) assert (!legal);
    if (kind_o == weft_rv32_pkg::KIND_CSR) assert (csr_there);
    if (writes_csr && csr[11:10] == 2'b11) assert (!legal);
    // Reserved fields of FENCE and FENCE.I do not count.
    if (instr_i[6:0] == OpFence && funct3[2:1] == 2'b00)
      assert (kind_o == (funct3[0] ? weft_rv32_pkg::KIND_FENCEI : weft_rv32_pkg::KIND_FENCE));
    // Nothing is written where rd_o is 0; what is not legal has no operands and writes nothing.
    assert (rd_o == '0 || rd_o == instr_i[11:7]);
    if (!legal || kind_o == weft_rv32_pkg::KIND_STORE || kind_o == weft_rv32_pkg::KIND_BRANCH ||
        kind_o == weft_rv32_pkg::KIND_FENCE || kind_o == weft_rv32_pkg::KIND_FENCEI) assert (rd_o == '0);
    if (!legal) assert (!rs1_used_o && !rs2_used_o);
    // A second register's value matters only where the second operand is none of the immediates, or is stored.
    if (rs2_used_o && b_imm_o) assert (kind_o == weft_rv32_pkg::KIND_STORE);
    if (jalr_o) assert (kind_o == weft_rv32_pkg::KIND_JUMP && rs1_used_o);
  end
`endif

endmodule
