// SPDX-License-Identifier: Apache-2.0
//
// Physical memory protection of the control core: eight entries of the RISC-V
// manual's, in pages of 4 KiB of ROM and RAM, and in regions of 256 MiB elsewhere.
//
// So addresses in entries have bits 31:28 and, below 0x2000_0000, 15:12; others read
// 0, whatever is written. Of ROM and RAM, which are no larger than 64 KiB, that is all;
// where neither is, an access faults with the same cause as here.
//
// An entry is off or holds from the entry before it (entry 0: from 0) up to its
// own address (TOR); another mode becomes off. There is machine mode only, so an
// entry that is not locked grants all to what it matches. The first entry that
// matches counts; where none does all is granted. A locked entry keeps its
// configuration and address, and the address of the one below, until reset.
// Registers that the manual has and this core does not (entries 8 to 15) read 0.
module weft_rv32_pmp (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic [11:0] addr_i,         // of a CSR; read_o is 0 if it is not here
  output logic        here_o,
  output logic [31:0] read_o,
  input  logic        write_i,
  input  logic [31:0] wdata_i,

  input  logic [7:0]  fetch_page_i,   // bits 31:28 and 15:12 of addresses
  output logic        fetch_ok_o,
  input  logic [7:0]  data_page_i,
  input  logic        data_write_i,
  output logic        data_ok_o
);

  logic [7:0]  lock_q, tor_q, x_q, w_q, r_q;
  logic [7:0]  page_q [8];

  // ---- registers ----

  logic       at_cfg, at_page;
  logic [7:0] frozen;       // page_q may not be written
  assign at_cfg  = addr_i[11:2] == weft_rv32_pkg::CSR_PMPCFG0[11:2];
  assign at_page = addr_i[11:4] == weft_rv32_pkg::CSR_PMPADDR0[11:4];
  assign here_o  = at_cfg || at_page;
  assign frozen  = lock_q | {1'b0, lock_q[7:1] & tor_q[7:1]};

  always_comb begin
    read_o = '0;
    if (at_page && !addr_i[3]) read_o = {2'b00, page_q[addr_i[2:0]][7:4], 12'b0, page_q[addr_i[2:0]][3:0], 10'b0};
    if (at_cfg && !addr_i[1]) begin
      for (int i = 0; i < 4; i++) begin
        read_o[8*i +: 8] = {lock_q[{addr_i[0], 2'(i)}], 3'b000, tor_q[{addr_i[0], 2'(i)}], x_q[{addr_i[0], 2'(i)}],
                            w_q[{addr_i[0], 2'(i)}], r_q[{addr_i[0], 2'(i)}]};
      end
    end
  end

  for (genvar i = 0; i < 8; i++) begin : g_entry
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        lock_q[i] <= 1'b0;
        tor_q[i]  <= 1'b0;
        x_q[i]    <= 1'b0;
        w_q[i]    <= 1'b0;
        r_q[i]    <= 1'b0;
        page_q[i] <= '0;
      end else if (write_i) begin
        if (at_cfg && addr_i[1:0] == 2'(i / 4) && !lock_q[i]) begin
          lock_q[i] <= wdata_i[8*(i%4) + 7];
          tor_q[i]  <= wdata_i[8*(i%4) + 3 +: 2] == 2'b01;
          x_q[i]    <= wdata_i[8*(i%4) + 2];
          w_q[i]    <= wdata_i[8*(i%4) + 1] && wdata_i[8*(i%4)];   // W without R is reserved
          r_q[i]    <= wdata_i[8*(i%4)];
        end
        if (at_page && addr_i[3:0] == 4'(i) && !frozen[i])
          page_q[i] <= {wdata_i[29:26], wdata_i[29:27] == '0 ? wdata_i[13:10] : 4'd0};
      end
    end
  end

  // ---- who may ----

  logic [7:0] fetch_below, data_below, fetch_match, data_match;
  always_comb begin
    for (int i = 0; i < 8; i++) begin
      fetch_below[i] = fetch_page_i < page_q[i];
      data_below[i]  = data_page_i < page_q[i];
    end
    fetch_match = tor_q & fetch_below & ~{fetch_below[6:0], 1'b0};
    data_match  = tor_q & data_below & ~{data_below[6:0], 1'b0};
    fetch_ok_o  = 1'b1;
    data_ok_o   = 1'b1;
    for (int i = 7; i >= 0; i--) begin
      if (fetch_match[i]) fetch_ok_o = !lock_q[i] || x_q[i];
      if (data_match[i]) data_ok_o = !lock_q[i] || (data_write_i ? w_q[i] : r_q[i]);
    end
  end

  logic unused;
  assign unused = &{1'b0, wdata_i[30], wdata_i[22:21], wdata_i[14], wdata_i[6:5]};

`ifdef WEFT_ASSERT
  logic [7:0] was_locked_q;
  always_ff @(posedge clk_i) begin
    was_locked_q <= rst_ni ? lock_q : '0;
    if (rst_ni) begin
      assert ((was_locked_q & ~lock_q) == '0);           // only a reset unlocks
      assert (fetch_ok_o || (lock_q & tor_q) != '0);
      assert (data_ok_o || (lock_q & tor_q) != '0);
    end
  end
`endif

endmodule
