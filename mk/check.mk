# Tests. `make check` installs what they need, builds, and runs every suite; its last line is `N passed, N failed`.
#
# A suite is a program that ends with such a line; test/NAME/run is the target check-NAME; test/README.md describes the suites, and the stages in
# which scripts/dev/tally runs their tests. check-otp makes other OTP releases, which check then uses as well.

# The agent's library is built without sanitizers, as is the VM that it goes into; the page is not C. Chaos takes minutes or hours and runs
# separately (make chaos); so does fuzzing (make fuzz).
SUITES    := $(filter-out chaos fuzz $(if $(SANITIZE),agent examples ui),$(patsubst test/%/run,%,$(sort $(wildcard test/*/run))))
# Suites that run another suite's program in a different way. For the tool's memory, D scripts in a node show nothing that they do not show in the
# local tier.
VARIANTS  := $(if $(SANITIZE),,d-vm d-kernel)
# The suites that have tests of a stage, those that take longest first.
STAGES     = $(eval STAGES := $(shell test/run --stages) B:d-vm here:d-kernel)$(STAGES)
of_stage   = $(patsubst $(1):%,%,$(filter $(1):%,$(STAGES)))
SUITE_ENV  = TESTS='$(TESTS)' BUILD=$(BUILD) ERLTRACE=$(CURDIR)/$(BIN) ERLTRACE_ROOT=$(CURDIR) CC='$(CC)' SANITIZE='$(SANITIZE)' \
             ASAN_OPTIONS=$(or $(ASAN_OPTIONS),detect_leaks=1:abort_on_error=0) \
             UBSAN_OPTIONS=$(or $(UBSAN_OPTIONS),print_stacktrace=1:halt_on_error=1)

.PHONY: check check-otp check-valgrind soak chaos $(SUITES:%=check-%) $(VARIANTS:%=check-%)

# The suites that `make check` runs: ONLY='d unit' selects some, EXCEPT='ui' leaves some out.
CHECKS = $(filter-out $(EXCEPT),$(or $(ONLY),$(SUITES) $(VARIANTS)))
# $(call suite,NAME): the command of a suite, or of a variant of one.
suite = $(or $(SUITE_$(1)),$(strip test/$(1)/run $(ARGS)))
# $(call staged,-A,SUITES): those of CHECKS among them, as scripts/dev/tally takes them. (They are ready; each make that is started costs over a second.)
staged = $(if $(filter $(CHECKS),$(2)),$(1) $(foreach s,$(filter $(CHECKS),$(2)),'$(call suite,$(s))'))

# The tools that test the Erlang application and the page may be missing: those tests are then skipped, and say what they lack.
## check: runs every suite but chaos and fuzz (ONLY='d unit', EXCEPT='ui')
check:
	@scripts/dev/deps build test
	@scripts/dev/deps erlang || true
	@$(if $(filter ui,$(CHECKS)),scripts/dev/deps browser || true)
	@+$(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc)) all $(CHECKS:%=ready-%)
	@+$(SUITE_ENV) scripts/dev/tally $(call staged,-A,$(call of_stage,A)) $(call staged,-B,$(call of_stage,B)) $(call staged,--here,$(call of_stage,here)) \
	    $(call staged,--alone,$(call of_stage,alone))

## check-SUITE: runs one suite; test/run lists them (ARGS='--part 1/3' for it)
$(SUITES:%=check-%): check-%: ready-%
	@$(SUITE_ENV) $(call suite,$*)

# What has to be built before a suite runs. (mk/check-*.mk have more.) test/run builds it, and asks for the environment.
# Tests of the static file are skipped where it cannot be built.
ready-e2e: $(if $(SANITIZE),,$(if $(shell command -v musl-gcc),static))
ready-kernel ready-differ: all
	@scripts/dev/deps kernel || true
.PHONY: suite-env $(SUITES:%=ready-%) $(VARIANTS:%=ready-%) ready-chaos ready-fuzz
$(filter-out ready-unit,$(SUITES:%=ready-%)) ready-chaos: all
ready-unit: $(TESTS)
ready-fuzz: fuzz-build
suite-env:
	@echo "$(SUITE_ENV)"

# Some of the D scripts of check-d, in the kernel. All of them in a row load some thousand programs within minutes, which no user does.
SUITE_d-kernel := test/d/run --kernel --part 1/16
ready-d-kernel: ready-d
	@scripts/dev/deps kernel || true
# The D scripts of check-d, inside nodes instead of the local tier.
SUITE_d-vm := test/d/run --vm
ready-d-vm: ready-d
## check-d-kernel: runs a sixteenth of the D scripts in the kernel
## check-d-vm: runs the D scripts inside nodes
check-d-kernel check-d-vm: check-%: ready-%
	@$(SUITE_ENV) $(call suite,$*)

# The end-to-end tests, and the D scripts that are about probes, on the other OTP releases, which are made first; where they cannot be made (no root),
# a message says so and the tests that need them are skipped. `builds` has nodes of the host's release and agents that others have compiled.
OTHERS := $(shell scripts/dev/releases --others)
OTP_ROOTS = $(MAKE) --no-print-directory OTP_WITH=$(1) -j $(words $(OTHERS)) $(OTHERS:%=otp-%)
OTP_SUITES := e2e d erlang port
otp_suites  = $(foreach s,$(filter $(or $(ONLY),$(1)),$(1)),$(foreach n,$(OTHERS),'test/$(s)/run --otp $(n)$(if $(filter d,$(s)), test/d/10-probes)'))
.PHONY: otp-folders $(OTHERS:%=otp-%)
## otp-folders: makes the folders of other OTP releases for tests
otp-folders:
	@scripts/dev/deps otp
	@+$(call OTP_ROOTS)
$(OTHERS:%=otp-%): otp-%:
	@scripts/dev/otp $* $(OTP_WITH) >/dev/null || [ $$? = 77 ]
## check-otp: runs the tests of nodes on other OTP releases (OTHERS=27, ONLY='e2e d erlang port builds')
check-otp:
	@scripts/dev/deps build test otp
	@+$(call OTP_ROOTS)
	@+$(MAKE) --no-print-directory all
	@+$(SUITE_ENV) scripts/dev/tally -B $(call otp_suites,$(OTP_SUITES)) $(if $(filter builds,$(or $(ONLY),builds)),'test/e2e/run --only builds') \
	    --alone $(call otp_suites,e2e)

# Chaos (test/chaos): every probe, consumers that come and go in every way, a node in which everything happens; CHAOS seconds on each installed OTP
# release. SEED=N repeats a run.
## chaos: runs consumers that come, go and die in every way (CHAOS=1800 seconds, SEED=N)
chaos:
	@scripts/dev/deps build test otp
	@+$(call OTP_ROOTS)
	@+$(MAKE) --no-print-directory all
	@+$(SUITE_ENV) scripts/dev/tally $(foreach n,$(shell scripts/dev/releases --host) $(OTHERS),'test/chaos/run --otp $(n) --seconds $(or $(CHAOS),1800) $(if $(SEED),--seed $(SEED))')

# The gate makes the same decisions each time (test/seeds); this looks for what it has not seen.
## explore: runs random tests, fuzzers and chaos with fresh seeds (MINUTES=60)
.PHONY: explore
explore:
	@scripts/dev/explore --minutes $(or $(MINUTES),60)

# Memory errors and leaks that a sanitizer build does not find: the unit tests and a few scripts under valgrind.
VALGRIND := valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite --child-silent-after-fork=yes
## check-valgrind: runs the unit tests and a few scripts under valgrind
check-valgrind:
	@scripts/dev/deps build test
	@+$(MAKE) --no-print-directory all $(TESTS)
	@+$(SUITE_ENV) UNDER='$(VALGRIND)' scripts/dev/tally 'test/unit/run' 'test/e2e/run --only valgrind'

# RabbitMQ under load for a minute with each script of that test, on every installed OTP release.
## soak: traces RabbitMQ under load on every OTP release (SOAK=60 seconds)
soak:
	@scripts/dev/deps build test rabbit otp
	@+$(call OTP_ROOTS,rabbit)
	@+$(MAKE) --no-print-directory all
	@+$(SUITE_ENV) SOAK=$(or $(SOAK),60) scripts/dev/tally 'test/e2e/run --only rabbit' \
	    $(foreach n,$(OTHERS),'test/e2e/run --otp $(n) --only rabbit')

# What a production VM does not notice: end-to-end tests, those of the agent, and chaos (CHAOS seconds) on debug emulators with assertions and the
# lock checker, which may write only what test/lib/debug-vm.list excuses. DEBUG_OTP names the releases; their emulators are built first
# (scripts/dev/otp-vm: some minutes each).
DEBUG_OTP := $(shell scripts/dev/releases --debug)
## check-debug-vm: tests on debug emulators with assertions (DEBUG_OTP=27)
.PHONY: check-debug-vm
check-debug-vm:
	@scripts/dev/deps build test otp otp-debug
	@for n in $(DEBUG_OTP); do scripts/dev/otp-vm $$n-debug >/dev/null || [ $$? = 77 ] || exit 1; done
	@+$(MAKE) --no-print-directory all
	@+$(SUITE_ENV) scripts/dev/tally $(foreach n,$(DEBUG_OTP),'test/agent/run --otp $(n)-debug' 'test/e2e/run --otp $(n)-debug' \
	    'test/chaos/run --otp $(n)-debug --seconds $(or $(CHAOS),600) $(if $(SEED),--seed $(SEED))')

# An emulator that is built with musl, as Alpine's is (scripts/dev/otp-vm: some four minutes on two processors). The test e2e/musl runs on it, and is
# skipped where it was not built.
MUSL_OTP := $(shell scripts/dev/releases --musl)
## musl-vm: builds an emulator with musl, on which musl/ of the end-to-end tests then runs
.PHONY: musl-vm check-musl-vm
musl-vm:
	@scripts/dev/deps otp-musl
	@for n in $(MUSL_OTP); do scripts/dev/otp-vm $$n-musl || [ $$? = 77 ] || exit 1; done
## check-musl-vm: tests the agent on an emulator that is built with musl, which it makes first
check-musl-vm:
	@scripts/dev/deps build test
	@+$(MAKE) --no-print-directory musl-vm all
	@+$(SUITE_ENV) scripts/dev/tally $(foreach n,$(MUSL_OTP),'test/agent/run --otp $(n)-musl' 'test/e2e/run --only musl/')
