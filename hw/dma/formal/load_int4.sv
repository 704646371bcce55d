// SPDX-License-Identifier: Apache-2.0
//
// weft_dma_load behind weft_dma_split, which is left open: any bursts come. beat is the
// beat of the bus that is written next; lo, left and sp are its first wanted byte, the bytes
// of the burst that are left, and where they go.
module load_int4 (
  input logic          clk_i,
  input logic          rst_ni,
  input logic          abort_i,
  input logic          ar_ready_i,
  input logic          r_valid_i,
  input logic          ldw_gnt_i,
  input weft_cfg_pkg::mem_beat_t r_i
);

  localparam int unsigned N         = weft_cfg_pkg::N;
  localparam int unsigned Log2N     = weft_cfg_pkg::LOG2_N;
  localparam int unsigned BytesBits = Log2N + 5;

  logic started_q;
  initial started_q = 1'b0;
  always_ff @(posedge clk_i) started_q <= 1'b1;

  weft_cfg_pkg::sp_load_t ldw;
  weft_dma_load u_dut (
    .clk_i, .rst_ni, .need_o(), .cmd_valid_i(1'b0), .cmd_ready_o(), .cmd_i('0), .state_o(), .abort_i, .win_i('0),
    .ar_valid_o(), .ar_ready_i, .ar_o(), .r_valid_i, .r_ready_o(), .r_i, .ldw_o(ldw), .ldw_gnt_i, .bytes_o()
  );

  weft_cfg_pkg::dma_burst_t burst;
  logic                 burst_valid, go, second, int4, odd;
  logic [BytesBits-1:0] left;
  logic [Log2N-1:0]     lo;
  weft_cfg_pkg::sp_addr_t sp;
  logic [8*N-1:0]       beat;

  // Elements in the beat: two a byte, but one in the last byte of an odd row.
  logic [BytesBits-1:0] n_bytes;
  logic [Log2N+1:0]     n_elems;
  always_comb begin
    n_bytes = left;
    if (left > BytesBits'(N) - BytesBits'(lo)) n_bytes = BytesBits'(N) - BytesBits'(lo);
    n_elems = int4 ? (Log2N+2)'({n_bytes, 1'b0}) : (Log2N+2)'(n_bytes);
    if (int4 && odd && n_bytes == left) n_elems = n_elems - (Log2N+2)'(1);
  end

  // What was written from, when it was decided.
  logic             int4_q, second_q;
  logic [Log2N-1:0] lo_q;
  logic [Log2N+1:0] n_elems_q;
  weft_cfg_pkg::sp_addr_t sp_q;
  logic [8*N-1:0]   beat_q;
  always_ff @(posedge clk_i) begin
    if (go) begin
      int4_q    <= int4;
      second_q  <= second;
      lo_q      <= lo;
      n_elems_q <= n_elems;
      sp_q      <= sp;
      beat_q    <= beat;
    end
  end

  logic [N-1:0]     want_mask;
  logic [8*N-1:0]   want_data, care;
  logic [Log2N+1:0] element;
  logic [15*N-1:0]  from;
  always_comb begin
    want_mask = '0;
    want_data = '0;
    care      = '0;
    from      = '0;
    element   = '0;
    for (int unsigned i = 0; i < N; i++) begin
      element = (Log2N+2)'(i) + (second_q ? (Log2N+2)'(N) : '0);
      if (element < n_elems_q) begin
        want_mask[i]    = 1'b1;
        care[8*i +: 8]  = 8'hff;
        if (int4_q) begin
          from = (15*N)'(beat_q) >> (8*lo_q + 4*element);
          want_data[8*i +: 8] = {{4{from[3]}}, from[3:0]};
        end else begin
          from = (15*N)'(beat_q) >> (8*lo_q + 8*element);
          want_data[8*i +: 8] = from[7:0];
        end
      end
    end
  end

  always_comb begin
    if (!started_q) reset: assume (!rst_ni);
    if (burst_valid && !burst.fault) not_empty: assume (burst.bytes != '0);
    if (started_q && rst_ni) begin
      two_writes: assert (!second || n_elems > (Log2N+2)'(N));
      if (ldw.req) begin
        mask:    assert (ldw.mask == want_mask);
        data:    assert ((ldw.data & care) == want_data);
        address: assert (ldw.addr == sp_q + (second_q ? 20'(N) : 20'd0));
        reached: cover (int4_q && second_q && lo_q == Log2N'(1) && n_elems_q[0]);
      end
    end
  end

endmodule
