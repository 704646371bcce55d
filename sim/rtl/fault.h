// SPDX-License-Identifier: Apache-2.0
//
// Faults in the design's registers, memories and wires, in builds with fault points
// (make fault). Each point is either forceable, where Verilator itself holds single bits
// at a value, or an array of storage that is changed after every clock edge.
#ifndef WEFT_SIM_RTL_FAULT_H
#define WEFT_SIM_RTL_FAULT_H

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "verilated.h"

#include "sim/rtl/rtl.h"

class Faults {
public:
	// sig: what the design drives, or nullptr; force_en, force_val: as wide
	template <typename T> void force(const char *name, uint32_t bits, T *sig, T *force_en, T *force_val)
	{
		public_.push_back({name, bits, 1, 1, sig != nullptr});
		points_.push_back({bytes(sig), bytes(force_en), bytes(force_val), sizeof(T), 0});
	}
	template <typename T> void force(const char *name, uint32_t bits, std::nullptr_t, T *force_en, T *force_val)
	{
		force(name, bits, static_cast<T *>(nullptr), force_en, force_val);
	}

	// The address lines of a memory: words whose addresses become one are kept equal.
	template <typename T, std::size_t rows> void address(const char *name, VlUnpacked<T, rows> &mem)
	{
		uint32_t bits = 0;
		while (std::size_t(1) << bits < rows)
			bits++;
		public_.push_back({name, bits, 1, 1, false});
		points_.push_back({bytes(&mem), nullptr, nullptr, sizeof(T), rows});
	}

	template <typename A> void array(const char *name, uint32_t bits, A &a) { add_array(name, bits, a); }

	const weft_rtl_point *points(uint32_t *n) const
	{
		*n = static_cast<uint32_t>(public_.size());
		return public_.data();
	}

	// nullptr: none any more.
	int set(const weft_rtl_fault *f)
	{
		release();
		active_ = false;
		if (!f)
			return 0;
		if (f->point >= points_.size())
			return -EINVAL;
		const weft_rtl_point &p = public_[f->point];
		const bool two = f->how == WEFT_RTL_AND || f->how == WEFT_RTL_OR, lines = points_[f->point].words != 0;
		if (f->bit >= p.bits || f->bit2 >= p.bits || f->row >= p.rows || f->col >= p.cols || 
		    ((two || f->how == WEFT_RTL_FLIP) && !p.storage && !(two && lines)))
			return -EINVAL;
		f_ = *f;
		p_ = points_[f->point];
		at_ = p_.sig ? p_.sig + (f->row * p.cols + f->col) * p_.size : nullptr;
		active_ = true;
		done_ = false;
		if (lines)
			begin_lines();
		if (p_.en && (f->how == WEFT_RTL_STUCK0 || f->how == WEFT_RTL_STUCK1))
			hold(f->bit, f->how == WEFT_RTL_STUCK1);
		return 0;
	}

	bool active() const { return active_; }

	// After the clock edge of that cycle.
	void apply(uint64_t cycle)
	{
		if (p_.words) {
			follow_lines();
			return;
		}
		switch (f_.how) {
		case WEFT_RTL_STUCK0:
		case WEFT_RTL_STUCK1:
			if (!p_.en)
				put(at_, f_.bit, f_.how == WEFT_RTL_STUCK1);
			break;
		case WEFT_RTL_AND:
		case WEFT_RTL_OR:
			bridge();
			break;
		case WEFT_RTL_FLIP:
			flip(cycle);
			break;
		}
	}

private:
	struct Point {
		uint8_t *sig, *en, *val;
		size_t size;
		size_t words;        // of a memory whose address lines these are
	};

	template <typename T> static uint8_t *bytes(T *p) { return reinterpret_cast<uint8_t *>(p); }

	template <typename T, std::size_t n, std::size_t m>
	void add_array(const char *name, uint32_t bits, VlUnpacked<VlUnpacked<T, n>, m> &a)
	{
		public_.push_back({name, bits, m, n, true});
		points_.push_back({bytes(&a), nullptr, nullptr, sizeof(T), 0});
	}
	template <typename T, std::size_t m> void add_array(const char *name, uint32_t bits, VlUnpacked<T, m> &a)
	{
		public_.push_back({name, bits, m, 1, true});
		points_.push_back({bytes(&a), nullptr, nullptr, sizeof(T), 0});
	}

	static bool get(const uint8_t *p, uint32_t bit) { return p[bit / 8] >> (bit % 8) & 1; }
	static void put(uint8_t *p, uint32_t bit, bool v)
	{
		p[bit / 8] = static_cast<uint8_t>((p[bit / 8] & ~(1u << bit % 8)) | static_cast<unsigned>(v) << bit % 8);
	}

	void hold(uint32_t bit, bool v)
	{
		put(p_.val, bit, v);
		put(p_.en, bit, true);
	}

	void release()
	{
		if (active_ && p_.en) {
			std::memset(p_.en, 0, p_.size);
			std::memset(p_.val, 0, p_.size);
		}
	}

	void bridge()
	{
		const bool a = get(at_, f_.bit), b = get(at_, f_.bit2);
		const bool v = f_.how == WEFT_RTL_AND ? a && b : a || b;
		if (p_.en) {
			hold(f_.bit, v);
			hold(f_.bit2, v);
		} else {
			put(at_, f_.bit, v);
			put(at_, f_.bit2, v);
		}
	}

	// The word that is meant when a row is asked for.
	size_t meant(size_t row) const
	{
		const size_t a = size_t(1) << f_.bit, b = size_t(1) << f_.bit2;
		switch (f_.how) {
		case WEFT_RTL_STUCK0:
			return row & ~a;
		case WEFT_RTL_STUCK1:
			return row | a;
		case WEFT_RTL_AND:
			return (row & a) && (row & b) ? row : row & ~(a | b);
		case WEFT_RTL_OR:
			return (row & a) || (row & b) ? row | a | b : row;
		default:
			return row;
		}
	}

	void begin_lines()
	{
		for (size_t row = 0; row < p_.words; row++)
			std::memcpy(p_.sig + row * p_.size, p_.sig + meant(row) * p_.size, p_.size);
		before_.assign(p_.sig, p_.sig + p_.words * p_.size);
	}

	// One word at most has been written; all that are the same one get it.
	void follow_lines()
	{
		if (!std::memcmp(before_.data(), p_.sig, before_.size()))
			return;
		size_t row = 0;
		while (!std::memcmp(&before_[row * p_.size], p_.sig + row * p_.size, p_.size))
			row++;
		const size_t same = meant(row);
		for (size_t k = 0; k < p_.words; k++)
			if (meant(k) == same)
				std::memcpy(p_.sig + k * p_.size, p_.sig + row * p_.size, p_.size);
		before_.assign(p_.sig, p_.sig + p_.words * p_.size);
	}

	// Storage keeps the flipped bit until it is written; a wire has it for one cycle.
	void flip(uint64_t cycle)
	{
		if (done_) {
			release();
			active_ = false;
		} else if (cycle >= f_.cycle && at_) {
			const bool v = !get(at_, f_.bit);
			put(at_, f_.bit, v);
			if (p_.en)
				hold(f_.bit, v);
			done_ = true;
		}
	}

	std::vector<weft_rtl_point> public_;
	std::vector<Point> points_;
	std::vector<uint8_t> before_;        // the memory before a cycle
	weft_rtl_fault f_ = {};
	Point p_ = {};
	uint8_t *at_ = nullptr;
	bool active_ = false, done_ = false;
};

#endif
