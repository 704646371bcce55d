// SPDX-License-Identifier: Apache-2.0
//
// The control endpoint: requests of USB 2.0, chapter 9, and the vendor requests of
// docs/protocol.md. What it knows of the device (address, configuration, halted endpoints)
// goes from here to the others.
//
// A SETUP is judged in the cycle behind it. What is not known, or not now, is answered with
// STALL until the next SETUP. Bytes that go to the host come from a ROM of descriptors, from
// eight bytes that were taken at the request, or from the serial; packets of 64, the last one
// shorter, an empty one where the host asked for more than there is. A packet is the same
// each time until it is acknowledged. The address changes behind the status stage. A request
// for a reset is done when flush_busy_i is low again, and its status stage waits for that.
module weft_usb_control #(
  parameter bit HighSpeed = 1'b0   // the PHY is able to
) (
  input  logic         clk_i,
  input  logic         rst_ni,          // power
  input  logic         bus_reset_i,

  input  logic         high_speed_i,
  input  logic [127:0] serial_i,        // 16 characters, filled up with 0; constant
  input  logic [3:0]   status_i,        // flags of GET_STATUS
  output logic [6:0]   addr_o,
  output logic         configured_o,
  output logic         halt_out_o,
  output logic         halt_in_o,
  output logic         clr_out_o,       // toggle of the endpoint to 0
  output logic         clr_in_o,
  output logic         flush_o,         // one cycle: reset the link,
  output logic         flush_chip_o,    // or the chip
  input  logic         flush_busy_i,

  input  logic         setup_i,         // what comes is a SETUP's
  input  logic         sel_i,
  input  logic         valid_i,
  input  logic [7:0]   data_i,
  input  logic         commit_i,
  output logic         stall_o,
  output logic         room_o,
  output logic         ready_o,
  output logic         toggle_o,
  output logic         more_o,
  output logic [7:0]   data_o,
  input  logic         take_i,
  input  logic         sent_i,
  input  logic         acked_i
);

  localparam logic [2:0] Idle      = 3'd0;
  localparam logic [2:0] Judge     = 3'd1;
  localparam logic [2:0] DataIn    = 3'd2;
  localparam logic [2:0] StatusOut = 3'd3;
  localparam logic [2:0] StatusIn  = 3'd4;
  localparam logic [2:0] Stall     = 3'd5;

  localparam logic [1:0] Rom    = 2'd0;
  localparam logic [1:0] Small  = 2'd1;
  localparam logic [1:0] Serial = 2'd2;

  // ---- the request ----

  logic [63:0] setup_q;
  logic [7:0]  kind, request;
  logic [15:0] value, index, length;
  assign {length, index, value, request, kind} = setup_q;
  always_ff @(posedge clk_i) begin
    if (sel_i && setup_i && valid_i) setup_q <= {data_i, setup_q[63:8]};
  end

  logic [2:0]  state_q;
  logic        configured_q, halt_out_q, halt_in_q, set_addr_q;
  logic [6:0]  addr_q;
  logic [31:0] resets_q;       // of the link, since power
  assign addr_o       = addr_q;
  assign configured_o = configured_q;
  assign halt_out_o   = halt_out_q;
  assign halt_in_o    = halt_in_q;

  // Endpoints that a request may name.
  logic ep_out, ep_in, ep_zero;
  assign ep_out  = configured_q && index[7:0] == {4'd0, weft_usb_pkg::EP_OUT_NUMBER};
  assign ep_in   = configured_q && index[7:0] == {4'd8, weft_usb_pkg::EP_IN_NUMBER};
  assign ep_zero = index[6:0] == '0;

  logic [4:0] n_serial;        // its characters
  always_comb begin
    n_serial = 5'd16;
    for (int i = 15; i >= 0; i--) if (serial_i[8*i+:8] == '0) n_serial = 5'(i);
  end

  // ---- what it comes to ----

  logic        ok, link_reset, chip_reset, set_addr, set_config, set_halt, clear_halt, other;
  logic [1:0]  source;
  logic [8:0]  at, bytes;
  logic [63:0] small_bytes;
  always_comb begin
    ok          = 1'b0;
    link_reset  = 1'b0;
    chip_reset  = 1'b0;
    set_addr    = 1'b0;
    set_config  = 1'b0;
    set_halt    = 1'b0;
    clear_halt  = 1'b0;
    other       = 1'b0;
    source      = Small;
    at          = '0;
    bytes       = '0;
    small_bytes = '0;
    case ({kind, request})
      16'h8000: begin            // GET_STATUS of the device: powered by the bus, no remote wakeup
        ok    = 1'b1;
        bytes = 9'd2;
      end
      16'h8100: begin            // of an interface
        ok    = configured_q && index == '0;
        bytes = 9'd2;
      end
      16'h8200: begin            // of an endpoint
        ok             = ep_zero || ep_out || ep_in;
        bytes          = 9'd2;
        small_bytes[0] = (ep_out && halt_out_q) || (ep_in && halt_in_q);
      end
      16'h0201: begin            // CLEAR_FEATURE(ENDPOINT_HALT)
        ok         = (ep_out || ep_in) && value == '0;
        clear_halt = 1'b1;
      end
      16'h0203: begin            // SET_FEATURE(ENDPOINT_HALT)
        ok       = (ep_out || ep_in) && value == '0;
        set_halt = 1'b1;
      end
      16'h0005: begin            // SET_ADDRESS
        ok       = value[15:7] == '0;
        set_addr = 1'b1;
      end
      16'h8008: begin            // GET_CONFIGURATION
        ok             = 1'b1;
        bytes          = 9'd1;
        small_bytes[0] = configured_q;
      end
      16'h0009: begin            // SET_CONFIGURATION
        ok         = value[15:1] == '0;
        set_config = 1'b1;
      end
      16'h810a: begin            // GET_INTERFACE
        ok    = configured_q && index == '0;
        bytes = 9'd1;
      end
      16'h010b: begin            // SET_INTERFACE: there is only setting 0
        ok         = configured_q && index == '0 && value == '0;
        clear_halt = 1'b1;
      end
      16'h8006: begin            // GET_DESCRIPTOR
        source = Rom;
        case (value)
          16'h0100: begin
            ok    = 1'b1;
            at    = weft_usb_pkg::ROM_DEVICE_AT;
            bytes = weft_usb_pkg::ROM_DEVICE_BYTES;
          end
          16'h0200, 16'h0700: begin
            // CONFIGURATION of this speed, OTHER_SPEED_CONFIGURATION of the other one.
            ok    = HighSpeed || !value[8];
            other = value[8];
            at    = (HighSpeed && high_speed_i) != value[8] ? weft_usb_pkg::ROM_CONFIG_AT : weft_usb_pkg::ROM_CONFIG_FULL_AT;
            bytes = weft_usb_pkg::ROM_CONFIG_BYTES;
          end
          16'h0300: begin
            ok    = 1'b1;
            at    = weft_usb_pkg::ROM_STRING0_AT;
            bytes = weft_usb_pkg::ROM_STRING0_BYTES;
          end
          16'h0301: begin
            ok    = 1'b1;
            at    = weft_usb_pkg::ROM_STRING1_AT;
            bytes = weft_usb_pkg::ROM_STRING1_BYTES;
          end
          16'h0302: begin
            ok    = 1'b1;
            at    = weft_usb_pkg::ROM_STRING2_AT;
            bytes = weft_usb_pkg::ROM_STRING2_BYTES;
          end
          16'h0303: begin
            ok     = 1'b1;
            source = Serial;
            bytes  = {3'd0, n_serial, 1'b0} + 9'd2;
          end
          16'h0600: begin
            ok    = HighSpeed;
            at    = weft_usb_pkg::ROM_QUALIFIER_AT;
            bytes = weft_usb_pkg::ROM_QUALIFIER_BYTES;
          end
          16'h0f00: begin
            ok    = 1'b1;
            at    = weft_usb_pkg::ROM_BOS_AT;
            bytes = weft_usb_pkg::ROM_BOS_BYTES;
          end
          default: ;
        endcase
      end
      {8'h40, weft_usb_pkg::REQ_LINK_RESET}: begin
        ok         = 1'b1;
        link_reset = 1'b1;
      end
      {8'h40, weft_usb_pkg::REQ_CHIP_RESET}: begin
        ok         = 1'b1;
        chip_reset = 1'b1;
      end
      {8'hc0, weft_usb_pkg::REQ_GET_STATUS}: begin
        ok          = 1'b1;
        bytes       = 9'd8;
        small_bytes = {resets_q, 28'd0, status_i};
      end
      {8'hc0, weft_usb_pkg::MS_VENDOR_CODE}: begin
        ok     = index == 16'd7;
        source = Rom;
        at     = weft_usb_pkg::ROM_MSOS20_AT;
        bytes  = weft_usb_pkg::ROM_MSOS20_BYTES;
      end
      default: ;
    endcase
    if (!kind[7] && length != '0) ok = 1'b0;   // no request has bytes for us
  end

  logic act, wait_flush;
  assign wait_flush   = ok && (link_reset || chip_reset) && flush_busy_i;
  assign act          = state_q == Judge && ok && !wait_flush && !commit_i;
  assign flush_o      = act && (link_reset || chip_reset);
  assign flush_chip_o = chip_reset;
  assign clr_out_o    = act && (set_config || (clear_halt && (ep_out || kind[1:0] == 2'd1)));
  assign clr_in_o     = act && (set_config || (clear_halt && (ep_in || kind[1:0] == 2'd1)));

  // ---- bytes to the host ----

  logic [1:0]  source_q;
  logic        other_q, more_asked_q, toggle_q;
  logic [8:0]  at_q, left_q, done_q;   // in the ROM; that have not gone; that have
  logic [63:0] small_q;
  logic [6:0]  pos_q, pos_d, now;      // of this packet: bytes on their way, all
  // These two follow done_q and left_q a cycle later. done_q and left_q change with a request and with an ACK, and the next
  // IN comes later than that.
  logic [8:0]  from_q;                 // in the ROM: of this packet's first byte
  logic        more_q;                 // not all bytes of this packet are on their way
  assign now      = left_q > 9'd64 ? 7'd64 : left_q[6:0];
  assign pos_d    = sent_i ? '0 : pos_q + 7'(take_i);
  assign more_o   = state_q == DataIn && more_q;
  always_ff @(posedge clk_i) begin
    from_q <= at_q + done_q;
    more_q <= now != pos_d;
  end
  assign toggle_o = state_q == DataIn ? toggle_q : 1'b1;
  assign stall_o  = state_q == Stall;
  assign room_o   = state_q != StatusIn && state_q != Judge;
  assign ready_o  = state_q == DataIn || (state_q == StatusIn && !flush_busy_i);

  // From sent_i on, two bytes are looked up before they are asked for: data_o, which goes next, and after_q, which follows it.
  // So the address of the ROM comes from a register, and take_i is not in the path that leads through the ROM.
  logic [8:0] rom_q, byte_q;           // the byte that is looked up: its address in the ROM, its number in the answer
  logic [7:0] found, after_q;
  logic [1:0] ahead_q;                 // how many of the two bytes have been looked up
  logic       find;                    // a byte is looked up
  assign find = ahead_q != 2'd2 || take_i;

  always_comb begin
    case (source_q)
      Rom:     found = other_q && byte_q == 9'd1 ? 8'd7 : weft_usb_pkg::rom(rom_q);
      Serial: begin
        if (byte_q == '0) found = {2'd0, n_serial, 1'b0} + 8'd2;
        else if (byte_q == 9'd1) found = 8'd3;
        else found = byte_q[0] ? '0 : serial_i[8*(byte_q[4:1]-4'd1)+:8];
      end
      default: found = small_q[8*byte_q[2:0]+:8];
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (sent_i) begin
      ahead_q <= '0;
      rom_q   <= from_q;
      byte_q  <= done_q;
    end else begin
      ahead_q <= ahead_q + 2'(find) - 2'(take_i);
      rom_q   <= rom_q + 9'(find);
      byte_q  <= byte_q + 9'(find);
    end
    if (ahead_q == '0 || take_i) data_o <= ahead_q == 2'd2 ? after_q : found;
    if (find) after_q <= found;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || bus_reset_i) begin
      state_q      <= Idle;
      configured_q <= 1'b0;
      halt_out_q   <= 1'b0;
      halt_in_q    <= 1'b0;
      set_addr_q   <= 1'b0;
      addr_q       <= '0;
      source_q     <= Small;
      other_q      <= 1'b0;
      more_asked_q <= 1'b0;
      toggle_q     <= 1'b0;
      at_q         <= '0;
      left_q       <= '0;
      done_q       <= '0;
      small_q      <= '0;
      pos_q        <= '0;
    end else begin
      pos_q <= pos_d;
      case (state_q)
        Judge: begin
          source_q     <= source;
          other_q      <= other;
          at_q         <= at;
          done_q       <= '0;
          small_q      <= small_bytes;
          toggle_q     <= 1'b1;
          left_q       <= length < {7'd0, bytes} ? length[8:0] : bytes;
          more_asked_q <= length > {7'd0, bytes};
          set_addr_q   <= ok && set_addr;
          if (!ok) state_q <= Stall;
          else if (!wait_flush) state_q <= kind[7] && length != '0 ? DataIn : StatusIn;
        end
        DataIn: begin
          if (acked_i) begin
            toggle_q <= !toggle_q;
            done_q   <= done_q + {2'd0, now};
            left_q   <= left_q - {2'd0, now};
            if (left_q < 9'd64 || (left_q == 9'd64 && !more_asked_q)) state_q <= StatusOut;
          end
          if (commit_i) state_q <= Idle;   // the host has enough
        end
        StatusOut: if (commit_i) state_q <= Idle;
        StatusIn: begin
          if (acked_i) begin
            state_q <= Idle;
            if (set_addr_q) addr_q <= value[6:0];
          end
        end
        default: ;   // Idle, Stall
      endcase
      if (act) begin
        if (set_config) begin
          configured_q <= value[0];
          halt_out_q   <= 1'b0;
          halt_in_q    <= 1'b0;
        end
        if (clr_out_o) halt_out_q <= 1'b0;
        if (clr_in_o) halt_in_q <= 1'b0;
        if (set_halt && ep_out) halt_out_q <= 1'b1;
        if (set_halt && ep_in) halt_in_q <= 1'b1;
      end
      if (commit_i && setup_i) begin
        state_q    <= Judge;
        set_addr_q <= 1'b0;
      end
    end
    if (!rst_ni) resets_q <= '0;
    else if (flush_o) resets_q <= resets_q + 32'd1;
  end

`ifdef WEFT_ASSERT
  logic       old_wait_q;
  logic [6:0] old_addr_q;
  always_ff @(posedge clk_i) begin
    old_addr_q <= addr_q;
    old_wait_q <= rst_ni && !bus_reset_i && state_q == StatusIn && acked_i;
    if (rst_ni && !bus_reset_i) begin
      if (addr_q != old_addr_q && addr_q != '0) assert (old_wait_q);   // behind the status stage
      assert (now <= 7'd64);
      if (take_i) begin
        assert (more_o && now != pos_q && ahead_q != '0 && byte_q == done_q + {2'd0, pos_q} + {7'd0, ahead_q});
        if (source_q == Rom && !other_q) assert (data_o == weft_usb_pkg::rom(at_q + done_q + {2'd0, pos_q}));
      end
      if (flush_o) assert (!flush_busy_i);
      if (acked_i) assert (ready_o || state_q == Judge);
      assert (!configured_q || !stall_o || state_q == Stall);
    end
  end
`endif

endmodule
