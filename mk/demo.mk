# From nothing to three answers from a running node.
.PHONY: demo
demo:
	@scripts/dev/deps build
	@+$(MAKE) --no-print-directory all
	@demo/run
