# The program whose event takes longest, for several sets of options: `make longest ROUNDS=20000` searches for it for some minutes.
LONGEST_OBJ := $(call objects,$(ROOMS_LOW) dif engine) $(BUILD)/tool/c_src/lang/encode.o
ROUNDS      ?= 1000

$(BUILD)/test/longest: test/longest/longest.c $(BUILD)/tool/test/fuzz/mutate.o $(LONGEST_OBJ)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS_) $(SANFLAGS) -MMD -MP -o $@ $(filter %.c %.o,$^) -lm -pthread

## longest: searches for the program with the longest event (ROUNDS=20000)
.PHONY: longest
longest: $(BUILD)/test/longest
	@$< $(ROUNDS)

ready-longest: $(BUILD)/test/longest
-include $(BUILD)/test/longest.d
