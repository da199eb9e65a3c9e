# What enters a node: how much it is, a hash of it, and nothing that need not be there (scripts/dev/trusted).
#
# The linker tells which functions nothing calls, if each has a section and none is copied to where it is called.
TRUSTED := $(BUILD_AGENT)/trusted
OBJ_TRUSTED := $(patsubst %.c,$(TRUSTED)/%.o,$(call sources,$(ROOMS_GUEST)))

$(TRUSTED)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_) -O0 -g0 -ffunction-sections -fPIC -fvisibility=hidden $(NIF_INC) -MMD -MP -c -o $@ $<

## trusted: prints the size and a hash of each part of what enters a node, and refuses what it has too much
.PHONY: trusted
trusted: $(OBJ_TRUSTED)
	@scripts/dev/trusted '$(CC)' $(OBJ_TRUSTED)

-include $(OBJ_TRUSTED:.o=.d)
