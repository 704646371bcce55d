// SPDX-License-Identifier: Apache-2.0
//
// Control core: RV32IM, machine mode, in order, three stages.
//
// F  presents pc to a memory that answers in the next cycle and holds the
//    answer while imem_en_o is low.
// X  decodes, reads registers, executes, decides branches and traps. An
//    instruction leaves X in one cycle, except: MUL* 3, DIV*/REM* 35, an access
//    on the bus 1 + its answer, one cycle of waiting behind a load from local
//    memory whose result it needs; a taken branch or a jump costs one more.
// W  aligns load data and writes rd; X takes the value of W, not of the file.
//
// A data address is local (ROM below RomBytes: reads; RAM), on the bus (0x2,
// 0x3 and 0x8 to 0xf in the top four bits), or an access fault; so is what
// weft_rv32_pmp does not grant, which changes nothing anywhere. Instructions
// come from local memory or, one at a time, from 0x8 to 0xf on the bus. Bus
// requests are held until bus_ready_i, which carries data and error of the same
// cycle. All traps are precise; that of a load or store whose address is refused comes
// one cycle later than others. An interrupt is taken in front of an
// instruction; WFI waits for a pending enabled one. sleep_o: in WFI, nothing
// under way.
module weft_rv32 #(
  parameter int unsigned RomBytes = 8192,   // at address 0, a power of two
  parameter int unsigned RamBytes = 65536   // at 0x1000_0000, a power of two
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  output logic        imem_en_o,
  output logic [31:0] imem_addr_o,
  input  logic [31:0] imem_rdata_i,

  output logic        dmem_en_o,
  output logic [31:0] dmem_addr_o,
  output logic        dmem_write_o,
  output logic [3:0]  dmem_mask_o,
  output logic [31:0] dmem_wdata_o,
  input  logic [31:0] dmem_rdata_i,

  output logic        bus_valid_o,
  output logic [31:0] bus_addr_o,
  output logic        bus_write_o,
  output logic [3:0]  bus_mask_o,
  output logic [31:0] bus_wdata_o,
  input  logic        bus_ready_i,
  input  logic        bus_error_i,
  input  logic [31:0] bus_rdata_i,

  input  logic        irq_timer_i,
  input  logic        irq_external_i,
  output logic        sleep_o
);

  localparam int unsigned RomBits = $clog2(RomBytes);
  localparam int unsigned RamBits = $clog2(RamBytes);

  // ---- F ------------------------------------------------------------------------

  logic        advance, redirect, fetch_done;
  logic        keeps;   // the instruction in X stays, or leaves it by a trap
  logic [31:0] target;
  logic [31:0] f_pc_q;
  logic        f_rom, f_ram, f_bus;
  assign f_rom = f_pc_q[31:RomBits] == '0;
  assign f_ram = f_pc_q[31:28] == 4'h1 && f_pc_q[27:RamBits] == '0;

  logic fetch_ok;   // what may not be fetched is not asked for
  assign f_bus = f_pc_q[31] && fetch_ok;

  // What is fetched behind an instruction that leaves X by a jump or a trap is dropped, so the
  // memory may read then: whether there is a trap is known too late for it.
  assign imem_en_o   = !keeps && !f_bus;
  assign imem_addr_o = f_pc_q;

  logic        x_valid_q, x_fault_q, x_bus_q;
  logic [31:0] x_pc_q, x_instr_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      f_pc_q    <= '0;
      x_valid_q <= 1'b0;
      x_fault_q <= 1'b0;
      x_bus_q   <= 1'b0;
      x_pc_q    <= '0;
      x_instr_q <= '0;
    end else if (redirect) begin
      f_pc_q    <= target;
      x_valid_q <= 1'b0;
    end else if (advance && f_bus && !fetch_done) begin
      x_valid_q <= 1'b0;
    end else if (advance) begin
      f_pc_q    <= f_pc_q + 32'd4;
      x_valid_q <= 1'b1;
      x_fault_q <= f_bus ? bus_error_i : !(f_rom || f_ram) || !fetch_ok;
      x_bus_q   <= f_bus;
      x_pc_q    <= f_pc_q;
      if (f_bus) x_instr_q <= bus_rdata_i;
    end
  end

  // ---- X: decode, operands --------------------------------------------------------

  logic [31:0] instr;
  assign instr = x_bus_q ? x_instr_q : imem_rdata_i;

  logic [3:0]  kind, alu;
  logic [1:0]  a_sel;
  logic        b_imm, rs1_used, rs2_used, jalr;
  logic [31:0] imm;
  logic [4:0]  rd;
  weft_rv32_decode u_decode (
    .instr_i   (instr),
    .kind_o    (kind),
    .alu_o     (alu),
    .a_o       (a_sel),
    .b_imm_o   (b_imm),
    .imm_o     (imm),
    .rs1_used_o(rs1_used),
    .rs2_used_o(rs2_used),
    .rd_o      (rd),
    .jalr_o    (jalr)
  );
  logic [2:0] funct3;
  assign funct3 = instr[14:12];

  logic        w_valid_q, w_load_q, w_local_q;
  logic [4:0]  w_rd_q;
  logic [2:0]  w_funct3_q;
  logic [1:0]  w_off_q;
  logic [31:0] w_data_q, w_value;

  logic [31:0] regs [32] /*verilator public_flat_rw*/;
  logic [31:0] rs1, rs2;
  logic        w_is_rs1, w_is_rs2, wait_load;
  assign w_is_rs1  = w_valid_q && w_rd_q == instr[19:15];
  assign w_is_rs2  = w_valid_q && w_rd_q == instr[24:20];
  assign wait_load = w_load_q && ((w_is_rs1 && rs1_used) || (w_is_rs2 && rs2_used));
  assign rs1 = instr[19:15] == 5'd0 ? 32'd0 : w_is_rs1 ? w_data_q : regs[instr[19:15]];
  assign rs2 = instr[24:20] == 5'd0 ? 32'd0 : w_is_rs2 ? w_data_q : regs[instr[24:20]];

  // ---- X: execute ------------------------------------------------------------------

  // One subtraction for SUB, SLT and branches, whose b is rs2 too, and one shifter to the right,
  // in front of and behind which SLL turns the bits around.
  logic [31:0] a, b, sum, shift_in, result;
  logic [32:0] difference, shifted;
  logic        less, less_unsigned, equal, take;
  always_comb begin
    a = rs1;
    if (a_sel == weft_rv32_pkg::A_PC) a = x_pc_q;
    if (a_sel == weft_rv32_pkg::A_ZERO) a = '0;
    b = b_imm ? imm : rs2;
    sum = a + b;
    difference = {1'b0, a} - {1'b0, b};
    less_unsigned = difference[32];
    less = a[31] != b[31] ? a[31] : difference[32];
    for (int i = 0; i < 32; i++) shift_in[i] = alu == weft_rv32_pkg::ALU_SLL ? a[31 - i] : a[i];
    shifted = 33'($signed({alu == weft_rv32_pkg::ALU_SRA && a[31], shift_in}) >>> b[4:0]);
    case (alu)
      weft_rv32_pkg::ALU_SUB:  result = difference[31:0];
      weft_rv32_pkg::ALU_SLL:  for (int i = 0; i < 32; i++) result[i] = shifted[31 - i];
      weft_rv32_pkg::ALU_SLT:  result = {31'd0, less};
      weft_rv32_pkg::ALU_SLTU: result = {31'd0, less_unsigned};
      weft_rv32_pkg::ALU_XOR:  result = a ^ b;
      weft_rv32_pkg::ALU_SRL, weft_rv32_pkg::ALU_SRA: result = shifted[31:0];
      weft_rv32_pkg::ALU_OR:   result = a | b;
      weft_rv32_pkg::ALU_AND:  result = a & b;
      default:                 result = sum;
    endcase
  end

  assign equal = rs1 == rs2;
  always_comb begin
    case (funct3[2:1])
      2'b00:   take = equal;
      2'b10:   take = less;
      default: take = less_unsigned;
    endcase
    if (funct3[0]) take = !take;
  end

  logic [31:0] jump_to;
  logic        jumps;
  always_comb begin
    jump_to    = (jalr ? rs1 : x_pc_q) + imm;
    jump_to[0] = 1'b0;
    jumps      = kind == weft_rv32_pkg::KIND_JUMP || (kind == weft_rv32_pkg::KIND_BRANCH && take);
  end

  // Data address: which memory, aligned, which bytes.
  logic        data_ok, is_store, misaligned, at_rom, at_ram, at_bus, local_ok;
  logic [31:0] addr, store_data;
  logic [3:0]  mask;
  assign addr       = sum;   // of a load or a store
  assign is_store   = kind == weft_rv32_pkg::KIND_STORE;
  assign misaligned = (funct3[1] && addr[1:0] != 2'b00) || (funct3[1:0] == 2'b01 && addr[0]);
  assign at_rom     = addr[31:RomBits] == '0;
  assign at_ram     = addr[31:28] == 4'h1 && addr[27:RamBits] == '0;
  assign at_bus     = addr[31] || addr[31:28] == 4'h2 || addr[31:28] == 4'h3;
  assign local_ok   = at_ram || (at_rom && !is_store);
  always_comb begin
    mask       = 4'b1111;
    store_data = rs2;
    if (funct3[1:0] == 2'b00) begin
      mask       = 4'b0001 << addr[1:0];
      store_data = {4{rs2[7:0]}};
    end
    if (funct3[1:0] == 2'b01) begin
      mask       = addr[1] ? 4'b1100 : 4'b0011;
      store_data = {2{rs2[15:0]}};
    end
  end

  // ---- X: CSR ------------------------------------------------------------------------

  logic [31:0] csr_read, csr_main, csr_pmp, csr_wdata, csr_operand, mtvec, mepc;
  logic        csr_write, pmp_here, irq, wake;
  logic [3:0]  irq_cause;
  assign csr_read    = csr_main | csr_pmp;
  assign csr_operand = funct3[2] ? {27'd0, instr[19:15]} : rs1;
  always_comb begin
    case (funct3[1:0])
      2'b01:   csr_wdata = csr_operand;
      2'b10:   csr_wdata = csr_read | csr_operand;
      default: csr_wdata = csr_read & ~csr_operand;
    endcase
  end

  // ---- X: one instruction --------------------------------------------------------------
  //
  // state: Run, or waiting for the unit (MUL, DIV), for data from the bus, or,
  // with X empty, for an instruction from the bus. Everything that can trap does
  // so in Run, but for an error that the bus answers.

  localparam logic [1:0] Run   = 2'd0;
  localparam logic [1:0] Unit  = 2'd1;
  localparam logic [1:0] Bus   = 2'd2;
  localparam logic [1:0] Fetch = 2'd3;
  logic [1:0]  state_q, state_d;

  logic        unit_start, unit_done;
  logic [31:0] unit_result;
  weft_rv32_muldiv u_muldiv (
    .clk_i,
    .rst_ni,
    .start_i (unit_start),
    .funct3_i(funct3),
    .a_i     (rs1),
    .b_i     (rs2),
    .done_o  (unit_done),
    .result_o(unit_result)
  );

  // Whether a load or store is refused is known late, so that it traps in the next cycle, from registers. An
  // access to local memory has left X by then; the instruction behind it has not started.
  logic        access, refuse;     // X starts a load or store; that is refused
  logic        refused_q;          // it was refused in the cycle before
  logic        refused_align_q;    // the last access was not aligned
  logic        counted_q;          // the last access was not on the bus: it has left X and is in minstret
  logic [31:0] access_pc_q;        // where the last access is

  logic        trap, mret, retire, w_valid_d, w_local_d, bus_start, fetch_start, hung;
  logic [3:0]  cause;
  logic [31:0] trap_val, w_data_d;
  logic        go;        // X holds an instruction that may start
  logic        irq_here;  // in front of it; a WFI retires first

  assign go       = x_valid_q && state_q == Run && !wait_load && !refused_q && !hung;
  assign irq_here = irq && (kind != weft_rv32_pkg::KIND_WFI || x_fault_q);

  always_comb begin
    state_d     = state_q;
    trap        = 1'b0;
    cause       = '0;
    trap_val    = '0;
    retire      = 1'b0;
    mret        = 1'b0;
    csr_write   = 1'b0;
    unit_start  = 1'b0;
    bus_start   = 1'b0;
    access      = 1'b0;
    refuse      = 1'b0;
    fetch_start = !x_valid_q && f_bus && state_q == Run && !refused_q;
    fetch_done  = state_q == Fetch && bus_ready_i;
    dmem_en_o   = 1'b0;
    redirect    = 1'b0;
    target      = mtvec;
    w_valid_d   = 1'b0;
    w_local_d   = 1'b0;
    w_data_d    = result;
    sleep_o     = 1'b0;

    if (go) begin
      if (irq_here) begin
        trap  = 1'b1;
        cause = irq_cause;
      end else if (x_fault_q) begin
        trap     = 1'b1;
        cause    = weft_rv32_pkg::CAUSE_FETCH_FAULT;
        trap_val = x_pc_q;
      end else begin
        case (kind)
          weft_rv32_pkg::KIND_ALU: begin
            retire    = 1'b1;
            w_valid_d = 1'b1;
          end
          weft_rv32_pkg::KIND_LOAD, weft_rv32_pkg::KIND_STORE: begin
            access = 1'b1;
            refuse = misaligned || !data_ok || !(local_ok || at_bus);
            if (at_bus) begin
              bus_start = !refuse;
              if (bus_start) state_d = Bus;
            end else begin
              dmem_en_o = local_ok && !(is_store && refuse);   // reading changes nothing
              retire    = 1'b1;
              w_valid_d = !is_store;
              w_local_d = 1'b1;
            end
          end
          weft_rv32_pkg::KIND_BRANCH, weft_rv32_pkg::KIND_JUMP: begin
            w_data_d = x_pc_q + 32'd4;
            if (jumps && jump_to[1]) begin
              trap     = 1'b1;
              cause    = weft_rv32_pkg::CAUSE_FETCH_MISALIGNED;
              trap_val = jump_to;
            end else begin
              retire    = 1'b1;
              w_valid_d = 1'b1;   // rd is 0 for a branch
              redirect  = jumps;
              target    = jump_to;
            end
          end
          weft_rv32_pkg::KIND_MUL, weft_rv32_pkg::KIND_DIV: begin
            unit_start = 1'b1;
            state_d    = Unit;
          end
          weft_rv32_pkg::KIND_CSR: begin
            retire    = 1'b1;
            csr_write = funct3[1:0] == 2'b01 || instr[19:15] != 5'd0;
            w_valid_d = 1'b1;
            w_data_d  = csr_read;
            // What was fetched already was granted by the old entries.
            redirect  = pmp_here && csr_write;
            target    = x_pc_q + 32'd4;
          end
          weft_rv32_pkg::KIND_ECALL: begin
            trap  = 1'b1;
            cause = weft_rv32_pkg::CAUSE_ECALL;
          end
          weft_rv32_pkg::KIND_EBREAK: begin
            trap  = 1'b1;
            cause = weft_rv32_pkg::CAUSE_BREAKPOINT;
          end
          weft_rv32_pkg::KIND_MRET: begin
            retire   = 1'b1;
            mret     = 1'b1;
            redirect = 1'b1;
            target   = mepc;
          end
          weft_rv32_pkg::KIND_WFI: begin
            retire  = wake;
            sleep_o = !wake;
          end
          weft_rv32_pkg::KIND_FENCE: retire = 1'b1;
          weft_rv32_pkg::KIND_FENCEI: begin
            retire   = 1'b1;
            redirect = 1'b1;
            target   = x_pc_q + 32'd4;
          end
          default: begin
            trap     = 1'b1;
            cause    = weft_rv32_pkg::CAUSE_ILLEGAL;
            trap_val = instr;
          end
        endcase
      end
    end

    if (fetch_start) state_d = Fetch;
    if (fetch_done) state_d = Run;
    if (state_q == Unit && unit_done) begin
      state_d   = Run;
      retire    = 1'b1;
      w_valid_d = 1'b1;
      w_data_d  = unit_result;
    end
    if (state_q == Bus && bus_ready_i) begin
      state_d = Run;
      if (!bus_error_i) begin
        retire    = 1'b1;
        w_valid_d = !bus_write_o;
        w_data_d  = bus_rdata_i;
      end
    end
    if (refused_q || (state_q == Bus && bus_ready_i && bus_error_i)) begin
      trap     = 1'b1;
      trap_val = bus_addr_o;
      cause    = bus_write_o ? weft_rv32_pkg::CAUSE_STORE_FAULT : weft_rv32_pkg::CAUSE_LOAD_FAULT;
      if (refused_q && refused_align_q)
        cause = bus_write_o ? weft_rv32_pkg::CAUSE_STORE_MISALIGNED : weft_rv32_pkg::CAUSE_LOAD_MISALIGNED;
    end

    if (trap) begin
      redirect = 1'b1;
      target   = mtvec;
    end
  end

  assign advance = !x_valid_q || retire;

  // An address of the bus keeps the instruction, until its answer or for the cycle in front of a trap.
  always_comb begin
    keeps = x_valid_q;
    if (go) begin
      case (kind)
        weft_rv32_pkg::KIND_LOAD, weft_rv32_pkg::KIND_STORE: keeps = at_bus;
        weft_rv32_pkg::KIND_MUL, weft_rv32_pkg::KIND_DIV:    keeps = 1'b1;
        weft_rv32_pkg::KIND_WFI:                             keeps = !wake;
        default:                                             keeps = 1'b0;
      endcase
    end
    if (state_q == Unit && unit_done) keeps = 1'b0;
    if (state_q == Bus && bus_ready_i) keeps = 1'b0;
  end

  assign dmem_addr_o  = addr;
  assign dmem_write_o = is_store;
  assign dmem_mask_o  = mask;
  assign dmem_wdata_o = store_data;

  assign bus_valid_o = state_q == Bus || state_q == Fetch;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q     <= Run;
      refused_q   <= 1'b0;
      bus_addr_o  <= '0;
      bus_write_o <= 1'b0;
      bus_mask_o  <= '0;
      bus_wdata_o <= '0;
    end else begin
      state_q   <= state_d;
      refused_q <= refuse;
      if (access) begin   // on the bus or not: of an address that is refused a trap's value comes from here
        bus_addr_o  <= addr;
        bus_write_o <= is_store;
        bus_mask_o  <= mask;
        bus_wdata_o <= store_data;
      end
      if (fetch_start) begin
        bus_addr_o  <= f_pc_q;
        bus_write_o <= 1'b0;
        bus_mask_o  <= 4'b1111;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (access) begin
      access_pc_q     <= x_pc_q;
      refused_align_q <= misaligned;
      counted_q       <= !at_bus;
    end
  end

  logic [31:0] trap_pc;
  assign trap_pc = refused_q ? access_pc_q : x_pc_q;

  weft_rv32_csr u_csr (
    .clk_i,
    .rst_ni,
    .addr_i        (instr[31:20]),
    .read_o        (csr_main),
    .write_i       (csr_write),
    .wdata_i       (csr_wdata),
    .trap_i        (trap),
    .trap_irq_i    (go && irq_here),
    .trap_cause_i  (cause),
    .trap_pc_i     (trap_pc),
    .trap_val_i    (trap_val),
    .mret_i        (mret),
    .retire_i      (retire),
    .recall_i      (refused_q && counted_q),
    .irq_timer_i,
    .irq_external_i,
    .irq_o         (irq),
    .wake_o        (wake),
    .irq_cause_o   (irq_cause),
    .mtvec_o       (mtvec),
    .mepc_o        (mepc)
  );

  weft_rv32_pmp u_pmp (
    .clk_i,
    .rst_ni,
    .addr_i      (instr[31:20]),
    .here_o      (pmp_here),
    .read_o      (csr_pmp),
    .write_i     (csr_write),
    .wdata_i     (csr_wdata),
    .fetch_page_i({f_pc_q[31:28], f_pc_q[15:12]}),
    .fetch_ok_o  (fetch_ok),
    .data_page_i ({addr[31:28], addr[15:12]}),
    .data_write_i(is_store),
    .data_ok_o   (data_ok)
  );

  // ---- W ----------------------------------------------------------------------------

  logic [31:0] w_word;
  always_comb begin
    w_word = w_local_q ? dmem_rdata_i : w_data_q;
    case (w_off_q)
      2'd1:    w_word = {8'd0, w_word[31:8]};
      2'd2:    w_word = {16'd0, w_word[31:16]};
      2'd3:    w_word = {24'd0, w_word[31:24]};
      default: ;
    endcase
    case (w_funct3_q)
      3'b000:  w_value = {{24{w_word[7]}}, w_word[7:0]};
      3'b001:  w_value = {{16{w_word[15]}}, w_word[15:0]};
      3'b100:  w_value = {24'd0, w_word[7:0]};
      3'b101:  w_value = {16'd0, w_word[15:0]};
      default: w_value = w_word;
    endcase
    if (!w_load_q) w_value = w_data_q;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      w_valid_q  <= 1'b0;
      w_load_q   <= 1'b0;
      w_local_q  <= 1'b0;
      w_rd_q     <= '0;
      w_funct3_q <= '0;
      w_off_q    <= '0;
      w_data_q   <= '0;
    end else begin
      w_valid_q <= w_valid_d && rd != 5'd0;
      w_load_q  <= w_valid_d && kind == weft_rv32_pkg::KIND_LOAD;
      if (w_valid_d) begin
        w_local_q  <= w_local_d;
        w_rd_q     <= rd;
        w_funct3_q <= funct3;
        w_off_q    <= w_local_d ? addr[1:0] : bus_addr_o[1:0];
        w_data_q   <= w_data_d;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (w_valid_q && !refused_q) regs[w_rd_q] <= w_value;
  end

  // Test hook: as long as hung is high, the core starts no instruction. Its next reset
  // makes hung low.
`ifdef WEFT_FAULT_HOOK
  logic fault_hook_q /*verilator public_flat_rw*/;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) fault_hook_q <= 1'b0;
  end
  assign hung = fault_hook_q;
`else
  assign hung = 1'b0;
`endif

  // What happened in the last cycle, for the bench.
  logic        t_retire_q /*verilator public_flat_rd*/;
  logic        t_trap_q /*verilator public_flat_rd*/;
  logic [31:0] t_pc_q /*verilator public_flat_rd*/;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      t_retire_q <= 1'b0;
      t_trap_q   <= 1'b0;
      t_pc_q     <= '0;
    end else begin
      t_retire_q <= retire && !refuse;
      t_trap_q   <= trap;
      t_pc_q     <= trap_pc;
    end
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (!(trap && retire));
      assert (f_pc_q[1:0] == 2'b00);
      assert (!(unit_start && state_q != Run));
      assert (!dmem_en_o || local_ok);
      assert (!(dmem_en_o && is_store && refuse) && !(bus_start && refuse));
      assert (!(refused_q && (retire || state_q != Run)));
    end
  end
`endif

endmodule
