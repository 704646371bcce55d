// SPDX-License-Identifier: Apache-2.0
//
// Packets from the host: what came, and whether it is whole.
//
// token_o, handshake_o and data_end_o come for one cycle behind the end of a packet of that
// kind that is good: PID and its complement, CRC5 or CRC16, the length, no error of the PHY.
// Of a packet that is not, nothing comes but bad_o. Payload bytes of a data packet come as they arrive,
// without the CRC, before anybody knows whether they are good: data_begin_o in front.
// pid_o, addr_o and endp_o hold until the next packet. One of the four at most comes for a packet.
module weft_usb_rx (
  input  logic       clk_i,
  input  logic       rst_ni,

  input  logic       rx_active_i,
  input  logic       rx_valid_i,
  input  logic [7:0] rx_data_i,
  input  logic       rx_error_i,

  output logic [3:0] pid_o,
  output logic [6:0] addr_o,
  output logic [3:0] endp_o,
  output logic       token_o,
  output logic       handshake_o,
  output logic       data_begin_o,
  output logic       data_valid_o,
  output logic [7:0] data_o,
  output logic       data_end_o,
  output logic       bad_o
);

  // PIDs by their low bits: token, handshake, data; PING and the split token are special ones.
  localparam logic [1:0] Token     = 2'b01;
  localparam logic [1:0] Handshake = 2'b10;
  localparam logic [1:0] Data      = 2'b11;
  localparam logic [3:0] Ping      = 4'b0100;

  logic        active_q, bad_q, seen_q;
  logic [1:0]  count_q;        // bytes behind the PID, up to 3
  logic [15:0] last_q;         // the two bytes before
  logic [15:0] crc_q, crc_next;
  logic        is_token, is_data, is_handshake, ends, good;

  weft_usb_crc16 u_crc (
    .crc_i (crc_q),
    .byte_i(rx_data_i),
    .crc_o (crc_next)
  );

  // CRC5 over the eleven bits of a token (8.3.5.1): polynomial 0x05 reflected.
  logic [4:0] crc5;
  always_comb begin
    crc5 = '1;
    for (int unsigned i = 0; i < 11; i++) crc5 = crc5[0] ^ last_q[i] ? {1'b0, crc5[4:1]} ^ 5'h14 : {1'b0, crc5[4:1]};
    crc5 = ~crc5;
  end

  assign is_token     = pid_o[1:0] == Token || pid_o == Ping;
  assign is_data      = pid_o[1:0] == Data;
  assign is_handshake = pid_o[1:0] == Handshake;
  assign ends         = active_q && !rx_active_i;
  always_comb begin
    good = seen_q && !bad_q;
    if (is_token) good = good && count_q == 2'd2 && last_q[15:11] == crc5;
    else if (is_data) good = good && count_q[1] && crc_q == 16'hb001;
    else good = good && is_handshake && count_q == '0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      active_q     <= 1'b0;
      bad_q        <= 1'b0;
      seen_q       <= 1'b0;
      count_q      <= '0;
      last_q       <= '0;
      crc_q        <= '1;
      pid_o        <= '0;
      addr_o       <= '0;
      endp_o       <= '0;
      token_o      <= 1'b0;
      handshake_o  <= 1'b0;
      data_begin_o <= 1'b0;
      data_valid_o <= 1'b0;
      data_o       <= '0;
      data_end_o   <= 1'b0;
      bad_o        <= 1'b0;
    end else begin
      active_q     <= rx_active_i;
      data_begin_o <= 1'b0;
      data_valid_o <= 1'b0;
      token_o      <= ends && good && is_token;
      handshake_o  <= ends && good && is_handshake;
      data_end_o   <= ends && good && is_data;
      bad_o        <= ends && !good;
      if (ends && is_token) {endp_o, addr_o} <= last_q[10:0];
      if (!rx_active_i) begin
        bad_q   <= 1'b0;
        seen_q  <= 1'b0;
        count_q <= '0;
        crc_q   <= '1;
      end else begin
        if (rx_error_i) bad_q <= 1'b1;
        if (rx_valid_i && !seen_q) begin
          seen_q <= 1'b1;
          pid_o  <= rx_data_i[3:0];
          if (rx_data_i[7:4] != ~rx_data_i[3:0]) bad_q <= 1'b1;
          data_begin_o <= rx_data_i[7:4] == ~rx_data_i[3:0] && rx_data_i[1:0] == Data;
        end else if (rx_valid_i) begin
          if (count_q != '1) count_q <= count_q + 2'd1;
          last_q       <= {rx_data_i, last_q[15:8]};
          crc_q        <= crc_next;
          data_valid_o <= is_data && count_q[1];
          data_o       <= last_q[7:0];
        end
      end
    end
  end

`ifdef WEFT_ASSERT
  logic done_q;    // the packet has had its event
  always_ff @(posedge clk_i) begin
    done_q <= rst_ni && !rx_active_i && (done_q || token_o || handshake_o || data_end_o || bad_o);
    if (rst_ni) begin
      assert ({2'd0, token_o} + {2'd0, handshake_o} + {2'd0, data_end_o} + {2'd0, bad_o} <= 3'd1);
      if (done_q) assert (!token_o && !handshake_o && !data_end_o && !bad_o);
      if (data_valid_o) assert (is_data);
    end
  end
`endif

endmodule
