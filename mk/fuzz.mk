# What CI runs of this is the seeds alone (FUZZ_SECONDS=0); `make explore` goes on from there.
# Fuzzing: `make fuzz` first runs every seed, then gives each target of test/fuzz FUZZ_SECONDS (60), two at a time; its last line
# is `N passed, N failed`. FUZZ_TARGET names one or several targets. The fuzzer keeps what it learns in FUZZ_CORPUS, outside the
# repository; if that is not set, it starts from the seeds. A finding is a file, shown with the command that replays it.
#
#   make fuzz FUZZ_TARGET=engine FUZZ_SECONDS=3600 FUZZ_CORPUS=~/.cache/erltrace/fuzz
FUZZ_TARGET  ?= text image engine format session report message agent kinds btf cfi usdt
FUZZ_SECONDS ?= 60
FUZZ_JOBS    ?= 2
FUZZ_CORPUS  ?=
FUZZ_CC      ?= clang

FUZZ      := build/fuzz
FUZZ_SAN  := address,undefined
FUZZ_CODE := $(call sources,$(ROOMS_LIB))
FUZZ_OBJ  := $(FUZZ_CODE:%.c=$(FUZZ)/%.o)
FUZZ_CFLAGS = $(CFLAGS_) -O1 -fno-omit-frame-pointer -fno-sanitize-recover=all -fsanitize=$(FUZZ_SAN) -Wno-missing-prototypes $(NIF_INC)

$(FUZZ)/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC    $< (fuzz)"
	$(Q)$(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

$(FUZZ)/guest/beam/usdt.o: FUZZ_CFLAGS += -fno-integrated-as

$(FUZZ)/fuzz-%: $(FUZZ)/test/fuzz/%.o $(FUZZ_OBJ)
	@echo "  LD    $@"
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer,$(FUZZ_SAN) -o $@ $^ $(LIBS) $(EI_LIB) -lm -pthread

$(FUZZ)/fuzz-engine $(FUZZ)/fuzz-image $(FUZZ)/fuzz-agent: $(FUZZ)/test/fuzz/mutate.o
$(FUZZ)/fuzz-agent $(FUZZ)/fuzz-kinds: $(FUZZ)/test/fuzz/made.o $(FUZZ)/test/fuzz/nif.o $(patsubst %.c,$(FUZZ)/%.o,$(call sources,beam))
$(FUZZ)/fuzz-kinds: $(FUZZ)/test/fuzz/looks.o
$(FUZZ)/fuzz-message: $(addprefix $(FUZZ)/c_src/web/,message.o access.o pack.o)
$(FUZZ)/fuzz-message: LIBS := -ljansson -lz

$(FUZZ)/mkseeds: $(FUZZ)/test/fuzz/mkseeds.o $(FUZZ_OBJ)
	@echo "  LD    $@"
	$(Q)$(FUZZ_CC) -fsanitize=$(FUZZ_SAN) -o $@ $^ $(EI_LIB) -lm -pthread

## fuzz: fuzzes each target (FUZZ_TARGET=engine, FUZZ_SECONDS=60)
.PHONY: fuzz fuzz-build
.PRECIOUS: $(FUZZ)/%.o
fuzz:
	@scripts/dev/deps build fuzz
	@+$(MAKE) --no-print-directory fuzz-build
	@test/fuzz/run --build $(FUZZ) --seconds $(FUZZ_SECONDS) -j $(FUZZ_JOBS) \
	    $(if $(FUZZ_CORPUS),--corpus $(FUZZ_CORPUS)) $(FUZZ_TARGET)

fuzz-build: $(FUZZ_TARGET:%=$(FUZZ)/fuzz-%) $(FUZZ)/mkseeds

-include $(FUZZ_OBJ:.o=.d) $(patsubst %.c,$(FUZZ)/%.d,$(call sources,beam)) $(wildcard $(FUZZ)/test/fuzz/*.d)
