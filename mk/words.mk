# The names of D and of probes, for languages other than C: made from guest/words/ and committed.
WORDS_ERLANG := agent/erltrace_agent_words.hrl
WORDS_TS     := ui/src/model/words.ts

## words: writes the names of D for Erlang and TypeScript
.PHONY: words
words: $(BUILD)/words
	$(Q)$(BUILD)/words erlang >$(WORDS_ERLANG)
	$(Q)$(BUILD)/words typescript >$(WORDS_TS)

$(BUILD)/words: scripts/dev/words.c c_src/probe/probe.h $(wildcard guest/words/* guest/words/*)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_) -o $@ $<

# Lint refuses files that differ from what these rows give.
.PHONY: lint-words
lint-words: $(BUILD)/words
	@scripts/dev/lint-same "$(BUILD)/words erlang" $(WORDS_ERLANG) "$(BUILD)/words typescript" $(WORDS_TS)
