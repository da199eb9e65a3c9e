# Everything, built with the compilers and the C libraries of other Debians (scripts/dev/built), each named by its OTP release.
#
#   make built                  in those that are released: gcc and clang may warn of nothing
#   make BUILT=29 check-built   in the one that has OTP 29: this builds first
#   make check-everywhere       the agent's library, built here and in another Debian, in nodes of every Debian and on the emulator with musl
#
# The build needs processors and the tests of nodes a machine that is not busy, so that they are apart: built ends with the unit tests.
BUILT ?= $(shell scripts/dev/releases --settled)

.PHONY: built check-built check-everywhere $(BUILT:%=built-%)
## built: builds everything in a newer Debian with gcc, compiles it with clang, warnings as errors, and runs the unit tests there (BUILT=29)
built: $(BUILT:%=built-%)
	@+scripts/dev/tally $(foreach n,$(BUILT),'scripts/dev/built $(n) unit')

## check-built: traces nodes of that Debian with what was built there (BUILT=29)
check-built: all $(BUILT:%=built-%)
	@+$(SUITE_ENV) scripts/dev/tally $(foreach n,$(BUILT),'scripts/dev/built $(n) attach')

$(BUILT:%=built-%): built-%:
	@scripts/dev/deps otp
	@+scripts/dev/built $* build

# Not a part of `make check`: it takes the emulator with musl and a compiler in another Debian. For whoever changes how the library is linked or what it asks
# the C library for, and before a release.
EVERYWHERE = $(shell scripts/dev/releases) $(MUSL_OTP:%=%-musl)
## check-everywhere: one agent's library, built here and in another Debian, in nodes of every Debian and with musl
check-everywhere:
	@scripts/dev/deps build test otp
	@+$(call OTP_ROOTS)
	@+$(MAKE) --no-print-directory musl-vm all
	@+scripts/dev/built 27 agent
	@+$(SUITE_ENV) scripts/dev/tally -B $(foreach n,$(filter-out next,$(EVERYWHERE)),'test/e2e/run --otp $(n) everywhere/')
