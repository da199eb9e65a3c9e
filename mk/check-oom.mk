# Out of memory: OOM_LIMIT=0 make check-oom tries every allocation of every script.
OOM_OBJ := $(call objects,$(ROOMS_LIB))

$(BUILD)/test/oom-sweep: test/oom/sweep.c $(OOM_OBJ)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS_) $(SANFLAGS) -MMD -MP -o $@ $< $(OOM_OBJ) $(EI_LIB) -lm -pthread

ready-oom: $(BUILD)/test/oom-sweep
-include $(BUILD)/test/oom-sweep.d
