// SPDX-License-Identifier: Apache-2.0
//
// Control and status registers of the control core, machine mode only.
//
// read_o is combinational. A write, a trap and an MRET take effect at the next
// edge; the core never asks for two of them at once. recall_i, with a trap, takes the
// instruction that retired in the cycle before out of minstret again. mtvec is direct: its two
// low bits read 0. MPP reads 3. irq_o: an enabled interrupt is pending and
// mstatus.MIE is set; wake_o the same without MIE (WFI).
module weft_rv32_csr (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic [11:0] addr_i,
  output logic [31:0] read_o,
  input  logic        write_i,
  input  logic [31:0] wdata_i,

  input  logic        trap_i,
  input  logic        trap_irq_i,
  input  logic [3:0]  trap_cause_i,
  input  logic [31:0] trap_pc_i,
  input  logic [31:0] trap_val_i,
  input  logic        mret_i,
  input  logic        retire_i,
  input  logic        recall_i,

  input  logic        irq_timer_i,
  input  logic        irq_external_i,
  output logic        irq_o,
  output logic        wake_o,
  output logic [3:0]  irq_cause_o,
  output logic [31:0] mtvec_o,
  output logic [31:0] mepc_o
);

  logic        mie_q, mpie_q;      // of mstatus
  logic        mtie_q, meie_q;     // of mie
  logic [29:0] mtvec_q, mepc_q;
  logic [31:0] mscratch_q, mtval_q;
  logic [31:0] cause_q;
  logic [63:0] cycle_q, instret_q;

  // RV32, I and M.
  localparam logic [31:0] Misa = 32'h4000_1100;

  logic timer, external;
  assign timer       = irq_timer_i && mtie_q;
  assign external    = irq_external_i && meie_q;
  assign wake_o      = timer || external;
  assign irq_o       = wake_o && mie_q;
  assign irq_cause_o = external ? weft_rv32_pkg::IRQ_EXTERNAL : weft_rv32_pkg::IRQ_TIMER;
  assign mtvec_o     = {mtvec_q, 2'b00};
  assign mepc_o      = {mepc_q, 2'b00};

  always_comb begin
    case (addr_i)
      weft_rv32_pkg::CSR_MSTATUS:   read_o = {19'b0, 2'b11, 3'b0, mpie_q, 3'b0, mie_q, 3'b0};
      weft_rv32_pkg::CSR_MISA:      read_o = Misa;
      weft_rv32_pkg::CSR_MIE:       read_o = {20'b0, meie_q, 3'b0, mtie_q, 7'b0};
      weft_rv32_pkg::CSR_MTVEC:     read_o = mtvec_o;
      weft_rv32_pkg::CSR_MSCRATCH:  read_o = mscratch_q;
      weft_rv32_pkg::CSR_MEPC:      read_o = mepc_o;
      weft_rv32_pkg::CSR_MCAUSE:    read_o = cause_q;
      weft_rv32_pkg::CSR_MTVAL:     read_o = mtval_q;
      weft_rv32_pkg::CSR_MIP:       read_o = {20'b0, irq_external_i, 3'b0, irq_timer_i, 7'b0};
      weft_rv32_pkg::CSR_MCYCLE:    read_o = cycle_q[31:0];
      weft_rv32_pkg::CSR_MCYCLEH:   read_o = cycle_q[63:32];
      weft_rv32_pkg::CSR_MINSTRET:  read_o = instret_q[31:0];
      weft_rv32_pkg::CSR_MINSTRETH: read_o = instret_q[63:32];
      default:                      read_o = '0;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      mie_q       <= 1'b0;
      mpie_q      <= 1'b0;
      mtie_q      <= 1'b0;
      meie_q      <= 1'b0;
      mtvec_q     <= '0;
      mepc_q      <= '0;
      mscratch_q  <= '0;
      mtval_q     <= '0;
      cause_q     <= '0;
      cycle_q     <= '0;
      instret_q   <= '0;
    end else begin
      cycle_q <= cycle_q + 64'd1;
      if (retire_i || recall_i) instret_q <= instret_q + {{63{recall_i}}, 1'b1};
      if (trap_i) begin
        mie_q       <= 1'b0;
        mpie_q      <= mie_q;
        mepc_q      <= trap_pc_i[31:2];
        mtval_q     <= trap_val_i;
        cause_q     <= {trap_irq_i, 27'b0, trap_cause_i};
      end else if (mret_i) begin
        mie_q  <= mpie_q;
        mpie_q <= 1'b1;
      end else if (write_i) begin
        case (addr_i)
          weft_rv32_pkg::CSR_MSTATUS: begin
            mie_q  <= wdata_i[3];
            mpie_q <= wdata_i[7];
          end
          weft_rv32_pkg::CSR_MIE: begin
            mtie_q <= wdata_i[7];
            meie_q <= wdata_i[11];
          end
          weft_rv32_pkg::CSR_MTVEC:     mtvec_q <= wdata_i[31:2];
          weft_rv32_pkg::CSR_MSCRATCH:  mscratch_q <= wdata_i;
          weft_rv32_pkg::CSR_MEPC:      mepc_q <= wdata_i[31:2];
          weft_rv32_pkg::CSR_MCAUSE:    cause_q <= wdata_i;
          weft_rv32_pkg::CSR_MTVAL:     mtval_q <= wdata_i;
          weft_rv32_pkg::CSR_MCYCLE:    cycle_q[31:0] <= wdata_i;
          weft_rv32_pkg::CSR_MCYCLEH:   cycle_q[63:32] <= wdata_i;
          weft_rv32_pkg::CSR_MINSTRET:  instret_q[31:0] <= wdata_i;
          weft_rv32_pkg::CSR_MINSTRETH: instret_q[63:32] <= wdata_i;
          default: ;
        endcase
      end
    end
  end

  logic unused;
  assign unused = &{1'b0, trap_pc_i[1:0]};

`ifdef WEFT_ASSERT
  logic old_trap_q;
  always_ff @(posedge clk_i) begin
    old_trap_q <= rst_ni && trap_i;
    if (rst_ni) begin
      assert (!(write_i && trap_i) && !(write_i && mret_i) && !(trap_i && mret_i));
      assert (!(recall_i && retire_i) && !(recall_i && !trap_i));
      assert (!irq_o || wake_o);
      assert (mtvec_o[1:0] == 2'b00 && mepc_o[1:0] == 2'b00);
      if (addr_i == weft_rv32_pkg::CSR_MSTATUS) assert (read_o[12:11] == 2'b11);
      if (old_trap_q) assert (!irq_o);   // a trap has cleared MIE at the next edge
    end
  end
`endif

endmodule
