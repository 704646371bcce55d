// SPDX-License-Identifier: Apache-2.0
//
// Walks the rows of load and store commands, checks each against its window
// and the scratchpad.
//
// One row a cycle, also from one command to the next. A row that is not wholly
// inside comes out with row_o.fault; none follows until clear_i. row_o stands
// until row_ready_i.
//
// A row of int4 takes half as many bytes in memory, rounded up, as in the
// scratchpad: row_o.bytes counts those in memory, row_o.odd says that the last
// of them is half used. The window is checked for them, the scratchpad for all.
// Of a coded row, the only one of its command, row_o.bytes counts those in memory as well, and
// row_o.words has its words in the scratchpad, row_o.centre what is added to their bytes.
//
// Offsets are 34-bit signed: a row is only stepped from after it was found
// inside its window (below 2^32), and a stride is 32 bits, so no step wraps.
module weft_dma_rows #(
  parameter bit Store = 1'b0   // the windows' permission to write counts, else that to read
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic clear_i,

  input  logic          cmd_valid_i,
  output logic          cmd_ready_o,
  /* verilator lint_off UNUSEDSIGNAL */  // header, and words of longer commands
  input  weft_cmd_pkg::move_t cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */

  /* verilator lint_off UNUSEDSIGNAL */  // permission for the other direction
  input  weft_cfg_pkg::windows_t win_i,
  /* verilator lint_on UNUSEDSIGNAL */

  output logic                   row_valid_o,
  input  logic                   row_ready_i,
  output weft_cfg_pkg::dma_row_t row_o,

  output logic        busy_o
);

  localparam int unsigned AddrW = weft_cfg_pkg::SP_ADDR_BITS;
  localparam int unsigned MemW = weft_cfg_pkg::DRAM_ADDR_BITS;

  // Field positions of load; store has the same.
  logic [2:0]              c_window;
  weft_cfg_pkg::mem_addr_t c_off;
  logic                    c_int4, c_is_coded;
  logic [14:0]             c_coded;
  weft_cfg_pkg::sp_addr_t  c_bytes;
  assign c_window = cmd_i[weft_cmd_pkg::LOAD_WINDOW_LSB +: 3];
  assign c_off    = cmd_i[weft_cmd_pkg::LOAD_DRAM_OFF_LSB +: MemW];
  assign c_int4   = weft_cfg_pkg::HAS_INT4 && cmd_i[weft_cmd_pkg::LOAD_INT4_LSB];
  assign c_coded  = weft_cfg_pkg::HAS_CODED && !Store ? cmd_i[weft_cmd_pkg::LOAD_CODED_LSB +: 15] : '0;
  assign c_is_coded = c_coded != '0;
  assign c_bytes  = cmd_i[weft_cmd_pkg::LOAD_ROW_BYTES_LSB +: AddrW];

  // Windows one by one: a slice at a variable place is a shifter.
  weft_cfg_pkg::mem_addr_t win_base;
  logic [31:0]             win_size;
  logic                    win_ok;
  always_comb begin
    win_base = '0;
    win_size = '0;
    win_ok = 1'b0;
    if (cmd_valid_i) begin
      for (int unsigned i = 0; i < weft_cfg_pkg::N_WINDOWS; i++) begin
        if (c_window == 3'(i)) begin
          win_base = win_i.base[MemW*i +: MemW];
          win_size = win_i.size[32*i +: 32];
          win_ok = Store ? win_i.write[i] : win_i.read[i];
        end
      end
    end
  end

  logic                    valid_q, halt_q;
  weft_cfg_pkg::mem_addr_t base_q;
  logic [31:0]             size_q;
  logic                    ok_q;
  weft_cfg_pkg::sp_addr_t  bytes_q, mem_q;          // in the scratchpad, in memory
  logic                    int4_q, coded_q;
  logic [7:0]              centre_q;
  logic [15:0]             n1_q, n2_q;              // of the command
  logic [15:0]             i1_q, i2_q, i3_q;        // left, this one included
  logic signed [33:0]      off1_q, off2_q, off3_q;  // row; start of its plane; of its block
  weft_cfg_pkg::sp_addr_t  sp1_q, sp2_q, sp3_q;
  logic signed [31:0]      ds1_q, ds2_q, ds3_q;
  weft_cfg_pkg::sp_addr_t  ss1_q, ss2_q, ss3_q;

  logic last1, last2, last3, take, load;
  assign last1 = i1_q == 16'd1;
  assign last2 = i2_q == 16'd1;
  assign last3 = i3_q == 16'd1;
  assign take  = valid_q && row_ready_i;
  assign load  = cmd_valid_i && cmd_ready_o;

  logic signed [33:0] next1, next2, next3;
  assign next1 = off1_q + 34'(ds1_q);
  assign next2 = off2_q + 34'(ds2_q);
  assign next3 = off3_q + 34'(ds3_q);

  weft_cfg_pkg::sp_addr_t sp_next1, sp_next2, sp_next3;
  assign sp_next1 = sp1_q + ss1_q;
  assign sp_next2 = sp2_q + ss2_q;
  assign sp_next3 = sp3_q + ss3_q;

  // ---- checks -------------------------------------------------------------------

  logic        in_window, in_sp, row_last, row_fault;
  logic [32:0] off_end;
  logic [20:0] sp_end;
  assign off_end   = {1'b0, off1_q[31:0]} + 33'(mem_q);
  assign in_window = ok_q && off1_q[33:32] == 2'b00 && off_end <= {1'b0, size_q};
  assign sp_end    = {1'b0, sp1_q} + {1'b0, bytes_q};
  // Where the scratchpad fills the address space an access wraps instead.
  assign in_sp     = weft_cfg_pkg::LOG2_SP_BYTES == AddrW || sp_end <= 21'(weft_cfg_pkg::SP_BYTES);

  assign row_valid_o = valid_q;
  assign row_o.addr  = base_q + MemW'(off1_q[31:0]);
  assign row_o.sp    = sp1_q;
  assign row_o.bytes = mem_q;
  assign row_o.int4  = int4_q;
  assign row_o.odd   = int4_q && bytes_q[0];
  assign row_o.coded = coded_q;
  assign row_o.centre = centre_q;
  assign row_o.words = bytes_q[AddrW-1:weft_cfg_pkg::LOG2_N];
  assign row_o.last  = row_last;
  assign row_o.fault = row_fault;
  assign row_o.code  = in_window ? weft_cmd_pkg::FAULT_SP_RANGE : weft_cmd_pkg::FAULT_WINDOW;
  assign row_o.info  = in_window ? 32'(sp1_q) : off1_q[31:0];

  // The command's last row; a row that leaves its window or the scratchpad.
  assign row_last    = last1 && last2 && last3;
  assign row_fault   = !in_window || !in_sp;
  assign cmd_ready_o = !halt_q && !clear_i && (!valid_q || (take && row_last && !row_fault));
  assign busy_o      = valid_q;

  // ---- walk -----------------------------------------------------------------------

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      halt_q  <= 1'b0;
    end else if (clear_i) begin
      valid_q <= 1'b0;
      halt_q  <= 1'b0;
    end else begin
      if (take && (row_last || row_fault)) valid_q <= 1'b0;
      if (take && row_fault) halt_q <= 1'b1;
      if (load) valid_q <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      base_q  <= win_base;
      size_q  <= win_size;
      ok_q    <= win_ok;
      bytes_q <= c_bytes;
      coded_q <= c_is_coded;
      centre_q <= cmd_i[weft_cmd_pkg::LOAD_CENTRE_LSB +: 8];
      mem_q   <= c_is_coded ? AddrW'({c_coded, weft_cfg_pkg::LOG2_N'(0)}) : c_int4 ? {1'b0, c_bytes[AddrW-1:1]} + AddrW'(c_bytes[0]) : c_bytes;
      int4_q  <= c_int4;
      n1_q    <= cmd_i[weft_cmd_pkg::LOAD_N1_LSB +: 16];
      n2_q    <= cmd_i[weft_cmd_pkg::LOAD_N2_LSB +: 16];
      i1_q    <= cmd_i[weft_cmd_pkg::LOAD_N1_LSB +: 16];
      i2_q    <= cmd_i[weft_cmd_pkg::LOAD_N2_LSB +: 16];
      i3_q    <= cmd_i[weft_cmd_pkg::LOAD_N3_LSB +: 16];
      ds1_q   <= cmd_i[weft_cmd_pkg::LOAD_DRAM_STRIDE1_LSB +: 32];
      ds2_q   <= cmd_i[weft_cmd_pkg::LOAD_DRAM_STRIDE2_LSB +: 32];
      ds3_q   <= cmd_i[weft_cmd_pkg::LOAD_DRAM_STRIDE3_LSB +: 32];
      ss1_q   <= cmd_i[weft_cmd_pkg::LOAD_SP_STRIDE1_LSB +: AddrW];
      ss2_q   <= cmd_i[weft_cmd_pkg::LOAD_SP_STRIDE2_LSB +: AddrW];
      ss3_q   <= cmd_i[weft_cmd_pkg::LOAD_SP_STRIDE3_LSB +: AddrW];
      // No window is larger than 2^32 - 1 bytes; what lies beyond is marked in bit 32.
      off1_q  <= {1'b0, c_off[MemW-1:32] != '0, c_off[31:0]};
      off2_q  <= {1'b0, c_off[MemW-1:32] != '0, c_off[31:0]};
      off3_q  <= {1'b0, c_off[MemW-1:32] != '0, c_off[31:0]};
      sp1_q   <= cmd_i[weft_cmd_pkg::LOAD_SP_ADDR_LSB +: AddrW];
      sp2_q   <= cmd_i[weft_cmd_pkg::LOAD_SP_ADDR_LSB +: AddrW];
      sp3_q   <= cmd_i[weft_cmd_pkg::LOAD_SP_ADDR_LSB +: AddrW];
    end else if (take) begin
      if (!last1) begin
        i1_q   <= i1_q - 16'd1;
        off1_q <= next1;
        sp1_q  <= sp_next1;
      end else begin
        i1_q <= n1_q;
        if (!last2) begin
          i2_q   <= i2_q - 16'd1;
          off1_q <= next2;
          off2_q <= next2;
          sp1_q  <= sp_next2;
          sp2_q  <= sp_next2;
        end else begin
          i2_q   <= n2_q;
          i3_q   <= i3_q - 16'd1;
          off1_q <= next3;
          off2_q <= next3;
          off3_q <= next3;
          sp1_q  <= sp_next3;
          sp2_q  <= sp_next3;
          sp3_q  <= sp_next3;
        end
      end
    end
  end

`ifdef WEFT_ASSERT
  logic                   held_q, faulty_q;   // a row was not taken; the one that was taken last is faulty
  weft_cfg_pkg::dma_row_t old_q;
  always_ff @(posedge clk_i) begin
    held_q <= rst_ni && !clear_i && row_valid_o && !row_ready_i;
    old_q  <= row_o;
    if (!rst_ni || clear_i) faulty_q <= 1'b0;
    else if (take) faulty_q <= row_fault;
    if (rst_ni) begin
      if (valid_q) assert (i1_q != '0 && i2_q != '0 && i3_q != '0 && bytes_q != '0);
      if (held_q) assert (row_valid_o && row_o == old_q);
      if (faulty_q) assert (!row_valid_o && !cmd_ready_o);
      // A row that is no faulty one lies in its window and in the scratchpad, and is not stepped from beyond.
      if (row_valid_o && !row_o.fault) begin
        assert (33'(off1_q[31:0]) + 33'(row_o.bytes) <= 33'(size_q) && off1_q[33:32] == '0);
        assert (weft_cfg_pkg::LOG2_SP_BYTES == AddrW || 32'(row_o.sp) + 32'(bytes_q) <= weft_cfg_pkg::SP_BYTES);
        assert (coded_q || row_o.bytes == (int4_q ? AddrW'((21'(bytes_q) + 21'd1) >> 1) : bytes_q));
      end
    end
  end
`endif

endmodule
