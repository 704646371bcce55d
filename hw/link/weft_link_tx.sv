// SPDX-License-Identifier: Apache-2.0
//
// Frames to the host: ACK, DATA with bytes of card memory, REPLY with the
// message of firmware; a byte a cycle, out_last_o with a frame's last byte.
//
// ACK and DATA go first (there is never more than one of them). Nothing is
// begun while stop_i is high. A DATA whose memory answered with an error gets a
// wrong payload crc.
module weft_link_tx (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        stop_i,

  input  logic        ack_valid_i,
  input  logic [15:0] ack_seq_i,
  input  logic [31:0] ack_status_i,
  output logic        ack_ready_o,

  input  logic        read_valid_i,
  input  logic [15:0] read_seq_i,
  input  logic [31:0] read_addr_i,
  input  logic [20:0] read_len_i,
  output logic        read_start_o,
  output logic        read_done_o,
  input  logic        byte_valid_i,
  output logic        byte_ready_o,
  input  logic [7:0]  byte_data_i,
  input  logic        byte_error_i,

  input  logic        msg_valid_i,
  input  logic [15:0] msg_seq_i,
  input  logic [9:0]  msg_len_i,
  output logic [6:0]  msg_word_o,
  input  logic [31:0] msg_data_i,
  output logic        msg_done_o,

  output logic        out_valid_o,
  input  logic        out_ready_i,
  output logic [7:0]  out_data_o,
  output logic        out_last_o,
  output logic        busy_o
);

  localparam logic [1:0] Idle    = 2'd0;
  localparam logic [1:0] Header  = 2'd1;
  localparam logic [1:0] Payload = 2'd2;
  localparam logic [1:0] Crc     = 2'd3;

  logic [1:0]  state_q, state_d;
  logic        data_q, msg_q;      // kind of frame; neither: ACK
  logic [95:0] header_q;
  logic [3:0]  count_q;
  logic [20:0] left_q, at_q;
  logic [31:0] crc_q, crc_next, crc_sent;
  logic        sent, begin_ack, begin_data, begin_msg, last_byte;

  assign begin_ack  = state_q == Idle && ack_valid_i;
  assign begin_data = state_q == Idle && !ack_valid_i && read_valid_i;
  assign begin_msg  = state_q == Idle && !ack_valid_i && !read_valid_i && msg_valid_i && !stop_i;
  assign ack_ready_o  = begin_ack;
  assign read_start_o = begin_data;

  assign sent       = out_valid_o && out_ready_i;
  assign last_byte  = sent && out_last_o;
  assign crc_sent   = data_q && byte_error_i && state_q == Crc ? crc_q : ~crc_q;
  assign msg_word_o = at_q[8:2];
  assign busy_o     = state_q != Idle;

  weft_link_crc u_crc (
    .crc_i (crc_q),
    .byte_i(out_data_o),
    .crc_o (crc_next)
  );

  always_comb begin
    state_d      = state_q;
    out_valid_o  = 1'b0;
    out_last_o   = 1'b0;
    out_data_o   = crc_sent[8*count_q[1:0]+:8];
    byte_ready_o = 1'b0;
    case (state_q)
      Idle: if (begin_ack || begin_data || begin_msg) state_d = Header;
      Header: begin
        out_valid_o = 1'b1;
        if (count_q < 4'd12) out_data_o = header_q[7:0];
        out_last_o = count_q == 4'd15 && !data_q && !msg_q;
        if (out_ready_i && count_q == 4'd15) state_d = data_q || msg_q ? Payload : Idle;
      end
      Payload: begin
        if (data_q) begin
          out_valid_o  = byte_valid_i;
          out_data_o   = byte_data_i;
          byte_ready_o = out_ready_i;
        end else begin
          out_valid_o = 1'b1;
          out_data_o  = msg_data_i[8*at_q[1:0]+:8];
        end
        if (out_ready_i && (byte_valid_i || !data_q) && left_q == 21'd1) state_d = Crc;
      end
      default: begin   // Crc
        out_valid_o = 1'b1;
        out_last_o  = count_q == 4'd3;
        if (out_ready_i && count_q == 4'd3) state_d = Idle;
      end
    endcase
  end
  assign read_done_o = last_byte && data_q;
  assign msg_done_o  = last_byte && msg_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q  <= Idle;
      data_q   <= 1'b0;
      msg_q    <= 1'b0;
      header_q <= '0;
      count_q  <= '0;
      left_q   <= '0;
      at_q     <= '0;
      crc_q    <= '1;
    end else begin
      state_q <= state_d;
      if (state_q == Idle) begin
        data_q  <= begin_data;
        msg_q   <= begin_msg;
        count_q <= '0;
        at_q    <= '0;
        crc_q   <= '1;
        left_q  <= '0;
        if (begin_ack)
          header_q <= {32'd0, ack_status_i, ack_seq_i, weft_link_pkg::TYPE_ACK, weft_link_pkg::MAGIC};
        if (begin_data) begin
          header_q <= {11'd0, read_len_i, read_addr_i, read_seq_i, weft_link_pkg::TYPE_DATA, weft_link_pkg::MAGIC};
          left_q   <= read_len_i;
        end
        if (begin_msg) begin
          header_q <= {22'd0, msg_len_i, 32'd0, msg_seq_i, weft_link_pkg::TYPE_REPLY, weft_link_pkg::MAGIC};
          left_q   <= {11'd0, msg_len_i};
        end
      end else if (sent) begin
        count_q <= state_q == Payload ? '0 : count_q + 4'd1;
        case (state_q)
          Header: begin
            header_q <= {8'd0, header_q[95:8]};
            if (count_q < 4'd12) crc_q <= crc_next;
            if (count_q == 4'd15) crc_q <= '1;
          end
          Payload: begin
            crc_q  <= crc_next;
            at_q   <= at_q + 21'd1;
            left_q <= left_q - 21'd1;
          end
          default: ;
        endcase
      end
    end
  end

`ifdef WEFT_ASSERT
  logic       old_wait_q;
  logic [8:0] old_byte_q;
  always_ff @(posedge clk_i) begin
    old_wait_q <= rst_ni && out_valid_o && !out_ready_i;
    old_byte_q <= {out_last_o, out_data_o};
    if (rst_ni) begin
      if (old_wait_q) assert (out_valid_o && {out_last_o, out_data_o} == old_byte_q);
      assert (!(ack_valid_i && read_valid_i));       // there is never more than one of them
      assert (!(begin_msg && stop_i));
    end
  end
`endif

endmodule
