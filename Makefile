# erltrace: `make help` lists the targets. V=1 shows the commands.
# SANITIZE=address,undefined builds and tests the C programs with those sanitizers.

CC       ?= cc
PREFIX   ?= /usr/local
BUILD    := build$(if $(SANITIZE),/san)
# The agent is never built with sanitizers, so there is only one agent.
BUILD_AGENT = $(BUILD:%/san=%)
VERSION  := 0.1.0
comma    := ,
Q        := $(if $(V),,@)
# The time that what is packed or printed bears, in seconds: that of the commit; of sources that were unpacked, their own.
EPOCH     = $(or $(SOURCE_DATE_EPOCH),$(if $(wildcard .git),$(shell git log -1 --format=%ct 2>/dev/null)),$(shell stat -c %Y Makefile))

# gcc and clang; -Wconversion and -Wshadow are the house style.
WARN     := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla \
            -Wno-sign-conversion -Wno-missing-field-initializers
OPT      ?= -O2 -g
SANFLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all)
CFLAGS_  := -std=c17 -D_GNU_SOURCE -DET_VERSION='"$(VERSION)"' -DET_LIBDIR='"$(PREFIX)/lib"' $(WARN) $(OPT) \
            -fdebug-prefix-map=$(CURDIR)=. -Ic_src -Iguest -Iinclude -pthread $(CFLAGS)

# Erlang's own folders, found once, from the erl on the PATH.
ERL_ROOT := $(shell erl -noshell -eval 'io:format("~s",[code:root_dir()]),halt().' 2>/dev/null)
NIF_INC  := -isystem $(ERL_ROOT)/usr/include
EI_INC   := -isystem $(ERL_ROOT)/usr/include
EI_LIB   := -L$(ERL_ROOT)/usr/lib -lei

# doc/architecture.md says what the rooms are. Those of the guest, which enter a node, lie below guest/.
ROOMS_GUEST := words base dif engine jit beam libc
ROOMS_LOW   := words base util
ROOMS_LIB   := $(ROOMS_LOW) event dif engine jit etf probe lang linux cluster tier wire result session
ROOMS_CLI   := $(ROOMS_LOW) event etf port cli
# The sources, and the tool's objects, of rooms.
sources      = $(foreach r,$(1),$(wildcard c_src/$(r)/*.c c_src/$(r)/*/*.c guest/$(r)/*.c guest/$(r)/*/*.c))
objects      = $(patsubst %.c,$(BUILD)/tool/%.o,$(call sources,$(1)))
OBJ_AGENT   := $(patsubst %.c,$(BUILD_AGENT)/agent/%.o,$(call sources,$(ROOMS_GUEST)))
OBJ_WEB     := $(call objects,web) $(BUILD)/tool/c_src/web/assets.o
OBJ_CLI     := $(call objects,$(ROOMS_CLI))
OBJ_TOOL    := $(call objects,$(ROOMS_LIB) port cli) $(OBJ_WEB)
# What tests may call: everything but programs' main.
OBJ_LIB     := $(filter-out %/cli/main.o $(OBJ_WEB),$(OBJ_TOOL))
APP         := $(patsubst src/%.erl,ebin/%.beam,$(wildcard src/*.erl)) ebin/erltrace.app
AGENT       := priv/agent/erltrace_agent.beam
DLIBS       := $(patsubst lib/%.d,priv/lib/%.d,$(wildcard lib/*.d))
TESTS       := $(patsubst test/unit/%.c,$(BUILD)/test/%,$(wildcard test/unit/test_*.c))

BIN := $(if $(SANITIZE),$(BUILD)/erltrace,bin/erltrace)
SERVE := $(if $(SANITIZE),$(BUILD)/erltrace-serve,bin/erltrace-serve)
NIF := priv/erltrace_agent.so
# The files of the Erlang application other than its modules, so that a release, which copies priv/, has all of it.
PRIV := $(NIF) $(AGENT) $(DLIBS) $(if $(SANITIZE),,priv/bin/erltrace)
.DEFAULT_GOAL := all
include mk/lib.mk

.PHONY: all priv demo check check-unit check-d check-e2e bench install format lint clean deps
## all: builds everything: the command, the library, the agent, the page and its server
all: $(BIN) $(LIB_A) $(LIB_SO) $(PRIV) $(APP)
priv: $(PRIV)

# The command is an ordinary program that uses the library: it can be linked with nothing but what erltrace.h declares.
$(BIN): $(OBJ_CLI) $(LIB_A)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(SANFLAGS) -o $@ $^ -lm -pthread

# An event passes through several files of the agent; optimising them together makes its path shorter, where the tools can.
LTO := $(shell echo 'int x;' | $(CC) -flto=auto -O2 -shared -fPIC -x c - -o /dev/null 2>/dev/null && echo -flto=auto)

# The agent is loaded into other people's VMs, whatever C library they use: hidden symbols, no library of its own, no sanitizer, and no
# debugging information, a megabyte that every consumer would send there (the object files have it). What it needs of the C library is in
# mk/libc.list, by names that every C library has: not those of fortified functions, of a protector of stacks, or of functions that only a
# compiler knows.
AGENT_CC := -U_FORTIFY_SOURCE -fno-stack-protector -fno-builtin-bcmp $(if $(LTO),,-ffunction-sections)
# (A function that the compiler knows must not become a call of itself.)
AGENT_CC_MEMCPY := -fno-lto -fno-builtin -fno-plt
$(BUILD_AGENT)/agent/guest/libc/memcpy.o: AGENT_CC += $(AGENT_CC_MEMCPY)
define link_agent
@mkdir -p $(@D)
@echo "  LD    $@"
$(Q)$(CC) $(OPT) $(LTO) $(AGENT_CC) -shared -nostdlib -Wl,--gc-sections -Wl,--strip-debug -Wl,-z,now,-z,relro,-z,noexecstack \
    -Wl,--exclude-libs,ALL -o $@.new $(filter %.o,$^) -lgcc
$(Q)CC='$(CC)' scripts/dev/libc-names $@.new mk/libc.list || { rm $@.new; exit 1; }
$(Q)mv $@.new $@
endef
define compile_agent
@mkdir -p $(@D)
@echo "  CC    $< (agent$(if $(filter build/arm64/%,$@), for arm64))"
$(Q)$(CC) $(CFLAGS_) $(LTO) $(AGENT_CC) -fPIC -fvisibility=hidden $(NIF_INC) -MMD -MP -c -o $@ $<
endef
$(NIF): $(OBJ_AGENT) mk/libc.list scripts/dev/libc-names
	$(link_agent)

$(BUILD)/tool/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(CFLAGS_) -fPIC -fvisibility=hidden $(SANFLAGS) $(EI_INC) -MMD -MP -c -o $@ $<

# The commit that the sources are of, with a + if they have changed since; of an archive that of mk/commit, which git writes there.
COMMIT_FILE := $(BUILD)/commit
$(COMMIT_FILE): ask-git
	@mkdir -p $(@D)
	@commit=$$(if [ -e .git ]; then GIT_OPTIONAL_LOCKS=0 git describe --always --abbrev=12 --exclude='*' --dirty=+; else sed -n '/^[0-9a-f]*$$/s/\(............\).*/\1/p' mk/commit; fi 2>/dev/null); \
	    [ "$$(cat $@ 2>/dev/null)" = "$${commit:-unknown}" ] || echo "$${commit:-unknown}" >$@
ask-git: # never made: each make asks
$(BUILD)/tool/c_src/cli/about.o: $(COMMIT_FILE) scripts/dev/releases guest/words/otp.list
$(BUILD)/tool/c_src/cli/about.o: CFLAGS_ += -DET_COMMIT='"$(shell cat $(COMMIT_FILE) 2>/dev/null)"' \
    -DET_FIRST_RELEASE='"$(shell sed -n 's/^WORD_OTP.SUPPORTED, \([0-9]*\),.*/\1/p' guest/words/otp.list)"' \
    -DET_RELEASES='"$(subst $() $(),$(comma) ,$(strip $(shell scripts/dev/releases --host; scripts/dev/releases --others)))"'

# Written for the assembler of binutils: clang has one of its own, and none that optimises across files takes such text.
GNU_AS := $(shell $(CC) -fno-integrated-as -E -x c /dev/null >/dev/null 2>&1 && echo -fno-integrated-as)
$(BUILD)/tool/guest/beam/usdt.o $(BUILD_AGENT)/agent/guest/beam/usdt.o: CFLAGS_ += $(GNU_AS)
%/guest/beam/usdt.o: LTO :=

$(BUILD_AGENT)/agent/%.o: %.c Makefile
	$(compile_agent)

ebin/%.beam: src/%.erl $(wildcard src/*.hrl)
	@mkdir -p $(@D)
	@echo "  ERLC  $<"
	$(Q)erlc -I src +deterministic +debug_info -Werror -o $(@D) $<

ebin/%.app: src/%.app.src $(wildcard src/*.erl)
	@mkdir -p $(@D)
	$(Q)sed 's/{modules, \[\]}/{modules, [$(subst $() $(),$(comma) ,$(basename $(notdir $(sort $(wildcard src/*.erl)))))]}/' $< >$@

# Not on the code path: a node in which the application runs must not find an agent there that its consumer did not bring.
# One module from all files, because a node should load and purge only one.
$(AGENT): guest/agent/erltrace_agent.erl $(wildcard guest/agent/*.erl guest/agent/*.hrl) scripts/dev/pack-agent
	@mkdir -p $(@D)
	@echo "  PACK  $@"
	$(Q)rm -f $(filter-out $@,$(wildcard priv/agent/*.beam)) # from older builds
	$(Q)scripts/dev/pack-agent $@ $< $(wildcard guest/agent/erltrace_agent_*.erl)

priv/lib/%.d: lib/%.d
	@mkdir -p $(@D)
	$(Q)cp $< $@

priv/bin/erltrace: bin/erltrace
	@mkdir -p $(@D)
	$(Q)cp $< $@.new && mv $@.new $@

# Unit tests: one cmocka program for each file, linked with everything but main. Each contains select.c, which runs some of its tests by
# name.
TEST_OBJ := $(TESTS:$(BUILD)/test/%=$(BUILD)/tool/test/unit/%.o) $(BUILD)/tool/test/unit/select.o
# cmocka 2 has two names instead of assert_in_range, which version 1 lacks.
$(BUILD)/tool/test/unit/%: CFLAGS_ += -Wno-missing-prototypes -Wno-deprecated-declarations
$(TESTS): $(BUILD)/test/%: $(BUILD)/tool/test/unit/%.o $(BUILD)/tool/test/unit/select.o $(OBJ_LIB)
	@mkdir -p $(@D)
	@echo "  TEST  $@"
	$(Q)$(CC) $(SANFLAGS) -o $@ $(filter %.o,$^) -Wl,--wrap=_cmocka_run_group_tests $(EI_LIB) $(LIBS) -lcmocka -lm -pthread

# The agent's code that needs a virtual machine runs here with made-up terms (test/fuzz/nif.h).
TERM_OBJ := $(filter $(foreach f,term term_read term_text term_same term_look frozen redact records pidtext,%/$(f).o),$(call objects,beam)) $(BUILD)/tool/test/fuzz/nif.o
$(addprefix $(BUILD)/test/test_,kept kinds redact term): $(TERM_OBJ)
$(BUILD)/test/test_kinds: $(BUILD)/tool/test/fuzz/looks.o $(filter %/nodename.o,$(call objects,beam))
$(BUILD)/test/test_kept: $(filter %/kept.o %/proctab.o,$(call objects,beam))
BEAM_OBJ := $(call objects,beam) $(BUILD)/tool/test/fuzz/nif.o
$(addprefix $(BUILD)/test/test_,agent collecting inside oncpu_dirty): $(BEAM_OBJ)
$(BUILD)/test/test_procname: $(filter-out %/procname.o,$(BEAM_OBJ))
$(BUILD)/test/test_signal: $(filter-out %/tracer_signal.o,$(BEAM_OBJ))
$(BUILD)/test/test_objects: $(filter %/maps.o,$(BEAM_OBJ))
$(BUILD)/test/test_nodename: $(filter %/nodename.o,$(BEAM_OBJ))
$(BUILD)/test/test_oncpu_clock: $(filter %/oncpu_sampler.o,$(BEAM_OBJ))
$(BUILD)/test/test_oncpu_sampler: $(filter %/oncpu_clock.o,$(BEAM_OBJ))
$(BUILD)/test/test_onwall: $(filter %/oncpu_clock.o %/oncpu_sampler.o,$(BEAM_OBJ))

## clean: removes everything that was built, except the packages of the page
clean:
	rm -rf build bin priv ebin

-include $(OBJ_TOOL:.o=.d) $(BEAM_OBJ:.o=.d) $(OBJ_AGENT:.o=.d) $(TEST_OBJ:.o=.d)
-include $(filter-out mk/lib.mk,$(wildcard mk/*.mk))
