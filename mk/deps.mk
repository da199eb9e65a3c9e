# What must be there before anything is built, and how it gets there.

.PHONY: deps
deps:
	@scripts/dev/deps build test

# A build that lacks its tools says what to do instead of failing somewhere inside. Targets that install the tools
# themselves first, or need none, go on.
BUILDS := $(filter-out deps demo check check-otp soak bench lint format clean,$(or $(MAKECMDGOALS),all))
ifneq ($(BUILDS),)
  LACKS := $(if $(shell command -v $(firstword $(CC))),,a C compiler) \
           $(if $(ERL_ROOT),$(if $(wildcard $(ERL_ROOT)/usr/include/ei.h),,ei.h),erl)
  ifneq ($(strip $(LACKS)),)
    $(error not found: $(strip $(LACKS)). On Debian, run scripts/dev/deps build; elsewhere install gcc and Erlang/OTP 25 \
with its development files)
  endif
endif
