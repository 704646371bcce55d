// SPDX-License-Identifier: Apache-2.0
//
// Register file: what the driver reads and writes, and the counters.
//
// reg_rdata_o is combinational in the cycle of the request; a write takes
// effect in the next cycle; start_o and reset_o pulse in the cycle after the
// write. Unknown addresses read 0. The base of a window is
// a multiple of 64: its low bits read 0.
module weft_regs #(
  parameter bit Ecc = 1'b0         // the memories have check bits, and cnt_ecc counts
) (
  input  logic clk_i,
  input  logic rst_ni,

  input  logic        reg_req_i,
  input  logic        reg_we_i,
  input  logic [11:0] reg_addr_i,
  input  logic [31:0] reg_wdata_i,
  output logic [31:0] reg_rdata_o,
  output logic        irq_o,

  output logic        start_o,         // pulses
  output logic        reset_o,
  input  logic        busy_i,
  input  logic        done_i,
  input  logic        fault_i,
  input  logic        done_pulse_i,
  input  logic        fault_pulse_i,
  input  logic        clear_i,         // pulse: counters to zero
  input  logic        running_i,

  input  weft_cfg_pkg::fault_t first_fault_i,
  input  logic [4*32-1:0]      retired_i,

  output logic [31:0]            stream_off_o,
  output logic [31:0]            stream_words_o,
  output weft_cfg_pkg::windows_t win_o,

  input  weft_cfg_pkg::events_t events_i, // what the counters count
  input  logic [5:0]            ecc_fixed_i // with Ecc: words that were corrected
);

  localparam int unsigned NWindows = weft_cfg_pkg::N_WINDOWS;
  localparam int unsigned WinBits  = $clog2(NWindows);
  localparam int unsigned MemW     = weft_cfg_pkg::DRAM_ADDR_BITS;

  // Everything here is looked at only in the cycle of a request, so that the bus
  // costs a simulator nothing between requests.
  logic               read, write, start, reset;
  logic [1:0]         irq_clear;
  logic [9:0]         addr;
  logic [WinBits-1:0] win;
  logic [9:0]         win_reg;  // address of this register in window 0, 0 if it is none of a window
  assign addr = {reg_addr_i[9:2], 2'b00};
  assign win  = addr[4 +: WinBits];

  always_comb begin
    read = 1'b0;
    write = 1'b0;
    start = 1'b0;
    reset = 1'b0;
    irq_clear = '0;
    win_reg = '0;
    if (reg_req_i && reg_addr_i[11:10] == '0) begin
      read = !reg_we_i;
      write = reg_we_i;
      if (addr >= weft_regs_pkg::WIN_BASE_LO_ADDR &&
          addr < weft_regs_pkg::WIN_BASE_LO_ADDR + 10'(weft_regs_pkg::WIN_BASE_LO_STRIDE * NWindows))
        win_reg = weft_regs_pkg::WIN_BASE_LO_ADDR + {6'd0, addr[3:2], 2'b00};
      if (write && addr == weft_regs_pkg::CTRL_ADDR) begin
        start = reg_wdata_i[weft_regs_pkg::CTRL_START_LSB];
        reset = reg_wdata_i[weft_regs_pkg::CTRL_RESET_LSB];
      end
      if (write && addr == weft_regs_pkg::IRQ_STATUS_ADDR)
        irq_clear = {reg_wdata_i[weft_regs_pkg::IRQ_STATUS_FAULT_LSB], reg_wdata_i[weft_regs_pkg::IRQ_STATUS_DONE_LSB]};
    end
  end

  // ---- software writes -----------------------------------------------------------

  logic irq_en_done_q, irq_en_fault_q, irq_done_q, irq_fault_q;
  assign irq_o = (irq_done_q && irq_en_done_q) || (irq_fault_q && irq_en_fault_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      start_o        <= 1'b0;
      reset_o        <= 1'b0;
      irq_en_done_q  <= 1'b0;
      irq_en_fault_q <= 1'b0;
      irq_done_q     <= 1'b0;
      irq_fault_q    <= 1'b0;
      stream_off_o   <= '0;
      stream_words_o <= '0;
      win_o.base     <= '0;
      win_o.size     <= '0;
      win_o.read     <= '0;
      win_o.write    <= '0;
    end else begin
      start_o <= start;
      reset_o <= reset;
      if (irq_clear[0]) irq_done_q <= 1'b0;
      if (irq_clear[1]) irq_fault_q <= 1'b0;
      if (done_pulse_i) irq_done_q <= 1'b1;
      if (fault_pulse_i) irq_fault_q <= 1'b1;
      if (write) begin
        case (addr)
          weft_regs_pkg::IRQ_ENABLE_ADDR: begin
            irq_en_done_q  <= reg_wdata_i[weft_regs_pkg::IRQ_ENABLE_DONE_LSB];
            irq_en_fault_q <= reg_wdata_i[weft_regs_pkg::IRQ_ENABLE_FAULT_LSB];
          end
          weft_regs_pkg::STREAM_OFF_ADDR:   stream_off_o <= reg_wdata_i;
          weft_regs_pkg::STREAM_WORDS_ADDR: stream_words_o <= reg_wdata_i;
          default: ;
        endcase
        // A comparison per window: a slice at a variable place is a shifter.
        for (int unsigned i = 0; i < NWindows; i++) begin
          if (win == WinBits'(i)) begin
            case (win_reg)
              weft_regs_pkg::WIN_BASE_LO_ADDR: win_o.base[MemW*i +: 32] <= {reg_wdata_i[31:6], 6'd0};
              weft_regs_pkg::WIN_BASE_HI_ADDR: win_o.base[MemW*i+32 +: MemW-32] <= reg_wdata_i[MemW-33:0];
              weft_regs_pkg::WIN_SIZE_ADDR:    win_o.size[32*i +: 32] <= reg_wdata_i;
              weft_regs_pkg::WIN_CTRL_ADDR: begin
                win_o.read[i]  <= reg_wdata_i[weft_regs_pkg::WIN_CTRL_READ_LSB];
                win_o.write[i] <= reg_wdata_i[weft_regs_pkg::WIN_CTRL_WRITE_LSB];
              end
              default: ;
            endcase
          end
        end
      end
    end
  end

  // ---- counters ------------------------------------------------------------------------

  logic [31:0] cycles_q, ld_q, st_q, cv_q, ve_q, act_q, wgt_q, post_q, conflict_q, rd_q, wr_q, cmds_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      cycles_q   <= '0;
      ld_q       <= '0;
      st_q       <= '0;
      cv_q       <= '0;
      ve_q       <= '0;
      act_q      <= '0;
      wgt_q      <= '0;
      post_q     <= '0;
      conflict_q <= '0;
      rd_q       <= '0;
      wr_q       <= '0;
      cmds_q     <= '0;
    end else if (clear_i) begin
      cycles_q   <= '0;
      ld_q       <= '0;
      st_q       <= '0;
      cv_q       <= '0;
      ve_q       <= '0;
      act_q      <= '0;
      wgt_q      <= '0;
      post_q     <= '0;
      conflict_q <= '0;
      rd_q       <= '0;
      wr_q       <= '0;
      cmds_q     <= '0;
    end else if (running_i) begin
      cycles_q   <= cycles_q + 32'd1;
      ld_q       <= ld_q + 32'(events_i.active[0]);
      st_q       <= st_q + 32'(events_i.active[1]);
      cv_q       <= cv_q + 32'(events_i.active[2]);
      ve_q       <= ve_q + 32'(events_i.active[3]);
      act_q      <= act_q + 32'(events_i.stall_act);
      wgt_q      <= wgt_q + 32'(events_i.stall_wgt);
      post_q     <= post_q + 32'(events_i.stall_post);
      conflict_q <= conflict_q + 32'(events_i.conflicts);
      rd_q       <= rd_q + 32'(events_i.rd_bytes);
      wr_q       <= wr_q + 32'(events_i.wr_bytes);
      cmds_q     <= cmds_q + 32'(events_i.retire[0]) + 32'(events_i.retire[1]) + 32'(events_i.retire[2]) + 32'(events_i.retire[3]);
    end
  end

  logic [31:0] ecc_q;
  if (Ecc) begin : g_ecc
    always_ff @(posedge clk_i) begin
      if (!rst_ni || clear_i) ecc_q <= '0;
      else if (running_i) ecc_q <= ecc_q + 32'(ecc_fixed_i);
    end
  end else begin : g_no_ecc
    logic unused_fixed;
    assign unused_fixed = ^{ecc_fixed_i, ecc_q};
    assign ecc_q = '0;
  end

  // ---- reads -----------------------------------------------------------------------------

  always_comb begin
    reg_rdata_o = '0;
    if (read) begin
      case (addr)
        weft_regs_pkg::ID_ADDR:       reg_rdata_o = weft_regs_pkg::ID_VALUE;
        weft_regs_pkg::VERSION_ADDR:  reg_rdata_o = weft_regs_pkg::VERSION_VALUE;
        weft_regs_pkg::CONFIG_ADDR:   reg_rdata_o = weft_cfg_pkg::CONFIG_VALUE;
        weft_regs_pkg::FEATURES_ADDR: reg_rdata_o = weft_cfg_pkg::FEATURES_VALUE;
        weft_regs_pkg::STATUS_ADDR: begin
          reg_rdata_o[weft_regs_pkg::STATUS_BUSY_LSB]  = busy_i || start_o || reset_o;
          reg_rdata_o[weft_regs_pkg::STATUS_DONE_LSB]  = done_i && !start_o;
          reg_rdata_o[weft_regs_pkg::STATUS_FAULT_LSB] = fault_i;
        end
        weft_regs_pkg::IRQ_ENABLE_ADDR: begin
          reg_rdata_o[weft_regs_pkg::IRQ_ENABLE_DONE_LSB]  = irq_en_done_q;
          reg_rdata_o[weft_regs_pkg::IRQ_ENABLE_FAULT_LSB] = irq_en_fault_q;
        end
        weft_regs_pkg::IRQ_STATUS_ADDR: begin
          reg_rdata_o[weft_regs_pkg::IRQ_STATUS_DONE_LSB]  = irq_done_q;
          reg_rdata_o[weft_regs_pkg::IRQ_STATUS_FAULT_LSB] = irq_fault_q;
        end
        weft_regs_pkg::STREAM_OFF_ADDR:   reg_rdata_o = stream_off_o;
        weft_regs_pkg::STREAM_WORDS_ADDR: reg_rdata_o = stream_words_o;
        weft_regs_pkg::FAULT_ADDR: begin
          reg_rdata_o[weft_regs_pkg::FAULT_CODE_LSB +: weft_regs_pkg::FAULT_CODE_W] = first_fault_i.code;
          reg_rdata_o[weft_regs_pkg::FAULT_UNIT_LSB +: weft_regs_pkg::FAULT_UNIT_W] = first_fault_i.unit;
        end
        weft_regs_pkg::FAULT_CMD_ADDR:         reg_rdata_o = 32'(first_fault_i.index);
        weft_regs_pkg::FAULT_TAG_ADDR:         reg_rdata_o = first_fault_i.tag;
        weft_regs_pkg::FAULT_INFO_ADDR:        reg_rdata_o = first_fault_i.info;
        weft_regs_pkg::RETIRED_LD_ADDR:        reg_rdata_o = retired_i[0 +: 32];
        weft_regs_pkg::RETIRED_ST_ADDR:        reg_rdata_o = retired_i[32 +: 32];
        weft_regs_pkg::RETIRED_CV_ADDR:        reg_rdata_o = retired_i[64 +: 32];
        weft_regs_pkg::RETIRED_VE_ADDR:        reg_rdata_o = retired_i[96 +: 32];
        weft_regs_pkg::CNT_CYCLES_ADDR:        reg_rdata_o = cycles_q;
        weft_regs_pkg::CNT_LD_BUSY_ADDR:       reg_rdata_o = ld_q;
        weft_regs_pkg::CNT_ST_BUSY_ADDR:       reg_rdata_o = st_q;
        weft_regs_pkg::CNT_CV_BUSY_ADDR:       reg_rdata_o = cv_q;
        weft_regs_pkg::CNT_VE_BUSY_ADDR:       reg_rdata_o = ve_q;
        weft_regs_pkg::CNT_CV_STALL_ACT_ADDR:  reg_rdata_o = act_q;
        weft_regs_pkg::CNT_CV_STALL_WGT_ADDR:  reg_rdata_o = wgt_q;
        weft_regs_pkg::CNT_CV_STALL_POST_ADDR: reg_rdata_o = post_q;
        weft_regs_pkg::CNT_SP_CONFLICT_ADDR:   reg_rdata_o = conflict_q;
        weft_regs_pkg::CNT_RD_BYTES_ADDR:      reg_rdata_o = rd_q;
        weft_regs_pkg::CNT_WR_BYTES_ADDR:      reg_rdata_o = wr_q;
        weft_regs_pkg::CNT_CMDS_ADDR:          reg_rdata_o = cmds_q;
        default: begin
          for (int unsigned i = 0; i < NWindows; i++) begin
            if (win == WinBits'(i)) begin
              case (win_reg)
                weft_regs_pkg::WIN_BASE_LO_ADDR: reg_rdata_o = win_o.base[MemW*i +: 32];
                weft_regs_pkg::WIN_BASE_HI_ADDR: reg_rdata_o = 32'(win_o.base[MemW*i+32 +: MemW-32]);
                weft_regs_pkg::WIN_SIZE_ADDR:    reg_rdata_o = win_o.size[32*i +: 32];
                weft_regs_pkg::WIN_CTRL_ADDR: begin
                  reg_rdata_o[weft_regs_pkg::WIN_CTRL_READ_LSB]  = win_o.read[i];
                  reg_rdata_o[weft_regs_pkg::WIN_CTRL_WRITE_LSB] = win_o.write[i];
                end
                default: ;
              endcase
            end
          end
        end
      endcase
      if (Ecc) begin
        if (addr == weft_regs_pkg::CNT_ECC_ADDR) reg_rdata_o = ecc_q;
      end
    end
  end

  logic unused_low;
  assign unused_low = ^reg_addr_i[1:0];

`ifdef WEFT_ASSERT
  logic old_start_q, old_reset_q;
  always_ff @(posedge clk_i) begin
    old_start_q <= rst_ni && start;
    old_reset_q <= rst_ni && reset;
    if (rst_ni) begin
      assert (start_o == old_start_q && reset_o == old_reset_q);       // pulses, in the cycle after the write
      for (int unsigned i = 0; i < NWindows; i++) assert (win_o.base[MemW*i +: 6] == '0);
      if (done_pulse_i || fault_pulse_i) assert (!(done_pulse_i && fault_pulse_i));
    end
  end
`endif

endmodule
