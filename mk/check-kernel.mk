# Programs that were generated for scripts of tests, which the kernel has to take again.
CORPUS_OBJ := $(call objects,$(ROOMS_LOW) dif engine jit probe linux)

$(BUILD)/test/corpus: test/kernel/corpus.c $(CORPUS_OBJ)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS_) $(SANFLAGS) -MMD -MP -o $@ $< $(CORPUS_OBJ) -lm -pthread

ready-kernel: $(BUILD)/test/corpus
-include $(BUILD)/test/corpus.d

# After a change of what is generated, and of the scripts of tests. Some minutes; needs root.
## corpus: keeps the programs that the scripts of tests run in the kernel
.PHONY: corpus
corpus: ready-kernel ready-d
	@$(SUITE_ENV) test/kernel/make-corpus

# The functions that VMs do not name, by their code. VMS: folders that `scripts/dev/otp-vm N-symbols` has made, one for each release;
# what is written has the functions of these VMs, and no others.
## fingers: writes the functions of VMs that are known by their code (VMS="FOLDER ...")
.PHONY: fingers
fingers: $(BUILD)/fingers
	$(Q)scripts/dev/fingers $(BUILD)/fingers $(VMS) >$(BUILD)/k_erts.list
	$(Q)cat $(BUILD)/k_erts.list >c_src/linux/k_erts.list

$(BUILD)/fingers: scripts/dev/fingers.c $(CORPUS_OBJ)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS_) $(SANFLAGS) -MMD -MP -o $@ $< $(CORPUS_OBJ) -lm -pthread

-include $(BUILD)/fingers.d
