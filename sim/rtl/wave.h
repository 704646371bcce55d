// SPDX-License-Identifier: Apache-2.0
//
// A waveform in a file (FST), which replaces an older one when all of it is there.
//
// Verilator's writer, GTKWave's fstapi, looks at few answers of the system: it goes on without memory, writes on to a
// disk without room, and touches memory mapped from files that have no room for it. So what it calls are functions of
// wave.cc (wave_names.h), which throw. Then nothing more is recorded, what was written is removed, and close() says why.
// Nothing here throws.
#ifndef WEFT_RTL_WAVE_H
#define WEFT_RTL_WAVE_H

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "verilated_fst_c.h"

class Wave {
public:
	Wave() = default;
	Wave(const Wave &) = delete;
	Wave &operator=(const Wave &) = delete;

	// What is recorded is lost if nobody has closed it.
	~Wave()
	{
		drop();
	}

	// Begin with the signals of `top`. Returns 0 or a negative errno.
	template <typename Top> int open(Top &top, const char *file)
	{
		guarded([&] {
			prepare(file);
			top.trace(&writer->fst, 99);
			writer->fst.open(part.c_str());
		});
		return err;
	}

	// The signals at that time.
	void dump(uint64_t time)
	{
		if (writer)
			guarded([&] { writer->fst.dump(time); });
	}

	// End it and put the file in its place. Returns 0, or the negative errno of what failed since open().
	int close();

private:
	// What failed in its middle cannot be taken apart: it stays, and nobody uses it any more.
	struct Writer {
		VerilatedFstC fst;
		Writer *next = nullptr;
	};

	Writer *writer = nullptr;
	std::string path, part;         // the file; under which name it is written
	std::vector<FILE *> files;      // that the writer has open
	int err = 0;

	void prepare(const char *file);
	void drop();
	void enter();
	void leave();
	void failed();                  // within a catch

	template <typename Work> void guarded(Work work)
	{
		enter();
		try {
			work();
		} catch (...) {
			failed();
		}
		leave();
	}
};

#endif
