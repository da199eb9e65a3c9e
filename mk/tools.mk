# For those who work on the code: what there is to make, how files are compiled, which lines tests run.

# A line `## TARGET: text` above a rule is a line of this list.
## help: prints this list
.PHONY: help
help:
	@sed -n 's/^## \([^ :]*\): */\1|/p' $(filter Makefile %.mk,$(MAKEFILE_LIST)) | LC_ALL=C sort -t '|' -k 1,1 | awk -F '|' '{ printf "make %-22s %s\n", $$1, $$2 }'

## compile_commands.json: writes how each C file of the tool and of the agent is compiled, for clangd
COMPILE_COMMANDS ?= compile_commands.json
.PHONY: compile_commands.json
compile_commands.json:
	@$(MAKE) --no-print-directory -nB V=1 $(filter-out %/assets.o,$(OBJ_TOOL)) $(OBJ_AGENT) | scripts/dev/compile-commands >$(COMPILE_COMMANDS).new
	@mv $(COMPILE_COMMANDS).new $(COMPILE_COMMANDS)

# A build of its own, in build/cov, of the programs that these suites run; the agent, which they do not load, stays the ordinary one. What only
# tests of nodes run is missing from the table.
COVERAGE_SUITES := unit d oom
COVERAGE_MAKE    = $(MAKE) --no-print-directory BUILD=build/cov BUILD_AGENT=build BIN=build/cov/erltrace SERVE=build/cov/erltrace-serve OPT='-O0 -g' \
                   SANFLAGS='--coverage -fprofile-update=atomic'

## coverage: shows how much of each room the suites unit, d and oom run (COVERAGE_FLAGS=--files)
.PHONY: coverage
coverage:
	@scripts/dev/deps build test
	@+$(MAKE) --no-print-directory all
	@+$(COVERAGE_MAKE) $(COVERAGE_SUITES:%=ready-%)
	@find build/cov -name '*.gcda' -delete
	@+scripts/dev/tally $(foreach s,$(COVERAGE_SUITES),"$(COVERAGE_MAKE) check-$(s)"); scripts/dev/coverage $(COVERAGE_FLAGS) build/cov
