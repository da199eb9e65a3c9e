# The names of D, of probes and of options, for languages other than C: made from guest/words/ and util/options.list, and committed.
WORDS_ERLANG := guest/agent/erltrace_agent_words.hrl
WORDS_TS     := ui/src/model/words.ts
WORDS_DOC    := doc/command.md doc/language.md

## words: writes the names of D for Erlang and TypeScript, and the tables of options in doc/
.PHONY: words
words: $(BUILD)/words
	$(Q)$(BUILD)/words erlang >$(WORDS_ERLANG)
	$(Q)$(BUILD)/words typescript >$(WORDS_TS)
	$(Q)for f in $(WORDS_DOC); do $(BUILD)/words doc $$f >$(BUILD)/words.new && cat $(BUILD)/words.new >$$f || exit 1; done

$(BUILD)/words: scripts/dev/words.c $(wildcard c_src/util/option* guest/words/*) c_src/util/formats.list
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_) -o $@ $<

# Lint refuses files that differ from what these rows give.
.PHONY: lint-words
lint-words: $(BUILD)/words
	@scripts/dev/lint-same "$(BUILD)/words erlang" $(WORDS_ERLANG) "$(BUILD)/words typescript" $(WORDS_TS) \
		$(foreach f,$(WORDS_DOC),"$(BUILD)/words doc $(f)" $(f))
