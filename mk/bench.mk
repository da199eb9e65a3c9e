# What an event costs: build/bench.json and a table.
.PHONY: bench
bench:
	@scripts/dev/deps build test
	@+$(MAKE) --no-print-directory all
	@CC='$(CC)' bench/run $(BENCHFLAGS)
