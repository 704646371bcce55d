// SPDX-License-Identifier: Apache-2.0
//
// Scratchpad: SP_BANKS single-port banks, seven read and two write clients.
//
// A region is two banks interleaved by word; bank = 2*region + word[0]. A read
// at any byte address returns the 2N bytes from there on, of which the words
// it touches are valid: one word if the address is a multiple of N and wide is
// low, else two. A write puts N bytes at any address, under a byte mask; one of ldw with both
// puts 2N bytes at a multiple of N.
//
// gnt is combinational and high only with req; priority is
// pst > act > wgt > vec > res > parc > parv > ldw > str. A client is granted
// if no client before it asks for a bank that it needs, granted or not: the
// grants do not ripple, and a read of two banks is not starved by single ones
// behind it. parc and parv read little, but nothing runs without it: one that
// has been refused Patience times in a row goes before all. Read data is valid in the cycle after the grant and only then.
// wgt, parc and parv ignore the low address bits: they read whole words.
//
// Addresses are below SP_BYTES (the clients check); the word behind the last
// one is word 0.
//
// With Ecc each byte has check bits of its own (weft_secded_enc). A byte with one wrong bit is corrected as it is
// read. Two cycles after a read, ecc_* say how many words were corrected, and which has a byte with two wrong bits.
// After a reset every row is cleared, one row of all banks in a cycle, and no request is granted until that is done.
//
// Theory: hw/sp/README.md
module weft_sp #(
  parameter bit Ecc = 1'b0
) (
  input  logic clk_i,
  input  logic rst_ni,

  /* verilator lint_off UNUSEDSIGNAL */  // address bits that this scratchpad does not have
  input  weft_cfg_pkg::sp_write_t pst_i,
  output logic                    pst_gnt_o,

  input  weft_cfg_pkg::sp_load_t ldw_i,
  output logic                    ldw_gnt_o,

  input  weft_cfg_pkg::sp_read_t act_i,
  output logic                   act_gnt_o,
  output weft_cfg_pkg::sp_pair_t act_rdata_o,

  input  weft_cfg_pkg::sp_read_t wgt_i,
  output logic                   wgt_gnt_o,
  output weft_cfg_pkg::sp_pair_t wgt_rdata_o,

  input  weft_cfg_pkg::sp_read_t vec_i,
  output logic                   vec_gnt_o,
  output weft_cfg_pkg::sp_pair_t vec_rdata_o,

  input  weft_cfg_pkg::sp_read_t res_i,
  output logic                   res_gnt_o,
  output weft_cfg_pkg::sp_pair_t res_rdata_o,

  input  weft_cfg_pkg::sp_read_t parc_i,
  output logic                   parc_gnt_o,
  output weft_cfg_pkg::sp_pair_t parc_rdata_o,

  input  weft_cfg_pkg::sp_read_t parv_i,
  output logic                   parv_gnt_o,
  output weft_cfg_pkg::sp_pair_t parv_rdata_o,

  input  weft_cfg_pkg::sp_read_t str_i,
  output logic                   str_gnt_o,
  output weft_cfg_pkg::sp_pair_t str_rdata_o,
  /* verilator lint_on UNUSEDSIGNAL */

  output logic [3:0]             conflicts_o,  // requests that lost this cycle

  output logic [4:0]             ecc_fixed_o,  // how many words read two cycles ago were corrected
  output logic                   ecc_bad_o,    // of one of these words, a byte has two wrong bits
  output weft_cfg_pkg::sp_addr_t ecc_addr_o    // address of that word
);

  localparam int unsigned N        = weft_cfg_pkg::N;
  localparam int unsigned AddrW    = weft_cfg_pkg::SP_ADDR_BITS;
  localparam int unsigned Log2N    = weft_cfg_pkg::LOG2_N;
  localparam int unsigned WordBits = $clog2(weft_cfg_pkg::SP_BYTES / N);
  localparam int unsigned PairBits = WordBits - 1;
  localparam int unsigned Regions  = weft_cfg_pkg::SP_REGIONS;
  localparam int unsigned Banks    = weft_cfg_pkg::SP_BANKS;
  localparam int unsigned RegBits  = $clog2(Regions);
  localparam int unsigned RowBits  = PairBits - RegBits;
  localparam int unsigned Rows     = 1 << RowBits;

  // Clients in order of priority.
  localparam int unsigned NClients = 9;
  localparam int unsigned Patience = 4;
  localparam bit LoadPort = weft_cfg_pkg::LOAD_PORT != 0;
  localparam int unsigned Pst = 0, Act = 1, Wgt = 2, Vec = 3, Res = 4, Parc = 5, Parv = 6, Ldw = 7, Str = 8;

  logic               clearing;   // clear_row of every bank becomes 0
  logic [RowBits-1:0] clear_row;

  // ---- what each client wants -------------------------------------------------
  // Two neighbouring words are one even and one odd word. A pair is the part of
  // a word's address without its last bit: of w and w+1 the odd word lies in
  // pair w/2, the even one there too, or in the next pair if w is odd.

  logic [NClients-1:0]    req, gnt, wide;
  logic [NClients-1:0]    heard;  // of req, those that count in this cycle
  logic [2:0]             parc_wait_q, parv_wait_q;
  weft_cfg_pkg::sp_addr_t addr [NClients];

  logic [2*N-1:0] pst_mask, ldw_mask;    // over both words
  assign pst_mask = {{N{1'b0}}, pst_i.mask} << pst_i.addr[Log2N-1:0];
  assign ldw_mask = ldw_i.both ? '1 : {{N{1'b0}}, ldw_i.mask} << ldw_i.addr[Log2N-1:0];

  assign req  = {str_i.req, ldw_i.req, parv_i.req, parc_i.req, res_i.req, vec_i.req, wgt_i.req, act_i.req, pst_i.req};
  assign wide = {str_i.wide, 1'b0, parv_i.wide, parc_i.wide, res_i.wide, vec_i.wide, wgt_i.wide, act_i.wide, 1'b0};
  assign addr[Pst]  = pst_i.addr;
  assign addr[Act]  = act_i.addr;
  assign addr[Wgt]  = {wgt_i.addr[AddrW-1:Log2N], Log2N'(0)};
  assign addr[Vec]  = vec_i.addr;
  assign addr[Res]  = res_i.addr;
  assign addr[Parc] = {parc_i.addr[AddrW-1:Log2N], Log2N'(0)};
  assign addr[Parv] = {parv_i.addr[AddrW-1:Log2N], Log2N'(0)};
  assign addr[Ldw]  = ldw_i.addr;
  assign addr[Str]  = str_i.addr;

  always_comb begin
    heard = req;
    if (parc_i.req && parc_wait_q == 3'(Patience)) heard[Parc-1:0] = '0;
    else if (parv_i.req && parv_wait_q == 3'(Patience)) heard[Parv-1:0] = '0;
    if (clearing) heard = '0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      parc_wait_q <= '0;
      parv_wait_q <= '0;
    end else begin
      if (!parc_i.req || gnt[Parc]) parc_wait_q <= '0;
      else if (parc_wait_q != 3'(Patience)) parc_wait_q <= parc_wait_q + 3'd1;
      if (!parv_i.req || gnt[Parv]) parv_wait_q <= '0;
      else if (parv_wait_q != 3'(Patience)) parv_wait_q <= parv_wait_q + 3'd1;
    end
  end

  // ---- arbitration ----------------------------------------------------------------

  logic                odd, use0, use1;        // first word is an odd one; it is needed; the next is
  logic [PairBits-1:0] pair_even, pair_odd;
  logic [RegBits-1:0]  region_even [NClients];
  logic [RegBits-1:0]  region_odd  [NClients];
  logic [Regions-1:0]  need_even, need_odd;    // banks that this client asks for
  logic [Regions-1:0]  taken_even, taken_odd;  // banks that a client before it asks for
  logic [Regions-1:0]  en_even, en_odd;        // granted, but to ldw
  logic [Regions-1:0]  pst_even, pst_odd;      // written by pst
  logic [Regions-1:0]  ldw_even, ldw_odd;      // written by ldw
  logic [RowBits-1:0]  row_even [Regions];
  logic [RowBits-1:0]  row_odd  [Regions];
  logic [RowBits-1:0]  ldw_row_even, ldw_row_odd;   // of whichever bank ldw writes
  logic                ldw_clash;                   // another client's access is to a word that ldw writes

  always_comb begin
    gnt = '0;
    en_even = '0;
    en_odd = '0;
    taken_even = '0;
    taken_odd = '0;
    pst_even = '0;
    pst_odd = '0;
    ldw_even = '0;
    ldw_odd = '0;
    ldw_row_even = '0;
    ldw_row_odd = '0;
    ldw_clash = 1'b0;
    odd = 1'b0;
    use0 = 1'b0;
    use1 = 1'b0;
    need_even = '0;
    need_odd = '0;
    pair_even = '0;
    pair_odd = '0;
    for (int unsigned b = 0; b < Regions; b++) begin
      row_even[b] = '0;
      row_odd[b] = '0;
    end
    for (int unsigned k = 0; k < NClients; k++) begin
      region_even[k] = '0;
      region_odd[k] = '0;
      if (heard[k]) begin
        odd = addr[k][Log2N];
        use0 = k == Pst ? pst_mask[N-1:0] != '0 : k == Ldw ? ldw_mask[N-1:0] != '0 : 1'b1;
        use1 = k == Pst ? pst_mask[2*N-1:N] != '0 : k == Ldw ? ldw_mask[2*N-1:N] != '0 :
               wide[k] || addr[k][Log2N-1:0] != '0;
        pair_odd = addr[k][Log2N+1 +: PairBits];
        pair_even = addr[k][Log2N+1 +: PairBits] + PairBits'(odd);
        region_odd[k] = pair_odd[PairBits-1 -: RegBits];
        region_even[k] = pair_even[PairBits-1 -: RegBits];
        need_even = Regions'((odd && use1) || (!odd && use0)) << region_even[k];
        need_odd = Regions'((odd && use0) || (!odd && use1)) << region_odd[k];
        // The first client that asks for a bank owns its address port; ldw has the other port.
        if (k == Ldw) begin
          ldw_row_even = pair_even[RowBits-1:0];
          ldw_row_odd = pair_odd[RowBits-1:0];
        end else begin
          if ((need_even & ~taken_even) != '0) row_even[region_even[k]] = pair_even[RowBits-1:0];
          if ((need_odd & ~taken_odd) != '0) row_odd[region_odd[k]] = pair_odd[RowBits-1:0];
        end
        if (LoadPort && k == Ldw) begin
          ldw_even = need_even;
          ldw_odd = need_odd;
        end else begin
          if ((need_even & taken_even) == '0 && (need_odd & taken_odd) == '0) begin
            gnt[k] = 1'b1;
            if (k != Ldw) begin
              en_even = en_even | need_even;
              en_odd = en_odd | need_odd;
            end
            if (k == Pst) begin
              pst_even = need_even;
              pst_odd = need_odd;
            end
            if (k == Ldw) begin
              ldw_even = need_even;
              ldw_odd = need_odd;
            end
          end
          taken_even = taken_even | need_even;
          taken_odd = taken_odd | need_odd;
        end
      end
    end
    if (LoadPort && heard[Ldw]) begin
      for (int unsigned r = 0; r < Regions; r++) begin
        if (ldw_even[r] && en_even[r] && row_even[r] == ldw_row_even) ldw_clash = 1'b1;
        if (ldw_odd[r] && en_odd[r] && row_odd[r] == ldw_row_odd) ldw_clash = 1'b1;
      end
      gnt[Ldw] = !ldw_clash;
      if (ldw_clash) begin
        ldw_even = '0;
        ldw_odd = '0;
      end
    end
  end

  assign {str_gnt_o, ldw_gnt_o, parv_gnt_o, parc_gnt_o, res_gnt_o, vec_gnt_o, wgt_gnt_o, act_gnt_o, pst_gnt_o} = gnt;

  always_comb begin
    conflicts_o = '0;
    if (req != gnt) begin
      for (int unsigned k = 0; k < NClients; k++) conflicts_o = conflicts_o + 4'(req[k] && !gnt[k]);
    end
  end

  // ---- write data -------------------------------------------------------------------
  // Byte i goes to lane (i + offset) mod N of whichever word the mask says.

  weft_cfg_pkg::sp_word_t pst_data, ldw_data, ldw_next, pst_rot, ldw_rot;
  weft_cfg_pkg::sp_word_t ldw_word_even, ldw_word_odd;   // for whichever bank ldw writes

`ifdef WEFT_FAULT_HOOK
  // Test only: [63] enable, byte address in the low bits, [26:24] bit that is stuck at 1
  // in what is written there. Written from outside; hook_q keeps what depends
  // on it out of Verilator's input logic.
  logic [63:0] fault_hook_q /*verilator public_flat_rw*/;
  logic [63:0] hook_q;
  initial fault_hook_q = '0;
  always_ff @(posedge clk_i) hook_q <= fault_hook_q;

  always_comb begin
    pst_data = pst_i.data;
    ldw_data = ldw_i.data;
    ldw_next = ldw_i.next;
    if (hook_q[63]) begin
      for (int unsigned i = 0; i < N; i++) begin
        if (pst_i.addr + AddrW'(i) == hook_q[AddrW-1:0]) pst_data[8*i+:8] = pst_i.data[8*i+:8] | (8'd1 << hook_q[26:24]);
        if (ldw_i.addr + AddrW'(i) == hook_q[AddrW-1:0]) ldw_data[8*i+:8] = ldw_i.data[8*i+:8] | (8'd1 << hook_q[26:24]);
        if (ldw_i.addr + AddrW'(N + i) == hook_q[AddrW-1:0]) ldw_next[8*i+:8] = ldw_i.next[8*i+:8] | (8'd1 << hook_q[26:24]);
      end
    end
  end

  logic unused_hook;
  assign unused_hook = ^{hook_q[62:27], hook_q[23:20]};
`else
  assign pst_data = pst_i.data;
  assign ldw_data = ldw_i.data;
  assign ldw_next = ldw_i.next;
`endif

  weft_rotate #(
    .Bytes(N)
  ) u_pst_rot (
    .data_i(pst_data),
    .by_i  (-pst_i.addr[Log2N-1:0]),
    .data_o(pst_rot)
  );

  weft_rotate #(
    .Bytes(N)
  ) u_ldw_rot (
    .data_i(ldw_data),
    .by_i  (-ldw_i.addr[Log2N-1:0]),
    .data_o(ldw_rot)
  );
  assign ldw_word_even = ldw_i.both && ldw_i.addr[Log2N] ? ldw_next : ldw_rot;
  assign ldw_word_odd  = ldw_i.both && !ldw_i.addr[Log2N] ? ldw_next : ldw_rot;

  weft_cfg_pkg::row_mask_t pst_mask_even, pst_mask_odd, ldw_mask_even, ldw_mask_odd;
  assign pst_mask_even = pst_i.addr[Log2N] ? pst_mask[2*N-1:N] : pst_mask[N-1:0];
  assign pst_mask_odd  = pst_i.addr[Log2N] ? pst_mask[N-1:0] : pst_mask[2*N-1:N];
  assign ldw_mask_even = ldw_i.addr[Log2N] ? ldw_mask[2*N-1:N] : ldw_mask[N-1:0];
  assign ldw_mask_odd  = ldw_i.addr[Log2N] ? ldw_mask[N-1:0] : ldw_mask[2*N-1:N];

  // ---- banks --------------------------------------------------------------------------

  weft_cfg_pkg::sp_word_t bank_rdata [Banks];  // as the memory returns it
  weft_cfg_pkg::sp_word_t bank_word  [Banks];  // with Ecc, corrected

  // Check bits of the words to write; of each bank, whether the word read was corrected, or cannot be, and its row.
  localparam int unsigned Check = weft_secded_pkg::n_check(8) + 1;
  logic [Check*N-1:0] pst_check, ldw_check_even, ldw_check_odd;
  logic [Banks-1:0]   fixed, bad;
  logic [RowBits-1:0] bad_row [Banks];

  for (genvar b = 0; b < Banks; b++) begin : g_bank
    localparam bit Odd = b % 2 == 1;
    weft_ram #(
      .Bytes(N),
      .Depth(Rows),
      .Beside(LoadPort)
    ) u_ram (
      .clk_i,
      .en_i     (Odd ? en_odd[b/2] : en_even[b/2]),
      .addr_i   (Odd ? row_odd[b/2] : row_even[b/2]),
      .write_i  (Odd ? pst_odd[b/2] : pst_even[b/2]),
      .mask_i   (Odd ? pst_mask_odd : pst_mask_even),
      .wdata_i  (pst_rot),
      .rdata_o  (bank_rdata[b]),
      .b_write_i(clearing || (Odd ? ldw_odd[b/2] : ldw_even[b/2])),
      .b_addr_i (clearing ? clear_row : Odd ? ldw_row_odd : ldw_row_even),
      .b_mask_i (clearing ? '1 : Odd ? ldw_mask_odd : ldw_mask_even),
      .b_wdata_i(clearing ? '0 : Odd ? ldw_word_odd : ldw_word_even)
    );

    if (Ecc) begin : g_ecc
      logic [Check*N-1:0] check;
      weft_ram #(
        .Bytes(N),
        .Depth(Rows),
        .Lane (Check),
        .Beside(LoadPort)
      ) u_check (
        .clk_i,
        .en_i     (Odd ? en_odd[b/2] : en_even[b/2]),
        .addr_i   (Odd ? row_odd[b/2] : row_even[b/2]),
        .write_i  (Odd ? pst_odd[b/2] : pst_even[b/2]),
        .mask_i   (Odd ? pst_mask_odd : pst_mask_even),
        .wdata_i  (pst_check),
        .rdata_o  (check),
        .b_write_i(clearing || (Odd ? ldw_odd[b/2] : ldw_even[b/2])),
        .b_addr_i (clearing ? clear_row : Odd ? ldw_row_odd : ldw_row_even),
        .b_mask_i (clearing ? '1 : Odd ? ldw_mask_odd : ldw_mask_even),
        .b_wdata_i(clearing ? '0 : Odd ? ldw_check_odd : ldw_check_even)
      );

      logic [N-1:0] lane_fixed, lane_bad;
      for (genvar i = 0; i < N; i++) begin : g_lane
        weft_secded_dec u_dec (
          .data_i (bank_rdata[b][8*i +: 8]),
          .check_i(check[Check*i +: Check]),
          .data_o (bank_word[b][8*i +: 8]),
          .fixed_o(lane_fixed[i]),
          .bad_o  (lane_bad[i])
        );
      end

      logic               read_q;
      logic [RowBits-1:0] row_q;
      always_ff @(posedge clk_i) begin
        read_q <= rst_ni && (Odd ? en_odd[b/2] && !pst_odd[b/2] : en_even[b/2] && !pst_even[b/2]);
        row_q  <= Odd ? row_odd[b/2] : row_even[b/2];
      end
      assign fixed[b]   = read_q && lane_fixed != '0;
      assign bad[b]     = read_q && lane_bad != '0;
      assign bad_row[b] = row_q;
    end else begin : g_plain
      assign bank_word[b] = '0;
      assign fixed[b]     = 1'b0;
      assign bad[b]       = 1'b0;
      assign bad_row[b]   = '0;
    end
  end

  if (Ecc) begin : g_check
    for (genvar i = 0; i < N; i++) begin : g_lane
      weft_secded_enc u_pst (
        .data_i (pst_rot[8*i +: 8]),
        .check_o(pst_check[Check*i +: Check])
      );
      weft_secded_enc u_ldw_even (
        .data_i (ldw_word_even[8*i +: 8]),
        .check_o(ldw_check_even[Check*i +: Check])
      );
      weft_secded_enc u_ldw_odd (
        .data_i (ldw_word_odd[8*i +: 8]),
        .check_o(ldw_check_odd[Check*i +: Check])
      );
    end

    logic [RowBits:0] clear_q;
    assign clearing  = !clear_q[RowBits];
    assign clear_row = clear_q[RowBits-1:0];
    always_ff @(posedge clk_i) begin
      if (!rst_ni) clear_q <= '0;
      else if (clearing) clear_q <= clear_q + 1'b1;
    end

    logic [4:0]             n_fixed;
    weft_cfg_pkg::sp_addr_t bad_addr;
    always_comb begin
      n_fixed = '0;
      bad_addr = '0;
      for (int unsigned b = 0; b < Banks; b++) begin
        n_fixed = n_fixed + 5'(fixed[b]);
        if (bad[b]) bad_addr = AddrW'({RegBits'(b / 2), bad_row[b], 1'(b % 2), Log2N'(0)});
      end
    end
    always_ff @(posedge clk_i) begin
      if (!rst_ni) begin
        ecc_fixed_o <= '0;
        ecc_bad_o   <= 1'b0;
      end else begin
        ecc_fixed_o <= n_fixed;
        ecc_bad_o   <= bad != '0;
      end
      ecc_addr_o <= bad_addr;
    end
  end else begin : g_no_check
    assign pst_check   = '0;
    assign {ldw_check_even, ldw_check_odd} = '0;
    assign clearing    = 1'b0;
    assign clear_row   = '0;
    assign ecc_fixed_o = '0;
    assign ecc_bad_o   = 1'b0;
    assign ecc_addr_o  = '0;
    logic unused_check;
    always_comb begin
      unused_check = ^{pst_check, ldw_check_even, ldw_check_odd, fixed, bad, clear_row};
      for (int unsigned b = 0; b < Banks; b++) unused_check = unused_check ^ ^bad_row[b] ^ ^bank_word[b];
    end
  end

  // ---- read data ----------------------------------------------------------------------
  // {odd word, even word} is a ring of 2N bytes; the wanted byte goes to lane 0.

  logic [RegBits-1:0]     even_q [NClients];  // region
  logic [RegBits-1:0]     odd_q  [NClients];
  logic [Log2N:0]         lane_q [NClients];  // {first word odd, offset}
  weft_cfg_pkg::sp_pair_t rdata  [NClients];

  for (genvar k = 0; k < NClients; k++) begin : g_read
    if (k == Pst || k == Ldw) begin : g_no
      assign rdata[k] = '0;
    end else begin : g_yes
      // Without a grant nothing is read or rotated: cheap for a simulator.
      logic                   got_q;
      weft_cfg_pkg::sp_pair_t ring;
      always_ff @(posedge clk_i) begin
        got_q <= gnt[k];
        if (gnt[k]) begin
          lane_q[k] <= addr[k][Log2N:0];
          even_q[k] <= region_even[k];
          odd_q[k]  <= region_odd[k];
        end else if (got_q) begin
          lane_q[k] <= '0;
        end
      end

      always_comb begin
        ring = '0;
        if (got_q) begin
          if (Ecc) ring = {bank_word[{odd_q[k], 1'b1}], bank_word[{even_q[k], 1'b0}]};
          else ring = {bank_rdata[{odd_q[k], 1'b1}], bank_rdata[{even_q[k], 1'b0}]};
        end
      end

      weft_rotate #(
        .Bytes(2*N)
      ) u_rotate (
        .data_i(ring),
        .by_i  (lane_q[k]),
        .data_o(rdata[k])
      );
    end
  end

  assign act_rdata_o  = rdata[Act];
  assign wgt_rdata_o  = rdata[Wgt];
  assign vec_rdata_o  = rdata[Vec];
  assign res_rdata_o  = rdata[Res];
  assign parc_rdata_o = rdata[Parc];
  assign parv_rdata_o = rdata[Parv];
  assign str_rdata_o  = rdata[Str];

`ifdef WEFT_ASSERT
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      assert ((gnt & ~req) == '0);
      assert (!parc_i.req || gnt[Parc] || parc_wait_q != 3'(Patience));
      if (pst_i.req) assert (32'(pst_i.addr) < weft_cfg_pkg::SP_BYTES);
      if (act_i.req) assert (32'(act_i.addr) < weft_cfg_pkg::SP_BYTES);
      if (wgt_i.req) assert (32'(wgt_i.addr) < weft_cfg_pkg::SP_BYTES);
      if (vec_i.req) assert (32'(vec_i.addr) < weft_cfg_pkg::SP_BYTES);
      if (res_i.req) assert (32'(res_i.addr) < weft_cfg_pkg::SP_BYTES);
      if (parc_i.req) assert (32'(parc_i.addr) < weft_cfg_pkg::SP_BYTES);
      if (parv_i.req) assert (32'(parv_i.addr) < weft_cfg_pkg::SP_BYTES);
      if (ldw_i.req) assert (32'(ldw_i.addr) < weft_cfg_pkg::SP_BYTES);
      if (ldw_i.req && ldw_i.both) assert (ldw_i.addr[Log2N-1:0] == '0);
      if (str_i.req) assert (32'(str_i.addr) < weft_cfg_pkg::SP_BYTES);
    end
  end
`endif

endmodule
