# erltrace: make | demo | check | bench | install | format | lint.  V=1 shows the commands.
# SANITIZE=address,undefined builds and tests the C programs with those sanitizers.

CC       ?= cc
PREFIX   ?= /usr/local
BUILD    := build$(if $(SANITIZE),/san)
VERSION  := 0.1.0
Q        := $(if $(V),,@)

# gcc and clang; -Wconversion and -Wshadow are the house style.
WARN     := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla \
            -Wno-sign-conversion -Wno-missing-field-initializers
OPT      ?= -O2 -g
SANFLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all)
CFLAGS_  := -std=c17 -D_GNU_SOURCE -DET_VERSION='"$(VERSION)"' $(WARN) $(OPT) -Ic_src -pthread $(CFLAGS)

# Erlang's own folders; asked once, from the erl on the PATH.
ERL_ROOT := $(shell erl -noshell -eval 'io:format("~s",[code:root_dir()]),halt().' 2>/dev/null)
NIF_INC  := -isystem $(ERL_ROOT)/usr/include
EI_INC   := -isystem $(ERL_ROOT)/usr/include
EI_LIB   := -L$(ERL_ROOT)/usr/lib -lei

ROOMS_TOOL  := base dif lang compile probe engine tier node consumer cli
ROOMS_AGENT := base dif probe engine beam
SRC_TOOL    := $(foreach r,$(ROOMS_TOOL),$(wildcard c_src/$(r)/*.c))
SRC_AGENT   := $(foreach r,$(ROOMS_AGENT),$(wildcard c_src/$(r)/*.c))
OBJ_TOOL    := $(SRC_TOOL:%.c=$(BUILD)/tool/%.o)
OBJ_AGENT   := $(SRC_AGENT:%.c=$(BUILD)/agent/%.o)
OBJ_LIB     := $(filter-out $(BUILD)/tool/c_src/cli/main.o,$(OBJ_TOOL))
BEAMS       := $(patsubst src/%.erl,ebin/%.beam,$(wildcard src/*.erl))
TESTS       := $(patsubst test/unit/%.c,$(BUILD)/test/%,$(wildcard test/unit/test_*.c))

BIN := $(if $(SANITIZE),$(BUILD)/erltrace,bin/erltrace)
NIF := priv/erltrace_agent.so

.PHONY: all demo check check-unit check-d check-e2e bench install format lint clean deps
all: $(BIN) $(NIF) $(BEAMS)

$(BIN): $(OBJ_TOOL)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(SANFLAGS) -o $@ $^ $(EI_LIB) -lm -pthread

# The agent is loaded into other people's VMs: hidden symbols, no unresolved ones, no sanitizer.
$(NIF): $(OBJ_AGENT)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) -shared -Wl,-z,now,-z,relro,-z,noexecstack -Wl,--exclude-libs,ALL -o $@ $^ -lm -pthread

$(BUILD)/tool/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(CFLAGS_) $(SANFLAGS) $(EI_INC) -MMD -MP -c -o $@ $<

$(BUILD)/agent/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC    $< (agent)"
	$(Q)$(CC) $(CFLAGS_) -fPIC -fvisibility=hidden -ftls-model=initial-exec $(NIF_INC) -MMD -MP -c -o $@ $<

ebin/%.beam: src/%.erl
	@mkdir -p $(@D)
	@echo "  ERLC  $<"
	$(Q)erlc +deterministic +debug_info -Werror -o $(@D) $<

# Unit tests: one cmocka program a file, linked with everything but main.
$(BUILD)/test/%: test/unit/%.c $(OBJ_LIB)
	@mkdir -p $(@D)
	@echo "  TEST  $<"
	$(Q)$(CC) $(CFLAGS_) $(SANFLAGS) $(EI_INC) -Wno-missing-prototypes -MMD -MP -o $@ $< $(OBJ_LIB) $(EI_LIB) -lcmocka -lm -pthread

clean:
	rm -rf build bin priv ebin

-include $(OBJ_TOOL:.o=.d) $(OBJ_AGENT:.o=.d) $(TESTS:=.d)
-include mk/*.mk
