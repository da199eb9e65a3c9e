# The manual pages, from doc/man/ and from what the programs and their lists say (scripts/dev/man).

MAN_AT := $(BUILD)/man$(subst /,-,$(PREFIX))
MANUAL := $(patsubst doc/man/%,$(MAN_AT)/%,$(wildcard doc/man/*.[17]))

## man: makes the manual pages, in build/
.PHONY: man
man install: $(MANUAL)

$(MAN_AT)/%: doc/man/% scripts/dev/man doc/probes.md $(BIN) $(SERVE) $(BUILD)/words
	@mkdir -p $(@D)
	@echo "  MAN   $(@F)"
	$(Q)ERLTRACE=$(BIN) SERVE=$(SERVE) WORDS=$(BUILD)/words DATE=$$(date -u -d @$(EPOCH) +%F) VERSION=$(VERSION) PREFIX=$(PREFIX) \
	    scripts/dev/man $< >$@.new
	$(Q)mv $@.new $@
