// SPDX-License-Identifier: Apache-2.0
//
// Names inside the control core. Encodings are the RISC-V manuals' (RV32IM,
// Zicsr, machine mode) where they reach software, and ours otherwise.
package weft_rv32_pkg;

  // What an instruction does besides the ALU.
  localparam logic [3:0] KIND_ILLEGAL = 4'd0;
  localparam logic [3:0] KIND_ALU     = 4'd1;   // result to rd, nothing else
  localparam logic [3:0] KIND_LOAD    = 4'd2;
  localparam logic [3:0] KIND_STORE   = 4'd3;
  localparam logic [3:0] KIND_BRANCH  = 4'd4;
  localparam logic [3:0] KIND_JUMP    = 4'd5;   // JAL, JALR
  localparam logic [3:0] KIND_MUL     = 4'd6;
  localparam logic [3:0] KIND_DIV     = 4'd7;   // DIV, DIVU, REM, REMU
  localparam logic [3:0] KIND_CSR     = 4'd8;
  localparam logic [3:0] KIND_ECALL   = 4'd9;
  localparam logic [3:0] KIND_EBREAK  = 4'd10;
  localparam logic [3:0] KIND_MRET    = 4'd11;
  localparam logic [3:0] KIND_WFI     = 4'd12;
  localparam logic [3:0] KIND_FENCE   = 4'd13;  // FENCE: memory is in order already
  localparam logic [3:0] KIND_FENCEI  = 4'd14;  // fetches again

  // ALU: {funct7[5], funct3} of OP.
  localparam logic [3:0] ALU_ADD  = 4'b0000;
  localparam logic [3:0] ALU_SUB  = 4'b1000;
  localparam logic [3:0] ALU_SLL  = 4'b0001;
  localparam logic [3:0] ALU_SLT  = 4'b0010;
  localparam logic [3:0] ALU_SLTU = 4'b0011;
  localparam logic [3:0] ALU_XOR  = 4'b0100;
  localparam logic [3:0] ALU_SRL  = 4'b0101;
  localparam logic [3:0] ALU_SRA  = 4'b1101;
  localparam logic [3:0] ALU_OR   = 4'b0110;
  localparam logic [3:0] ALU_AND  = 4'b0111;

  // First operand of the ALU.
  localparam logic [1:0] A_RS1  = 2'd0;
  localparam logic [1:0] A_PC   = 2'd1;
  localparam logic [1:0] A_ZERO = 2'd2;

  // mcause.
  localparam logic [3:0] CAUSE_FETCH_MISALIGNED = 4'd0;
  localparam logic [3:0] CAUSE_FETCH_FAULT      = 4'd1;
  localparam logic [3:0] CAUSE_ILLEGAL          = 4'd2;
  localparam logic [3:0] CAUSE_BREAKPOINT       = 4'd3;
  localparam logic [3:0] CAUSE_LOAD_MISALIGNED  = 4'd4;
  localparam logic [3:0] CAUSE_LOAD_FAULT       = 4'd5;
  localparam logic [3:0] CAUSE_STORE_MISALIGNED = 4'd6;
  localparam logic [3:0] CAUSE_STORE_FAULT      = 4'd7;
  localparam logic [3:0] CAUSE_ECALL            = 4'd11;
  localparam logic [3:0] IRQ_TIMER              = 4'd7;
  localparam logic [3:0] IRQ_EXTERNAL           = 4'd11;

  localparam logic [11:0] CSR_MSTATUS   = 12'h300;
  localparam logic [11:0] CSR_MISA      = 12'h301;
  localparam logic [11:0] CSR_MIE       = 12'h304;
  localparam logic [11:0] CSR_MTVEC     = 12'h305;
  localparam logic [11:0] CSR_MSCRATCH  = 12'h340;
  localparam logic [11:0] CSR_MEPC      = 12'h341;
  localparam logic [11:0] CSR_MCAUSE    = 12'h342;
  localparam logic [11:0] CSR_MTVAL     = 12'h343;
  localparam logic [11:0] CSR_MIP       = 12'h344;
  localparam logic [11:0] CSR_PMPCFG0   = 12'h3a0;   // and three behind it
  localparam logic [11:0] CSR_PMPADDR0  = 12'h3b0;   // and fifteen behind it
  localparam logic [11:0] CSR_MCYCLE    = 12'hb00;
  localparam logic [11:0] CSR_MINSTRET  = 12'hb02;
  localparam logic [11:0] CSR_MCYCLEH   = 12'hb80;
  localparam logic [11:0] CSR_MINSTRETH = 12'hb82;
  localparam logic [11:0] CSR_MVENDORID = 12'hf11;
  localparam logic [11:0] CSR_MARCHID   = 12'hf12;
  localparam logic [11:0] CSR_MIMPID    = 12'hf13;
  localparam logic [11:0] CSR_MHARTID   = 12'hf14;

endpackage
