// SPDX-License-Identifier: Apache-2.0
//
// Control core with its boot ROM and RAM. Wiring.
//
// Everything that is neither goes out on bus_*: held until bus_ready_i, data
// and error in that cycle. RomFile holds the ROM's words for $readmemh; a
// simulator may fill u_rom.mem instead.
module weft_ctrl #(
  parameter int unsigned RomBytes = 8192,
  parameter int unsigned RamBytes = 65536,
  parameter              RomFile  = ""
) (
  input  logic        clk_i,
  input  logic        rst_ni,

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

  logic        imem_en, dmem_en, dmem_write;
  logic [31:0] imem_addr, dmem_addr, dmem_wdata;
  logic [3:0]  dmem_mask;
  logic [31:0] rom_a, rom_b, ram_a, ram_b;
  logic        fetch_ram_q, data_ram_q;

  weft_rv32 #(
    .RomBytes(RomBytes),
    .RamBytes(RamBytes)
  ) u_core (
    .clk_i,
    .rst_ni,
    .imem_en_o   (imem_en),
    .imem_addr_o (imem_addr),
    .imem_rdata_i(fetch_ram_q ? ram_a : rom_a),
    .dmem_en_o   (dmem_en),
    .dmem_addr_o (dmem_addr),
    .dmem_write_o(dmem_write),
    .dmem_mask_o (dmem_mask),
    .dmem_wdata_o(dmem_wdata),
    .dmem_rdata_i(data_ram_q ? ram_b : rom_b),
    .bus_valid_o,
    .bus_addr_o,
    .bus_write_o,
    .bus_mask_o,
    .bus_wdata_o,
    .bus_ready_i,
    .bus_error_i,
    .bus_rdata_i,
    .irq_timer_i,
    .irq_external_i,
    .sleep_o
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fetch_ram_q <= 1'b0;
      data_ram_q  <= 1'b0;
    end else begin
      if (imem_en) fetch_ram_q <= imem_addr[28];
      if (dmem_en && !dmem_write) data_ram_q <= dmem_addr[28];
    end
  end

  weft_ram_2p #(
    .Depth(RomBytes / 4),
    .File (RomFile)
  ) u_rom (
    .clk_i,
    .a_en_i   (imem_en && !imem_addr[28]),
    .a_addr_i (imem_addr[RomBits-1:2]),
    .a_rdata_o(rom_a),
    .b_en_i   (dmem_en && !dmem_addr[28]),
    .b_addr_i (dmem_addr[RomBits-1:2]),
    .b_write_i(1'b0),
    .b_mask_i (4'b0),
    .b_wdata_i(32'd0),
    .b_rdata_o(rom_b)
  );

  weft_ram_2p #(
    .Depth(RamBytes / 4)
  ) u_ram (
    .clk_i,
    .a_en_i   (imem_en && imem_addr[28]),
    .a_addr_i (imem_addr[RamBits-1:2]),
    .a_rdata_o(ram_a),
    .b_en_i   (dmem_en && dmem_addr[28]),
    .b_addr_i (dmem_addr[RamBits-1:2]),
    .b_write_i(dmem_write),
    .b_mask_i (dmem_mask),
    .b_wdata_i(dmem_wdata),
    .b_rdata_o(ram_b)
  );

  logic unused;
  assign unused = &{1'b0, imem_addr, dmem_addr};

`ifdef WEFT_ASSERT
  logic        old_wait_q;
  logic [36:0] old_access_q;
  always_ff @(posedge clk_i) begin
    old_wait_q   <= rst_ni && bus_valid_o && !bus_ready_i;
    old_access_q <= {bus_write_o, bus_mask_o, bus_addr_o};
    if (rst_ni && old_wait_q) assert (bus_valid_o && {bus_write_o, bus_mask_o, bus_addr_o} == old_access_q);
  end
`endif

endmodule
