// SPDX-License-Identifier: Apache-2.0
//
// The places of the bits in a Hamming code. Check bit k has place 2^k; the bits of the data have the other places
// in order, bit 0 place 3. The check bits together are the exclusive or of the places of those data bits
// that are 1. One bit more, the parity, makes the number of ones in data and check bits even.
package weft_secded_pkg;

  // How many check bits a word of 4 to 64 bits of data needs, the parity not counted.
  function automatic int unsigned n_check(input int unsigned bits);
    n_check = bits <= 4 ? 3 : bits <= 11 ? 4 : bits <= 26 ? 5 : bits <= 57 ? 6 : 7;
  endfunction

  // The place of bit i of the data.
  function automatic int unsigned place(input int unsigned i);
    place = i + 3 + (i >= 1 ? 1 : 0) + (i >= 4 ? 1 : 0) + (i >= 11 ? 1 : 0) + (i >= 26 ? 1 : 0) + (i >= 57 ? 1 : 0);
  endfunction

endpackage
