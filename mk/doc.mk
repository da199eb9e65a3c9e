# doc/probes.md, from the provider's tables (c_src/probe/*.list). A unit test fails when it is out of date.
## doc: writes doc/probes.md from the tables of probes
.PHONY: doc
doc:
	@scripts/dev/deps build test
	@+$(MAKE) --no-print-directory $(BUILD)/test/test_probes_doc
	$(Q)ERLTRACE_ROOT=$(CURDIR) $(BUILD)/test/test_probes_doc --write
	@echo "  DOC   doc/probes.md"
