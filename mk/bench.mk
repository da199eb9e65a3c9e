# The cost of an event: build/bench.json and a table.
## bench: measures the cost of an event
.PHONY: bench
bench:
	@scripts/dev/deps build test
	@+$(MAKE) --no-print-directory all
	@CC='$(CC)' bench/run $(BENCHFLAGS)

# Whether profiles are true: build/profile-truth.json and tables. Some twenty minutes, on a machine that does nothing else.
## bench-profile: compares profiles with what programs measure themselves, and with perf
.PHONY: bench-profile
bench-profile:
	@scripts/dev/deps build test bench rabbit
	@+$(MAKE) --no-print-directory all
	@bench/profile-truth --json build/profile-truth.json $(BENCHFLAGS) || status=1; \
	for s in idle timers bursts collecting dirty saturated rabbitmq; do \
		bench/profile-systems --system $$s --parts processes $(BENCHFLAGS) || status=1; done; \
	for s in timers bursts rabbitmq; do \
		bench/profile-systems --system $$s --parts truth $(BENCHFLAGS) || status=1; done; \
	bench/profile-systems --system rabbitmq --parts kernel $(BENCHFLAGS) || status=1; exit $${status:-0}

# The time to compile: build/bench-compile.json and a table.
## bench-compile: measures the time to compile D programs
.PHONY: bench-compile
bench-compile: all $(BUILD)/bench-compile
	@ERLTRACE=$(CURDIR)/$(BIN) bench/run-compile $(BUILD)/bench-compile

$(BUILD)/bench-compile: bench/compile.c $(OBJ_LIB)
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS_) $(SANFLAGS) $(EI_INC) -o $@ $< $(OBJ_LIB) $(EI_LIB) -lm -pthread

# Many threads, processes, functions and keys: build/bench-scale.json and tables; and the cache lines that two threads write.
## bench-scale: measures what many threads, processes, functions and keys cost
.PHONY: bench-scale
bench-scale:
	@scripts/dev/deps build test
	@+$(MAKE) --no-print-directory all $(BUILD)/bench-engine
	@bench/lines && bench/scale $(BENCHFLAGS)

$(BUILD)/bench-engine: bench/engine.c $(OBJ_LIB) $(filter %/deadman/load.o,$(call objects,beam))
	@echo "  LD    $@"
	$(Q)$(CC) $(CFLAGS_) $(SANFLAGS) $(EI_INC) -o $@ $(filter %.c %.o,$^) $(EI_LIB) -lm -pthread

# Times of enabling, of leaving, of the longest answer and the longest event, by functions, processes and neighbours:
# build/bench-enable.json and a table.
## bench-enable: measures the time to enable probes and to leave
.PHONY: bench-enable
bench-enable:
	@scripts/dev/deps build test
	@+$(MAKE) --no-print-directory all
	@bench/enable $(BENCHFLAGS)
