# Memory that runs out: OOM_LIMIT=0 make check-oom tries every allocation of every script.
OOM_OBJ := $(filter $(foreach r,base word dif lang compile probe engine tier consumer,$(BUILD)/tool/c_src/$(r)/%),$(OBJ_LIB))

$(BUILD)/test/oom-sweep: test/oom/sweep.c $(OOM_OBJ)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS_) $(SANFLAGS) -MMD -MP -o $@ $< $(OOM_OBJ) -lm -pthread

ready-oom: $(BUILD)/test/oom-sweep
-include $(BUILD)/test/oom-sweep.d
