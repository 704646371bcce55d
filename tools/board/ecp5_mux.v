// SPDX-License-Identifier: Apache-2.0
//
// Selectors of four and of eight, as muxcover finds them, in the multiplexers behind the LUTs of
// an ECP5's slices: a LUT selects one of two, PFUMX and L6MUX21 between LUTs. Four then take 2
// LUTs and eight 4. abc knows these multiplexers as parts of functions of five to seven inputs
// only and takes 3 and 6.

(* techmap_celltype = "$_MUX4_" *)
module _80_ecp5_mux4 (
  input  A, B, C, D, S, T,
  output Y
);
  wire low, high;
  LUT4 #(.INIT(16'hcaca)) u_low (.A(A), .B(B), .C(S), .D(1'b0), .Z(low));
  LUT4 #(.INIT(16'hcaca)) u_high (.A(C), .B(D), .C(S), .D(1'b0), .Z(high));
  PFUMX u_pfu (.ALUT(high), .BLUT(low), .C0(T), .Z(Y));
endmodule

(* techmap_celltype = "$_MUX8_" *)
module _80_ecp5_mux8 (
  input  A, B, C, D, E, F, G, H, S, T, U,
  output Y
);
  wire low, high;
  \$_MUX4_ u_low (.A(A), .B(B), .C(C), .D(D), .S(S), .T(T), .Y(low));
  \$_MUX4_ u_high (.A(E), .B(F), .C(G), .D(H), .S(S), .T(T), .Y(high));
  L6MUX21 u_l6 (.D0(low), .D1(high), .SD(U), .Z(Y));
endmodule
