// SPDX-License-Identifier: Apache-2.0
//
// Packets to the host: a PID alone, or a PID, payload and CRC-16.
//
// start_i in a cycle without busy_o begins a packet. A data PID is followed by payload bytes
// while more_i is high, a byte with each take_o, the next byte in the cycle after it, then by
// the CRC. busy_o is high until the packet is over on the lines.
module weft_usb_tx (
  input  logic       clk_i,
  input  logic       rst_ni,

  input  logic       start_i,
  input  logic [3:0] pid_i,
  input  logic       more_i,
  input  logic [7:0] data_i,
  output logic       take_o,
  output logic       busy_o,

  output logic       tx_valid_o,
  input  logic       tx_ready_i,
  output logic [7:0] tx_data_o,
  input  logic       tx_busy_i
);

  localparam logic [2:0] Idle = 3'd0;
  localparam logic [2:0] Pid  = 3'd1;
  localparam logic [2:0] Data = 3'd2;
  localparam logic [2:0] High = 3'd3;    // second byte of the CRC
  localparam logic [2:0] Wait = 3'd4;    // for the end on the lines

  logic [2:0]  state_q;
  logic [3:0]  pid_q;
  logic [15:0] crc_q, crc_next;
  logic [1:0]  begun_q;
  weft_usb_crc16 u_crc (
    .crc_i (crc_q),
    .byte_i(data_i),
    .crc_o (crc_next)
  );

  assign busy_o     = state_q != Idle;
  assign tx_valid_o = state_q != Idle && state_q != Wait;
  assign take_o     = state_q == Data && more_i && tx_ready_i;
  always_comb begin
    case (state_q)
      Pid:     tx_data_o = {~pid_q, pid_q};
      High:    tx_data_o = ~crc_q[15:8];
      default: tx_data_o = more_i ? data_i : ~crc_q[7:0];
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      pid_q   <= '0;
      crc_q   <= '1;
      begun_q <= '0;
    end else begin
      // The PHY's busy may come a cycle or two behind.
      begun_q <= {begun_q[0], state_q == Wait};
      case (state_q)
        Idle: begin
          pid_q <= pid_i;
          crc_q <= '1;
          if (start_i) state_q <= Pid;
        end
        Pid:  if (tx_ready_i) state_q <= pid_q[1:0] == 2'b11 ? Data : Wait;
        Data: begin
          if (tx_ready_i) begin
            if (more_i) crc_q <= crc_next;
            else state_q <= High;
          end
        end
        High: if (tx_ready_i) state_q <= Wait;
        default: if (begun_q == '1 && !tx_busy_i) state_q <= Idle;   // Wait
      endcase
    end
  end

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert (!(start_i && busy_o));
      assert (!take_o || more_i);
    end
  end
`endif

endmodule
