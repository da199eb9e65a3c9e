# `make static`: the command as one file, build/static/erltrace, linked with musl. It needs no library and no other file of erltrace's: the agent, the
# D libraries and the ready scripts are inside (util/embedded.h). It has no page, and what needs libraries that are loaded at run time is refused.

STATIC  := build/static
# musl-gcc finds only musl's headers; those of the kernel and of the libraries whose types are used are the system's, looked for last.
MUSL_CC := musl-gcc
STATIC_CC = $(MUSL_CC) $(foreach d,/usr/include $(wildcard /usr/include/$(shell $(CC) -print-multiarch 2>/dev/null)),-idirafter $(d))
STATIC_MAKE = $(MAKE) --no-print-directory SANITIZE= BUILD=$(STATIC) BUILD_AGENT=build CC='$(STATIC_CC)'
INSIDE  := $(sort $(NIF) $(wildcard priv/erltrace_agent-*.so) $(AGENT) $(DLIBS) $(wildcard scripts/*.d scripts/kernel/*.d))

## static: builds build/static/erltrace, the command as one file that needs nothing (musl-tools)
.PHONY: static
static: $(INSIDE)
	@command -v $(MUSL_CC) >/dev/null || { echo "not found: $(MUSL_CC). On Debian, run scripts/dev/deps static" >&2; exit 1; }
	@+$(STATIC_MAKE) $(STATIC)/erltrace

# What follows is of the `make` that `static` starts.
ifeq ($(BUILD),$(STATIC))
OBJ_STATIC := $(sort $(OBJ_CLI) $(OBJ_LIB_ALL))

# A libei that was built with glibc 2.38 or later asks for functions by names that musl does not have.
ISOC23 := $(foreach f,sscanf strtol,-Wl,--defsym=__isoc23_$(f)=$(f))

# Threads have musl's small stacks unless the file says otherwise; 8 MiB is what they have in other builds.
$(STATIC)/erltrace: $(OBJ_STATIC)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) -static -Wl,-z,stack-size=8388608 -Wl,-z,noexecstack $(ISOC23) -o $@ $^ $(EI_LIB) -lm -pthread
	@size $@ | awk 'NR == 2 { loaded = $$1 + $$2 } END { printf "        %.1f MiB, %.1f MiB without what debuggers need (strip)\n", '"$$(stat -c %s $@)"' / 1048576, loaded / 1048576 }'

# Written when it changes: a script may have gone, too.
$(STATIC)/always:
$(STATIC)/inside.list: $(STATIC)/always
	@mkdir -p $(@D)
	$(Q)printf '%s\n' $(INSIDE) | awk '{ printf "EMBEDDED(%d, \"%s\")\n", NR, $$0 }' >$@.new
	$(Q)if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(STATIC)/tool/c_src/util/embedded.o: CFLAGS_ += -DET_EMBEDDED='"$(abspath $(STATIC)/inside.list)"'
$(STATIC)/tool/c_src/util/embedded.o: $(STATIC)/inside.list $(INSIDE)
endif
