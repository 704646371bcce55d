// SPDX-License-Identifier: Apache-2.0
//
// weft_sp with any requests. Which banks a request needs is stated once more here, from
// hw/sp/README.md: a region is an eighth of the scratchpad, its even words are one bank
// and its odd words another. A request touches the word of its address. A read touches the next
// word as well if it is wide or its address is no multiple of N. A write touches the next word as
// well if its mask reaches there, or if it is a load's write of two words (both_i).
module arbiter (
  input logic                clk_i,
  input logic                rst_ni,
  input logic [8:0]          req_i,    // pst act wgt vec res parc parv ldw str from bit 0 on
  input logic [8:0]          wide_i,
  input logic [9*20-1:0]     addr_i,
  input logic [2*weft_cfg_pkg::N-1:0] mask_i,  // of pst, of ldw
  input logic                both_i    // of ldw
);

  localparam int unsigned N        = weft_cfg_pkg::N;
  localparam int unsigned Log2N    = weft_cfg_pkg::LOG2_N;
  localparam int unsigned WordBits = weft_cfg_pkg::LOG2_SP_BYTES - Log2N;
  localparam int unsigned Pst = 0, Wgt = 2, Parc = 5, Parv = 6, Ldw = 7;

  logic started_q;
  initial started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  logic [8:0] gnt;
  logic [3:0] conflicts;
  weft_sp u_dut (
    .clk_i, .rst_ni,
    .pst_i({req_i[0], addr_i[0 +: 20], mask_i[N-1:0], (8*N)'(0)}), .pst_gnt_o(gnt[0]),
    .act_i({req_i[1], wide_i[1], addr_i[20 +: 20]}), .act_gnt_o(gnt[1]), .act_rdata_o(),
    .wgt_i({req_i[2], wide_i[2], addr_i[40 +: 20]}), .wgt_gnt_o(gnt[2]), .wgt_rdata_o(),
    .vec_i({req_i[3], wide_i[3], addr_i[60 +: 20]}), .vec_gnt_o(gnt[3]), .vec_rdata_o(),
    .res_i({req_i[4], wide_i[4], addr_i[80 +: 20]}), .res_gnt_o(gnt[4]), .res_rdata_o(),
    .parc_i({req_i[5], wide_i[5], addr_i[100 +: 20]}), .parc_gnt_o(gnt[5]), .parc_rdata_o(),
    .parv_i({req_i[6], wide_i[6], addr_i[120 +: 20]}), .parv_gnt_o(gnt[6]), .parv_rdata_o(),
    .ldw_i({req_i[7], both_i, addr_i[140 +: 20], mask_i[2*N-1:N], (16*N)'(0)}), .ldw_gnt_o(gnt[7]),
    .str_i({req_i[8], wide_i[8], addr_i[160 +: 20]}), .str_gnt_o(gnt[8]), .str_rdata_o(),
    .conflicts_o(conflicts)
  );

  // Banks that each client asks for, 16 bits a client, and the rows of the two words that it touches.
  localparam logic     LoadPort = weft_cfg_pkg::LOAD_PORT != 0;
  logic [15:0]         need [9];
  logic [WordBits-1:0] touched [9][2];
  logic                touches [9][2];
  weft_cfg_pkg::sp_addr_t addr;
  logic [2*N-1:0]      mask;
  logic [WordBits-1:0] word, behind;
  logic                first, second;
  always_comb begin
    for (int unsigned k = 0; k < 9; k++) begin
      addr = addr_i[20*k +: 20];
      if (k == Wgt || k == Parc || k == Parv) addr = (addr >> Log2N) << Log2N;
      mask   = k == Ldw && both_i ? '1 : {{N{1'b0}}, k == Pst ? mask_i[N-1:0] : mask_i[2*N-1:N]} << addr[Log2N-1:0];
      word   = addr[Log2N +: WordBits];
      behind = word + WordBits'(1);
      first  = k == Pst || k == Ldw ? mask[N-1:0] != '0 : 1'b1;
      second = k == Pst || k == Ldw ? mask[2*N-1:N] != '0 : wide_i[k] || addr[Log2N-1:0] != '0;
      need[k] = '0;
      if (req_i[k] && first)  need[k] = need[k] | (16'd1 << {word[WordBits-1 -: 3], word[0]});
      if (req_i[k] && second) need[k] = need[k] | (16'd1 << {behind[WordBits-1 -: 3], behind[0]});
      touched[k][0] = word;
      touched[k][1] = behind;
      touches[k][0] = req_i[k] && first;
      touches[k][1] = req_i[k] && second;
    end
  end

  // How often each has been refused in a row.
  logic [2:0] refused_q [9];
  always_ff @(posedge clk_i) begin
    for (int unsigned k = 0; k < 9; k++) begin
      if (!rst_ni || !req_i[k] || gnt[k]) refused_q[k] <= '0;
      else if (refused_q[k] != '1) refused_q[k] <= refused_q[k] + 3'd1;
    end
  end

  logic [15:0] used, before;
  logic        apart, in_turn, urgent, inside, clash;
  logic [3:0]  lost;
  always_comb begin
    used    = '0;
    before  = '0;
    apart   = 1'b1;
    in_turn = 1'b1;
    lost    = '0;
    inside  = 1'b1;
    clash   = 1'b0;   // a client that is granted touches a word that ldw writes
    urgent  = (req_i[Parc] && refused_q[Parc] == 3'd4) || (req_i[Parv] && refused_q[Parv] == 3'd4) ||
              (req_i[Parv] && refused_q[Parv] == 3'd5);
    for (int unsigned k = 0; k < 9; k++) begin
      // With a port of its own ldw is outside of the order.
      if (!(LoadPort && k == Ldw)) begin
        if (gnt[k]) begin
          if ((need[k] & used) != '0) apart = 1'b0;
          used = used | need[k];
        end
        // Refused although no client before it asks for any of its banks.
        if (req_i[k] && !gnt[k] && (need[k] & before) == '0) in_turn = 1'b0;
        before = before | need[k];
        for (int unsigned i = 0; i < 2; i++) begin
          for (int unsigned j = 0; j < 2; j++) begin
            if (gnt[k] && touches[k][i] && touches[Ldw][j] && touched[k][i] == touched[Ldw][j]) clash = 1'b1;
          end
        end
      end
      if (req_i[k] && 32'(addr_i[20*k +: 20]) >= weft_cfg_pkg::SP_BYTES) inside = 1'b0;
      if (req_i[k] && !gnt[k]) lost = lost + 4'd1;
    end
  end

  always_comb begin
    if (!started_q) reset: assume (!rst_ni);
    in_range: assume (inside);
    whole:    assume (!both_i || addr_i[140 +: Log2N] == '0);
    if (started_q && rst_ni) begin
      asked:     assert ((gnt & ~req_i) == '0);
      one_each:  assert (apart);
      priorities: assert (urgent || in_turn);
      parc_soon: assert (refused_q[Parc] <= 3'd4 && (!req_i[Parc] || gnt[Parc] || refused_q[Parc] < 3'd4));
      parv_soon: assert (refused_q[Parv] <= 3'd5 && (!req_i[Parv] || gnt[Parv] || refused_q[Parv] < 3'd5));
      counted:   assert (conflicts == lost);
      load_port: assert (!LoadPort || gnt[Ldw] == (req_i[Ldw] && !clash));
      reached:   cover (refused_q[Parc] == 3'd4 && refused_q[Parv] == 3'd4 && gnt[Parc]);
      all_at_once: cover (gnt == '1);
    end
  end

endmodule
