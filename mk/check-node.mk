# The tests of c_src/node need a small program around that room.
NODETOOL_OBJ := $(filter $(foreach r,base word etf dif probe engine tier node,$(BUILD)/tool/c_src/$(r)/%),$(OBJ_LIB))

$(BUILD)/test/nodetool: test/node/nodetool.c $(NODETOOL_OBJ)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS_) $(SANFLAGS) $(EI_INC) -MMD -MP -o $@ $< $(NODETOOL_OBJ) $(EI_LIB) -lm -pthread

ready-node: $(BUILD)/test/nodetool
-include $(BUILD)/test/nodetool.d
