# The program behind `erltrace serve`, which alone needs libwebsockets, jansson and zlib; the page and the ready-made scripts are embedded
# in it.
#
#   make demo-web    a node with something to see, the server, and the address to open

OBJ_SERVE := $(call objects,$(ROOMS_LOW) event) $(OBJ_WEB)
WEB_LIBS  := -lwebsockets -ljansson -lz

all: $(SERVE)

$(SERVE): $(OBJ_SERVE) $(LIB_A)
	@mkdir -p $(@D)
	@echo "  LD    $@"
	$(Q)$(CC) $(SANFLAGS) -o $@ $^ $(EI_LIB) $(WEB_LIBS) -lm -pthread

# What is embedded: the page, if it was built (mk/ui.mk), and the scripts.
$(BUILD)/web/assets.c: scripts/dev/embed $(wildcard scripts/*.d scripts/kernel/*.d) $(UI_PAGE)
	@mkdir -p $(@D)
	@echo "  EMBED $@"
	$(Q)UI=$(UI) scripts/dev/embed $@

$(BUILD)/tool/c_src/web/assets.o: $(BUILD)/web/assets.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	$(Q)$(CC) $(CFLAGS_) -fPIC -fvisibility=hidden -c -o $@ $<

# Tests of the room's parts.
$(BUILD)/test/test_web_access: $(BUILD)/tool/c_src/web/access.o
$(BUILD)/test/test_web_model: $(addprefix $(BUILD)/tool/c_src/web/,model.o keys.o web_value.o) $(filter %/aggs.o,$(call objects,words))
$(BUILD)/test/test_web_hub: $(BUILD)/tool/c_src/web/hub.o
$(BUILD)/test/test_web_keys: $(addprefix $(BUILD)/tool/c_src/web/,keys.o web_value.o) $(filter %/aggs.o,$(call objects,words))
$(BUILD)/test/test_web_pack: $(BUILD)/tool/c_src/web/pack.o
$(BUILD)/test/test_web_pack: LIBS := -lz

## demo-web: opens the shop and prints the address of a page that traces it
.PHONY: demo-web bench-web
demo-web:
	@scripts/dev/deps build ui
	@+$(MAKE) --no-print-directory all
	@demo/web

# The cost of 20 pages on one script and 20 on different ones, with 2,000 keys and 64 buckets each second.
## bench-web: measures the server with forty pages
bench-web: all
	@bench/web $(BENCHFLAGS)
