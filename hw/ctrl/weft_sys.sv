// SPDX-License-Identifier: Apache-2.0
//
// Identity, reset control, external interrupts, timer and watchdog of the chip
// (docs/chip.md, sys_*, irq_*, timer_*, wdt_*). Registers answer in the cycle of
// the request.
//
// rst_power_ni: power. rst_ni: everything that the other causes reset as well.
module weft_sys (
  input  logic        clk_i,
  input  logic        rst_power_ni,
  input  logic        rst_ni,

  input  logic        reg_req_i,
  input  logic        reg_write_i,
  input  logic [11:0] reg_addr_i,
  input  logic [31:0] reg_wdata_i,
  output logic [31:0] reg_rdata_o,

  input  logic [31:0] dram_bytes_i,
  input  logic [31:0] clock_khz_i,
  input  logic [2:0]  reset_cause_i,
  input  logic        strap_i,        // of any clock
  output logic        npu_reset_o,
  output logic        want_reset_o,   // sys_reset
  output logic        bite_o,         // of the watchdog

  input  logic        link_rx_i,
  input  logic        link_tx_i,
  input  logic        npu_irq_i,
  input  logic        link_reset_i,
  output logic        irq_timer_o,
  output logic        irq_external_o
);

  logic write;
  assign write = reg_req_i && reg_write_i;

  // ---- survives all but power ----

  logic [31:0] scratch_q [4];
  logic        at_scratch;
  assign at_scratch = reg_addr_i[11:4] == weft_chip_pkg::SYS_SCRATCH_ADDR[11:4];
  for (genvar i = 0; i < weft_chip_pkg::SYS_SCRATCH_COUNT; i++) begin : g_scratch
    always_ff @(posedge clk_i) begin
      if (!rst_power_ni) scratch_q[i] <= '0;
      else if (write && at_scratch && reg_addr_i[3:2] == 2'(i)) scratch_q[i] <= reg_wdata_i;
    end
  end

  logic [1:0] strap_q;
  always_ff @(posedge clk_i) strap_q <= {strap_q[0], strap_i};

  // ---- the rest ----

  logic        npu_reset_q, wdt_on_q, irq_wdt_q, irq_link_q, irq_external_q, irq_timer_q;
  logic [4:0]  enable_q, pending;
  logic [63:0] time_q, compare_q;
  logic [31:0] period_q, left_q;
  logic        kick, warn;
  assign kick   = write && ((reg_addr_i == weft_chip_pkg::WDT_KICK_ADDR && reg_wdata_i == weft_chip_pkg::KICK_VALUE) ||
                            (reg_addr_i == weft_chip_pkg::WDT_CONTROL_ADDR && reg_wdata_i[0] && !wdt_on_q));
  assign warn   = wdt_on_q && left_q == {2'b00, period_q[31:2]};
  assign bite_o = wdt_on_q && left_q == '0;
  assign npu_reset_o  = npu_reset_q;
  assign want_reset_o = write && reg_addr_i == weft_chip_pkg::SYS_RESET_ADDR && reg_wdata_i[0];

  // Interrupt lines are a cycle late: they come from comparisons of all of it.
  assign pending        = {irq_link_q, irq_wdt_q, npu_irq_i, link_tx_i, link_rx_i};
  assign irq_timer_o    = irq_timer_q;
  assign irq_external_o = irq_external_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      npu_reset_q    <= 1'b0;
      enable_q       <= '0;
      irq_wdt_q      <= 1'b0;
      irq_link_q     <= 1'b0;
      irq_external_q <= 1'b0;
      irq_timer_q    <= 1'b0;
      time_q         <= '0;
      compare_q      <= '1;
      period_q       <= '1;
      wdt_on_q       <= 1'b0;
      left_q         <= '1;
    end else begin
      time_q         <= time_q + 64'd1;
      irq_timer_q    <= time_q >= compare_q;
      irq_external_q <= (pending & enable_q) != '0;
      if (kick) left_q <= period_q;
      else if (wdt_on_q) left_q <= left_q - 32'd1;
      if (write) begin
        case (reg_addr_i)
          weft_chip_pkg::SYS_CONTROL_ADDR: npu_reset_q <= reg_wdata_i[0];
          weft_chip_pkg::IRQ_PENDING_ADDR: begin
            if (reg_wdata_i[3]) irq_wdt_q <= 1'b0;
            if (reg_wdata_i[4]) irq_link_q <= 1'b0;
          end
          weft_chip_pkg::IRQ_ENABLE_ADDR:   enable_q <= reg_wdata_i[4:0];
          weft_chip_pkg::TIMER_CMP_LO_ADDR: compare_q[31:0] <= reg_wdata_i;
          weft_chip_pkg::TIMER_CMP_HI_ADDR: compare_q[63:32] <= reg_wdata_i;
          weft_chip_pkg::WDT_PERIOD_ADDR:   if (!wdt_on_q) period_q <= reg_wdata_i;
          weft_chip_pkg::WDT_CONTROL_ADDR:  if (reg_wdata_i[0]) wdt_on_q <= 1'b1;
          default: ;
        endcase
      end
      if (warn) irq_wdt_q <= 1'b1;
      if (link_reset_i) irq_link_q <= 1'b1;
    end
  end

  always_comb begin
    case (reg_addr_i)
      weft_chip_pkg::SYS_ID_ADDR:          reg_rdata_o = weft_chip_pkg::ID_VALUE;
      weft_chip_pkg::SYS_VERSION_ADDR:     reg_rdata_o = weft_chip_pkg::VERSION_VALUE;
      weft_chip_pkg::SYS_DRAM_BYTES_ADDR:  reg_rdata_o = dram_bytes_i;
      weft_chip_pkg::SYS_CLOCK_KHZ_ADDR:   reg_rdata_o = clock_khz_i;
      weft_chip_pkg::SYS_RESET_CAUSE_ADDR: reg_rdata_o = {29'd0, reset_cause_i};
      weft_chip_pkg::SYS_CONTROL_ADDR:     reg_rdata_o = {31'd0, npu_reset_q};
      weft_chip_pkg::SYS_STRAP_ADDR:       reg_rdata_o = {31'd0, strap_q[1]};
      weft_chip_pkg::IRQ_PENDING_ADDR:     reg_rdata_o = {27'd0, pending};
      weft_chip_pkg::IRQ_ENABLE_ADDR:      reg_rdata_o = {27'd0, enable_q};
      weft_chip_pkg::TIMER_LO_ADDR:        reg_rdata_o = time_q[31:0];
      weft_chip_pkg::TIMER_HI_ADDR:        reg_rdata_o = time_q[63:32];
      weft_chip_pkg::TIMER_CMP_LO_ADDR:    reg_rdata_o = compare_q[31:0];
      weft_chip_pkg::TIMER_CMP_HI_ADDR:    reg_rdata_o = compare_q[63:32];
      weft_chip_pkg::WDT_PERIOD_ADDR:      reg_rdata_o = period_q;
      weft_chip_pkg::WDT_CONTROL_ADDR:     reg_rdata_o = {31'd0, wdt_on_q};
      weft_chip_pkg::WDT_LEFT_ADDR:        reg_rdata_o = wdt_on_q ? left_q : '1;
      default:                             reg_rdata_o = at_scratch ? scratch_q[reg_addr_i[3:2]] : '0;
    endcase
  end

`ifdef WEFT_ASSERT
  logic started_q;     // reset has passed, and nothing has been written since
  always_ff @(posedge clk_i) begin
    started_q <= !rst_ni;
    if (rst_ni) begin
      if (started_q) assert (compare_q == '1 && !wdt_on_q && !npu_reset_o && enable_q == '0);
      assert (!bite_o || wdt_on_q);
      assert (!want_reset_o || write);
    end
  end
`endif

endmodule
