# Checks the house rules (`make lint`) and applies the layout (`make format`).

FORMATTED = $(wildcard bpf/*.[ch]) $(wildcard include/*.h $(foreach d,c_src guest,$(foreach e,c h,$(d)/*/*.$(e) $(d)/*/*/*.$(e))) test/unit/*.c test/unit/*.h test/api/*.c test/fuzz/*.c test/fuzz/*.h test/oom/*.c test/longest/*.c \
              test/node/*.c test/agent/*.c test/chaos/*.c test/lib/*.c examples/*.c bench/*.c scripts/dev/*.c)

# (A build whose warnings were errors already, as in CI, is not made again. clang warns of the same without optimisation.)
## lint: checks the rules of the tree, layout, Erlang, and that gcc and clang warn of nothing
.PHONY: lint format lint-clang lint-erlang lint-tidy lint-ui
lint:
	@scripts/dev/deps build test erlang format ui
	@scripts/dev/lint-rooms
	@scripts/dev/lint-reserved $(CC) $(NIF_INC)
	@scripts/dev/lint-ci
	@scripts/dev/lint-tests
	@+$(MAKE) --no-print-directory lint-erlang lint-words lint-names lint-ui trusted
	@echo "  clang-format"
	$(Q)clang-format --dry-run -Werror $(FORMATTED)
	@+$(MAKE) --no-print-directory $(if $(findstring -Werror,$(CFLAGS)),,CFLAGS='$(CFLAGS) -Werror' BUILD=build/gcc) lint-build
	@+$(MAKE) --no-print-directory CC=clang CFLAGS='$(CFLAGS) -Werror' OPT=-O0 BUILD=build/clang lint-build
	@echo "lint: ok"

# (gcc-nm also reads objects that are optimised across files.)
.PHONY: lint-names
lint-names: $(OBJ_TOOL) $(OBJ_AGENT)
	@scripts/dev/lint-names gcc-nm $(OBJ_TOOL) $(OBJ_AGENT)
	@echo "  external names: ok"

lint-erlang: $(APP) $(AGENT)
	@scripts/dev/lint-erlang

# Compiles everything with the compiler and flags that are given; links only the tests.
.PHONY: lint-build
lint-build: $(OBJ_TOOL) $(OBJ_AGENT) $(TESTS) $(patsubst %.c,$(BUILD)/tool/%.o,$(wildcard test/fuzz/*.c test/oom/*.c bench/compile.c bench/engine.c))
	@echo "  $(CC): no warning"

## lint-ui: checks layout and rules of the page's TypeScript (ui/biome.json)
lint-ui: ui/node_modules/.complete
	$(Q)cd ui && node_modules/.bin/biome check --log-level=error
	@echo "  TypeScript: ok"

# clang-tidy's opinions change with its version; it is not part of lint.
## lint-tidy: runs clang-tidy
lint-tidy:
	@scripts/dev/deps build format
	clang-tidy --quiet --checks='-*,bugprone-*,-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier,clang-analyzer-*,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling' \
	    $(SRC_TOOL) $(filter-out $(SRC_TOOL),$(SRC_AGENT)) -- $(CFLAGS_) $(NIF_INC)

## format: lays out the C files with clang-format, the page's with biome
format: ui/node_modules/.complete
	@scripts/dev/deps format ui
	clang-format -i $(FORMATTED)
	cd ui && node_modules/.bin/biome check --write --log-level=error
