// SPDX-License-Identifier: Apache-2.0
//
// Commands of one unit: a queue in front of it, the wait counts of its head,
// and a record of those under way.
//
// cmd_valid_o rises when the head's four wait counts are met, and stands until
// cmd_ready_i. oldest_* belong to the oldest command issued and not retired.
// A command pushed in one cycle can be issued in the next.
module weft_cmd_queue #(
  parameter int unsigned Words = 16  // of the unit's longest command
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic clr_i,

  input  logic          push_i,
  output logic          ready_o,
  /* verilator lint_off UNUSEDSIGNAL */  // words that this unit's commands do not have
  input  logic [1023:0] cmd_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic [23:0]   index_i,

  input  logic [4*32-1:0] retired_i,   // per unit

  output logic          cmd_valid_o,
  input  logic          cmd_ready_i,
  output logic [1023:0] cmd_o,
  input  logic          done_i,

  output logic        waiting_o,       // the head's wait counts are not met
  output logic        empty_o,         // nothing in the queue
  output logic        active_o,        // something is issued and not retired
  output logic [23:0] head_index_o,
  output logic [31:0] head_tag_o,
  output logic [31:0] head_header_o,
  output logic [23:0] oldest_index_o,
  output logic [31:0] oldest_tag_o
);

  logic                head_valid, met, room;
  logic [64*Words-1:0] head;

  /* verilator lint_off PINCONNECTEMPTY */
  weft_fifo #(
    .Width(24 + 64*Words),
    .Depth(weft_cfg_pkg::QUEUE_DEPTH)
  ) u_queue (
    .clk_i,
    .rst_ni,
    .clr_i,
    .wvalid_i(push_i),
    .wready_o(ready_o),
    .wdata_i ({index_i, cmd_i[64*Words-1:0]}),
    .rvalid_o(head_valid),
    .rready_i(cmd_valid_o && cmd_ready_i),
    .rdata_o ({head_index_o, head}),
    .count_o ()
  );

  always_comb begin
    met = 1'b0;
    if (head_valid)
      met = retired_i[0 +: 32]  >= 32'(head[weft_cmd_pkg::HEADER_WAIT_LD_LSB +: 16]) &&
            retired_i[32 +: 32] >= 32'(head[weft_cmd_pkg::HEADER_WAIT_ST_LSB +: 16]) &&
            retired_i[64 +: 32] >= 32'(head[weft_cmd_pkg::HEADER_WAIT_CV_LSB +: 16]) &&
            retired_i[96 +: 32] >= 32'(head[weft_cmd_pkg::HEADER_WAIT_VE_LSB +: 16]);
  end

  assign cmd_valid_o   = head_valid && met && room;
  assign cmd_o         = 1024'(head);
  assign waiting_o     = head_valid && !met;
  assign empty_o       = !head_valid;
  assign head_tag_o    = head[weft_cmd_pkg::HEADER_TAG_LSB +: 32];
  assign head_header_o = head[31:0];

  weft_fifo #(
    .Width(24 + 32),
    .Depth(8)
  ) u_active (
    .clk_i,
    .rst_ni,
    .clr_i,
    .wvalid_i(cmd_valid_o && cmd_ready_i),
    .wready_o(room),
    .wdata_i ({head_index_o, head_tag_o}),
    .rvalid_o(active_o),
    .rready_i(done_i),
    .rdata_o ({oldest_index_o, oldest_tag_o}),
    .count_o ()
  );
  /* verilator lint_on PINCONNECTEMPTY */

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (rst_ni && done_i && !clr_i) assert (active_o);
  end
`endif

endmodule
