// SPDX-License-Identifier: Apache-2.0
//
// AXI4 memory of one 16-bit SDR SDRAM of 32 MiB (4 banks of 8192 rows of 512
// columns), for clocks up to 50 MHz: a row is opened, a burst of columns read
// or written one a cycle, the row closed.
//
// Single ID, INCR, bursts of at most 16 beats. A read begins when there is room
// for all of it, a write when all its data is here; so a row is never held open
// by the other side. Bursts may cross rows. A burst behind the last byte is answered with an error
// (SLVERR) for each beat, and writes nothing. sdram_clk_o is clk_i inverted:
// commands change half a cycle before the memory takes them, and read data,
// CAS latency 2, is taken two cycles behind its command.
//
// Cycles from one command to another, as they lie on the pins, at 50 MHz or less: activate
// to column 2 (tRCD), precharge to activate 2 (tRP), activate to activate 7 (tRC), the last
// write to precharge 3 (tWR), refresh to what follows 5 (tRFC). One refresh each
// RefreshCycles (8192 in 64 ms).
module weft_sdram #(
  parameter int unsigned Bytes         = 8,     // of a beat; a power of two, at least 4
  parameter int unsigned InitCycles    = 5000,  // 200 us
  parameter int unsigned RefreshCycles = 180
) (
  input  logic               clk_i,
  input  logic               rst_ni,

  input  logic [39:0]        araddr_i,
  input  logic [7:0]         arlen_i,
  input  logic               arvalid_i,
  output logic               arready_o,
  output logic [8*Bytes-1:0] rdata_o,
  output logic [1:0]         rresp_o,
  output logic               rlast_o,
  output logic               rvalid_o,
  input  logic               rready_i,
  input  logic [39:0]        awaddr_i,
  input  logic [7:0]         awlen_i,
  input  logic               awvalid_i,
  output logic               awready_o,
  input  logic [8*Bytes-1:0] wdata_i,
  input  logic [Bytes-1:0]   wstrb_i,
  input  logic               wvalid_i,
  output logic               wready_o,
  output logic [1:0]         bresp_o,
  output logic               bvalid_o,
  input  logic               bready_i,

  output logic               sdram_clk_o,
  output logic               sdram_cke_o,
  output logic [3:0]         sdram_cmd_no,   // CS, RAS, CAS, WE, all low active
  output logic [1:0]         sdram_ba_o,
  output logic [12:0]        sdram_a_o,
  output logic [1:0]         sdram_dqm_o,
  output logic [15:0]        sdram_d_o,
  output logic               sdram_oe_o,
  input  logic [15:0]        sdram_d_i
);

  localparam int unsigned Log2  = $clog2(Bytes);
  localparam int unsigned LaneW = Log2 - 1;      // columns of a beat

  localparam logic [3:0] CmdNop       = 4'b0111;
  localparam logic [3:0] CmdActivate  = 4'b0011;
  localparam logic [3:0] CmdRead      = 4'b0101;
  localparam logic [3:0] CmdWrite     = 4'b0100;
  localparam logic [3:0] CmdPrecharge = 4'b0010;
  localparam logic [3:0] CmdRefresh   = 4'b0001;
  localparam logic [3:0] CmdMode      = 4'b0000;
  // CAS latency 2, sequential, bursts of one.
  localparam logic [12:0] Mode = 13'b000_0_00_010_0_000;

  // ---- what waits ----

  logic        ar_valid, aw_valid, ar_pop, aw_pop, w_valid, w_pop, r_push, r_ready;
  logic        ar_outside, aw_outside, r_outside;
  logic [24:0] ar_addr, aw_addr;
  logic [7:0]  ar_len, aw_len;
  logic [8*Bytes-1:0] w_data, r_data;
  logic [Bytes-1:0]   w_strb;
  logic [5:0]  w_count, r_count;
  logic        r_last;

  /* verilator lint_off PINCONNECTEMPTY */  // count_o
  weft_fifo #(.Width(34), .Depth(2)) u_ar (
    .clk_i, .rst_ni, .clr_i(1'b0),
    .wvalid_i(arvalid_i), .wready_o(arready_o), .wdata_i({araddr_i[39:25] != '0, araddr_i[24:0], arlen_i}),
    .rvalid_o(ar_valid), .rready_i(ar_pop), .rdata_o({ar_outside, ar_addr, ar_len}), .count_o()
  );
  weft_fifo #(.Width(34), .Depth(2)) u_aw (
    .clk_i, .rst_ni, .clr_i(1'b0),
    .wvalid_i(awvalid_i), .wready_o(awready_o), .wdata_i({awaddr_i[39:25] != '0, awaddr_i[24:0], awlen_i}),
    .rvalid_o(aw_valid), .rready_i(aw_pop), .rdata_o({aw_outside, aw_addr, aw_len}), .count_o()
  );
  weft_fifo #(.Width(9 * Bytes), .Depth(32)) u_w (
    .clk_i, .rst_ni, .clr_i(1'b0),
    .wvalid_i(wvalid_i), .wready_o(wready_o), .wdata_i({wstrb_i, wdata_i}),
    .rvalid_o(w_valid), .rready_i(w_pop), .rdata_o({w_strb, w_data}), .count_o(w_count)
  );
  weft_fifo #(.Width(8 * Bytes + 2), .Depth(32)) u_r (
    .clk_i, .rst_ni, .clr_i(1'b0),
    .wvalid_i(r_push), .wready_o(r_ready), .wdata_i({outside_q, r_last, r_data}),
    .rvalid_o(rvalid_o), .rready_i(rready_i), .rdata_o({r_outside, rlast_o, rdata_o}), .count_o(r_count)
  );
  /* verilator lint_on PINCONNECTEMPTY */

  assign rresp_o = {r_outside, 1'b0};

  // ---- one burst at a time ----

  localparam logic [2:0] Init      = 3'd0;
  localparam logic [2:0] Idle      = 3'd1;
  localparam logic [2:0] Activate  = 3'd2;
  localparam logic [2:0] Column    = 3'd3;
  localparam logic [2:0] Close     = 3'd4;

  logic [2:0]  state_q;
  logic [15:0] wait_q;        // cycles to stay
  logic [1:0]  step_q;        // of initialisation
  logic [15:0] refresh_q;
  logic        due_q;         // a refresh
  logic        write_q, turn_q;
  logic        outside_q;     // the burst lies behind the last byte
  logic [23:0] col_q;         // address in columns
  logic [9:0]  left_q;        // columns of the burst
  logic        want_read, want_write, row_end, issue;
  logic [LaneW-1:0] lane;
  assign lane       = col_q[LaneW-1:0];
  assign want_read  = ar_valid && r_count <= 6'd16;
  assign want_write = aw_valid && 8'(w_count) > aw_len && !bvalid_o;
  assign row_end    = col_q[8:0] == '1 || left_q == 10'd1;
  assign issue      = state_q == Column && wait_q == '0;
  assign ar_pop     = state_q == Idle && wait_q == '0 && !due_q && want_read && !(want_write && turn_q);
  assign aw_pop     = state_q == Idle && wait_q == '0 && !due_q && want_write && !(want_read && !turn_q);
  assign w_pop      = issue && write_q && lane == '1;

  // Read data: two cycles behind its command.
  logic [1:0]         read_q, last_q;
  logic [LaneW-1:0]   got_q;
  logic [8*Bytes-17:0] beat_q;     // what came of the beat
  assign r_data = {sdram_d_i, beat_q};
  assign r_push = read_q[1] && got_q == '1;
  assign r_last = last_q[1];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q      <= Init;
      wait_q       <= 16'(InitCycles);
      step_q       <= '0;
      refresh_q    <= '0;
      due_q        <= 1'b0;
      write_q      <= 1'b0;
      turn_q       <= 1'b0;
      outside_q    <= 1'b0;
      col_q        <= '0;
      left_q       <= '0;
      read_q       <= '0;
      last_q       <= '0;
      got_q        <= '0;
      beat_q       <= '0;
      bvalid_o     <= 1'b0;
      bresp_o      <= '0;
      sdram_cmd_no <= CmdNop;
      sdram_ba_o   <= '0;
      sdram_a_o    <= '0;
      sdram_dqm_o  <= '1;
      sdram_d_o    <= '0;
      sdram_oe_o   <= 1'b0;
    end else begin
      sdram_cmd_no <= CmdNop;
      sdram_oe_o   <= 1'b0;
      sdram_dqm_o  <= '0;
      if (bready_i) bvalid_o <= 1'b0;
      if (wait_q != '0) wait_q <= wait_q - 16'd1;

      refresh_q <= refresh_q + 16'd1;
      if (refresh_q == 16'(RefreshCycles)) begin
        refresh_q <= '0;
        due_q     <= 1'b1;
      end

      read_q <= {read_q[0], issue && !write_q};
      last_q <= {last_q[0], left_q <= 10'(Bytes / 2)};
      if (read_q[1]) begin
        beat_q <= r_data[8*Bytes-1:16];
        got_q  <= got_q + 1'b1;
      end

      case (state_q)
        Init: begin
          if (wait_q == '0) begin
            step_q    <= step_q + 2'd1;
            wait_q    <= 16'd8;
            sdram_a_o <= 13'b0_0100_0000_0000;   // all banks
            case (step_q)
              2'd0:    sdram_cmd_no <= CmdPrecharge;
              2'd3: begin
                sdram_cmd_no <= CmdMode;
                sdram_a_o    <= Mode;
                sdram_ba_o   <= '0;
                state_q      <= Idle;
              end
              default: sdram_cmd_no <= CmdRefresh;
            endcase
          end
        end
        Idle: begin
          if (wait_q == '0) begin
            if (due_q) begin
              sdram_cmd_no <= CmdRefresh;
              due_q        <= 1'b0;
              wait_q       <= 16'd4;
            end else if (ar_pop || aw_pop) begin
              state_q   <= Activate;
              write_q   <= aw_pop;
              turn_q    <= ar_pop;
              outside_q <= ar_pop ? ar_outside : aw_outside;
              col_q     <= ar_pop ? {ar_addr[24:Log2], LaneW'(0)} : {aw_addr[24:Log2], LaneW'(0)};
              left_q    <= 10'(((ar_pop ? 10'(ar_len) : 10'(aw_len)) + 10'd1) << LaneW);
            end
          end
        end
        Activate: begin
          sdram_cmd_no <= CmdActivate;
          sdram_ba_o   <= col_q[10:9];
          sdram_a_o    <= col_q[23:11];
          state_q      <= Column;
          wait_q       <= 16'd1;
        end
        Column: begin
          if (wait_q == '0) begin
            sdram_cmd_no <= write_q ? CmdWrite : CmdRead;
            sdram_a_o    <= {4'b0000, col_q[8:0]};
            sdram_d_o    <= w_data[16*lane+:16];
            sdram_dqm_o  <= write_q ? ~w_strb[2*lane+:2] | {2{outside_q}} : 2'b00;
            sdram_oe_o   <= write_q;
            col_q        <= col_q + 24'd1;
            left_q       <= left_q - 10'd1;
            if (row_end) begin
              state_q <= Close;
              wait_q  <= 16'd3;   // write recovery, or the last data on its way
            end
          end
        end
        Close: begin
          if (wait_q == 16'd1) begin
            sdram_cmd_no <= CmdPrecharge;
            sdram_a_o    <= 13'b0_0100_0000_0000;
          end
          if (wait_q == '0) begin
            state_q <= left_q == '0 ? Idle : Activate;
            wait_q  <= 16'd1;
            if (left_q == '0 && write_q) begin
              bvalid_o <= 1'b1;
              bresp_o  <= {outside_q, 1'b0};
            end
          end
        end
        default: state_q <= Idle;
      endcase
    end
  end

  assign sdram_clk_o = !clk_i;
  assign sdram_cke_o = 1'b1;

  logic unused;
  assign unused = &{1'b0, r_ready, w_valid, ar_addr[Log2-1:0], aw_addr[Log2-1:0]};

`ifdef WEFT_ASSERT
  // Cycles since each command was last on the pins, up to 7.
  logic [2:0] activated_q, written_q, closed_q, refreshed_q;
  function automatic logic [2:0] since(input logic now, input logic [2:0] count);
    since = now ? 3'd1 : count == 3'd7 ? 3'd7 : count + 3'd1;
  endfunction
  always_ff @(posedge clk_i) begin
    activated_q <= !rst_ni ? '1 : since(sdram_cmd_no == CmdActivate, activated_q);
    written_q   <= !rst_ni ? '1 : since(sdram_cmd_no == CmdWrite, written_q);
    closed_q    <= !rst_ni ? '1 : since(sdram_cmd_no == CmdPrecharge, closed_q);
    refreshed_q <= !rst_ni ? '1 : since(sdram_cmd_no == CmdRefresh, refreshed_q);
    if (rst_ni) begin
      if (sdram_cmd_no == CmdActivate) assert (closed_q >= 3'd2 && activated_q >= 3'd7 && refreshed_q >= 3'd5);
      if (sdram_cmd_no == CmdRead || sdram_cmd_no == CmdWrite) assert (activated_q >= 3'd2);
      if (sdram_cmd_no == CmdPrecharge) assert (written_q >= 3'd3);
      if (sdram_cmd_no == CmdRefresh) assert (refreshed_q >= 3'd5 && closed_q >= 3'd2);
      assert (!r_push || r_ready);
      assert (!w_pop || w_valid);
    end
  end
`endif

endmodule
