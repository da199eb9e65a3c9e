# The tests of c_src/wire and of the vm tier need a small program around them.
NODETOOL_OBJ := $(call objects,$(ROOMS_LOW) dif engine jit etf probe linux cluster tier wire) $(BUILD)/tool/c_src/lang/encode.o

$(BUILD)/test/nodetool: test/node/nodetool.c $(NODETOOL_OBJ)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS_) $(SANFLAGS) $(EI_INC) -MMD -MP -o $@ $< $(NODETOOL_OBJ) $(EI_LIB) -lm -pthread

ready-node: $(BUILD)/test/nodetool
-include $(BUILD)/test/nodetool.d
