// SPDX-License-Identifier: Apache-2.0
//
// The largest or least element of a word and which it is, or the sum of its elements,
// if they have 4 bytes. With en_i; in the cycle after.
//
// A binary tree over the bytes of the word: elements of 2 and 4 bytes enter at its first
// and second level. The least is the largest of the complements. bytes_i of the word count,
// from the lowest up, whole elements; those behind are 0 in sums, else -2^bits.
// place_o: the number of the largest (least) element, of equals the first. The module has
// no reset, so weft_alu asserts what it asks for.
//
// Theory: hw/alu/README.md
module weft_alu_fold (
  input  logic                   clk_i,
  input  logic                   en_i,
  input  weft_cfg_pkg::sp_word_t word_i,
  input  logic [1:0]             log_i,    // bytes of an element: 1, 2, 4
  input  logic                   unsigned_i,
  input  logic [6:0]             bytes_i,  // 1..N
  input  logic                   sum_i,    // at most one of these; without: the largest
  input  logic                   least_i,

  output logic [47:0]                     value_o,
  output logic [weft_cfg_pkg::LOG2_N-1:0] place_o
);

  localparam int unsigned N     = weft_cfg_pkg::N;
  localparam int unsigned Log2N = weft_cfg_pkg::LOG2_N;
  localparam int unsigned W     = 36;               // the sum of eight uint32, with its sign

  // What level k compares has so many bits: bytes, then two bytes, then W.
  function automatic logic [W-1:0] cut(input logic [W-1:0] x, input int unsigned k);
    cut = k == 0 ? {{(W-10){x[9]}}, x[9:0]} : k == 1 ? {{(W-18){x[17]}}, x[17:0]} : x;
  endfunction

  weft_cfg_pkg::sp_word_t m;       // the word, inverted, without what does not count
  logic [N-1:0]           sign;    // of the element that ends with the byte
  logic [W-1:0]           v [N];   // the nodes of the level, then of the next
  logic [Log2N-1:0]       at [N];  // the first byte of each
  logic [W-1:0]           l, r, s;
  logic                   add, take;

  /* verilator lint_off BLKSEQ */  // all but the outputs
  always @(posedge clk_i) begin
    if (en_i) begin
      for (int unsigned i = 0; i < N; i++) begin
        sign[i]     = !sum_i;
        m[8*i +: 8] = '0;
        if (bytes_i > 7'(i)) begin
          m[8*i +: 8] = word_i[8*i +: 8] ^ {8{least_i}};
          sign[i]     = (!unsigned_i && word_i[8*i + 7]) ^ least_i;
        end
        v[i]  = {{(W-8){sign[i]}}, m[8*i +: 8]};
        at[i] = '0;
      end
      for (int unsigned k = 0; k < Log2N; k++) begin
        for (int unsigned i = 0; i < N >> (k + 1); i++) begin
          l   = v[2*i];
          r   = v[2*i + 1];
          add = k >= 2 && sum_i;
          // One carry chain: the sum, or the sign of the difference.
          s        = cut(l + (r ^ {W{!add}}) + W'(!add), k);
          take     = s[W-1];
          at[i]    = take ? at[2*i + 1] : at[2*i];
          at[i][k] = take;
          v[i]     = add ? s : cut(take ? r : l, k);
          if (k == 0 && log_i == 2'd1) v[i] = {{(W-16){sign[2*i + 1]}}, m[16*i +: 16]};
          if (k == 1 && log_i == 2'd2) v[i] = {{(W-32){sign[(4*i + 3) % N]}}, m[(32*i) % (8*N) +: 32]};
          if (k < 32'(log_i)) at[i] = '0;
        end
      end
      value_o <= {{(48-W){v[0][W-1]}}, v[0]} ^ {48{least_i}};
      place_o <= at[0] >> log_i;
    end
  end
  /* verilator lint_on BLKSEQ */

endmodule
