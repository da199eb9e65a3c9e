# The agent for nodes on arm64, made by Debian's cross compiler (scripts/dev/deps arm64), so that the tool of any machine traces them: its file has
# the processor in its name, and the tool takes the file of the node's. The headers of NIFs are the same on both processors.
#
#   make arm64                  builds it
#   make arm64-folder           makes a folder with Debian's Erlang for arm64, whose programs an emulator runs (scripts/dev/otp-arm64)
#   make check-arm64            traces a node there, and runs the guest's unit tests
#   make check-arm64-all        all unit tests, the D scripts and the tests of the agent there
ARM64_CC  ?= aarch64-linux-gnu-gcc
NIF_ARM64 := priv/erltrace_agent-aarch64.so
OBJ_ARM64 := $(patsubst %.c,build/arm64/%.o,$(call sources,$(ROOMS_GUEST)))

.PHONY: arm64
## arm64: builds the agent for nodes on arm64
arm64: all $(NIF_ARM64)
# Once it is there, it is kept in step.
all: $(wildcard $(NIF_ARM64))

# (Functions for atomic operations, which gcc would call, look at the processor when a library is loaded.)
build/arm64/%.o $(NIF_ARM64): CC = $(ARM64_CC)
build/arm64/%.o $(NIF_ARM64): AGENT_CC += -mno-outline-atomics -fsigned-char
build/arm64/guest/libc/memcpy.o: AGENT_CC += $(AGENT_CC_MEMCPY)
$(NIF_ARM64): $(OBJ_ARM64) mk/libc.list scripts/dev/libc-names
	$(link_agent)

build/arm64/%.o: %.c Makefile mk/arm64.mk
	$(compile_agent)

# Unit tests: all of them, with the tool's rooms, though on arm64 only the guest is used. What CI builds and runs is the guest's, the smoke, which needs
# few rooms; the others have the rest. (Archives: of the rooms only what a test calls, and does not itself have, is linked.)
ARM64_ROOT  := $(or $(ERLTRACE_CACHE),$(HOME)/.cache/erltrace)/otp-27-arm64
ARM64_EI    := $(ARM64_ROOT)/usr/lib/erlang/usr
ARM64_TESTS := $(patsubst test/unit/%.c,build/arm64/test/%,$(wildcard test/unit/test_*.c))
ARM64_SMOKE := $(addprefix build/arm64/test/test_,base budget dif engine kept load missed nodename porttab proctab record redact shadow shapes shared subr term)
ARM64_ROOMS := words base util event dif engine jit beam etf probe lang cluster tier result
ARM64_UNIT  := $(patsubst %.c,build/arm64/tool/%.o,$(call sources,$(ARM64_ROOMS)) test/fuzz/nif.c)
ARM64_MORE  := $(patsubst %.c,build/arm64/tool/%.o,$(filter-out %/cli/main.c %/cli/about.c,$(call sources,$(filter-out $(ARM64_ROOMS),$(ROOMS_LIB)) port cli)) \
                 $(addprefix c_src/web/,access.c hub.c keys.c model.c pack.c web_value.c) test/fuzz/looks.c)
build/arm64/tool/%.o: %.c Makefile mk/arm64.mk
	@mkdir -p $(@D)
	@echo "  CC    $< (for arm64)"
	$(Q)$(ARM64_CC) --sysroot=$(ARM64_ROOT) $(CFLAGS_) -Wno-missing-prototypes -Wno-deprecated-declarations -mno-outline-atomics -isystem $(ARM64_EI)/include -MMD -MP -c -o $@ $<

build/arm64/unit.a: $(ARM64_UNIT)
build/arm64/more.a: $(ARM64_MORE)
build/arm64/unit.a build/arm64/more.a:
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(ARM64_TESTS): build/arm64/test/%: build/arm64/tool/test/unit/%.o build/arm64/tool/test/unit/select.o build/arm64/unit.a
	@mkdir -p $(@D)
	@echo "  TEST  $@"
	$(Q)$(ARM64_CC) --sysroot=$(ARM64_ROOT) -o $@ $(filter %.o,$^) -Wl,--wrap=_cmocka_run_group_tests \
	    -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(ARM64_EI)/lib/libei.a build/arm64/tool/test/unit/isoc23.o -lz -lcmocka -lm -pthread
$(filter-out $(ARM64_SMOKE),$(ARM64_TESTS)): build/arm64/more.a
$(ARM64_TESTS): | build/arm64/tool/test/unit/isoc23.o

.PHONY: arm64-folder ready-arm64 ready-arm64-unit check-arm64 check-arm64-all
.SECONDARY: $(ARM64_TESTS:build/arm64/test/%=build/arm64/tool/test/unit/%.o)
ready-arm64: arm64 $(ARM64_SMOKE)
ready-arm64-unit: $(ARM64_TESTS)
## arm64-folder: makes the folder with Debian's Erlang for arm64, for tests
arm64-folder:
	@scripts/dev/deps arm64
	@scripts/dev/otp-arm64 >/dev/null || [ $$? = 77 ]
## check-arm64: traces a node on arm64, and runs the guest's unit tests there, in an emulator
check-arm64:
	@scripts/dev/deps build test
	@+$(MAKE) --no-print-directory arm64-folder
	@+$(MAKE) --no-print-directory ready-arm64
	@+$(SUITE_ENV) scripts/dev/tally -B 'test/e2e/run --otp 27-arm64' "TESTS='$(ARM64_SMOKE)' test/unit/run --otp 27-arm64"

# An hour or two: before a release, and after a change of what differs between processors.
## check-arm64-all: runs all unit tests, the D scripts and the tests of the agent on arm64, in an emulator
check-arm64-all:
	@scripts/dev/deps build test
	@+$(MAKE) --no-print-directory arm64-folder
	@+$(MAKE) --no-print-directory ready-arm64 ready-arm64-unit
	@+$(SUITE_ENV) scripts/dev/tally -B $(foreach s,d agent e2e unit,'test/$(s)/run --otp 27-arm64')

-include $(OBJ_ARM64:.o=.d) $(ARM64_UNIT:.o=.d) $(ARM64_MORE:.o=.d) $(ARM64_TESTS:build/arm64/test/%=build/arm64/tool/test/unit/%.d)
