// SPDX-License-Identifier: Apache-2.0
//
// The host link on the slave FIFOs of a Cypress FX2LP: 8 bits, synchronous,
// this clock on IFCLK. EP2 carries bytes to the card, EP6 bytes from it, both
// with automatic commit of full 512-byte packets.
//
// A frame's end commits a short packet: PKTEND goes with the last byte, or, where
// that byte fills a packet, alone behind it (a packet of 0 bytes). Flags are
// programmed as "EP2 is empty" (flag_empty_ni) and "EP6 is full" (flag_full_ni),
// both low active. The bus turns round with one cycle in which nobody drives it.
module weft_fx2 (
  input  logic       clk_i,
  input  logic       rst_ni,

  input  logic [7:0] fd_i,
  output logic [7:0] fd_o,
  output logic       fd_oe_o,
  output logic [1:0] fifoadr_o,
  output logic       sloe_no,
  output logic       slrd_no,
  output logic       slwr_no,
  output logic       pktend_no,
  input  logic       flag_empty_ni,
  input  logic       flag_full_ni,

  output logic       in_valid_o,
  input  logic       in_ready_i,
  output logic [7:0] in_data_o,
  input  logic       out_valid_i,
  output logic       out_ready_o,
  input  logic [7:0] out_data_i,
  input  logic       out_last_i
);

  localparam logic [2:0] Read   = 3'd0;   // EP2 drives the bus
  localparam logic [2:0] ToOut  = 3'd1;
  localparam logic [2:0] Write  = 3'd2;   // we do
  localparam logic [2:0] Settle = 3'd3;   // a full packet was committed
  localparam logic [2:0] Empty  = 3'd4;   // commit a packet of 0 bytes
  localparam logic [2:0] ToIn   = 3'd5;

  logic [2:0] state_q;
  logic [8:0] count_q;       // bytes of the packet
  logic       write, fills, ends;
  assign write = state_q == Write && out_valid_i && flag_full_ni;
  assign fills = count_q == '1;
  assign ends  = write && out_last_i;

  assign in_valid_o  = state_q == Read && flag_empty_ni;
  assign in_data_o   = fd_i;
  assign out_ready_o = state_q == Write && flag_full_ni;
  assign fifoadr_o   = state_q == Read || state_q == ToIn ? 2'b00 : 2'b10;
  assign sloe_no     = state_q != Read;
  assign slrd_no     = !(in_valid_o && in_ready_i);
  assign slwr_no     = !write;
  assign pktend_no   = !((ends && !fills) || (state_q == Empty && flag_full_ni));
  assign fd_o        = out_data_i;
  assign fd_oe_o     = state_q == Write;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= ToIn;
      count_q <= '0;
    end else begin
      if (write) count_q <= ends ? '0 : count_q + 9'd1;
      case (state_q)
        // A byte that can go out comes first: the host waits for answers.
        Read:    if (out_valid_i) state_q <= ToOut;
        ToOut:   state_q <= Write;
        Write: begin
          if (ends) state_q <= fills ? Settle : ToIn;
          else if (!out_valid_i || !flag_full_ni) state_q <= ToIn;
        end
        Settle:  state_q <= Empty;
        Empty:   if (flag_full_ni) state_q <= ToIn;
        default: state_q <= Read;   // ToIn
      endcase
    end
  end

`ifdef WEFT_ASSERT
  // What the bridge saw: bytes of the packet that is open in EP6, and whether its end is owed.
  logic [9:0] bytes_q;
  logic       owed_q;          // a frame's last byte filled a packet
  logic       drove_q, read_q; // we drove the bus, EP2 did
  always_ff @(posedge clk_i) begin
    drove_q <= rst_ni && fd_oe_o;
    read_q  <= rst_ni && !sloe_no;
    if (!rst_ni) begin
      bytes_q <= '0;
      owed_q  <= 1'b0;
    end else begin
      if (!slwr_no) begin
        bytes_q <= bytes_q == 10'd511 || !pktend_no ? '0 : bytes_q + 10'd1;
        owed_q  <= out_last_i && bytes_q == 10'd511;
      end else if (!pktend_no) owed_q <= 1'b0;

      // One drives the bus, and in the cycle between the two nobody.
      assert (!(fd_oe_o && !sloe_no) && !(fd_oe_o && read_q) && !(drove_q && !sloe_no));
      // EP2 is read and EP6 written where the flags allow, under their own addresses.
      assert (slrd_no || (fifoadr_o == 2'b00 && flag_empty_ni && !sloe_no));
      assert (slwr_no || (fifoadr_o == 2'b10 && flag_full_ni && fd_oe_o));
      assert (pktend_no || (fifoadr_o == 2'b10 && flag_full_ni));
      // PKTEND goes with the last byte, or alone behind one that filled a packet.
      assert (slwr_no || pktend_no == !(out_last_i && bytes_q != 10'd511));
      assert (pktend_no || !slwr_no || (owed_q && bytes_q == '0));
      assert (slwr_no || !owed_q);
    end
  end
`endif

endmodule
