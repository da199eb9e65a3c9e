# What must be installed before anything is built, and how to install it.

## deps: installs what building and testing need
.PHONY: deps
deps:
	@scripts/dev/deps build test

# If tools are missing, the build says what to do instead of failing somewhere inside. Targets that install the tools
# themselves first, or need none, go on.
BUILDS := $(filter-out help deps demo demo-web shop check check-otp check-debug-vm musl-vm check-musl-vm check-valgrind doc soak chaos bench bench-profile bench-enable bench-scale fuzz coverage otp-folders arm64-folder check-arm64 check-arm64-all check-everywhere check-deb lint format clean,$(or $(MAKECMDGOALS),all))
# What the page's server alone needs may be missing where that is not built.
PAGELESS := $(BIN) $(LIB_A) $(LIB_SO) $(PRIV) priv static build/static/erltrace
HEADERS  := bpf/bpf.h gelf.h openssl/ssl.h $(if $(filter-out $(PAGELESS),$(BUILDS)),libwebsockets.h jansson.h zlib.h)
ifneq ($(BUILDS),)
  LACKS := $(if $(shell command -v $(firstword $(CC))),,a C compiler) \
           $(if $(ERL_ROOT),$(if $(wildcard $(ERL_ROOT)/usr/include/ei.h),,ei.h),erl) \
           $(shell printf '#if !__has_include(<%s>)\n%s\n#endif\n' $(foreach h,$(HEADERS),$(h) $(h)) | $(CC) -E -P - 2>/dev/null)
  ifneq ($(strip $(LACKS)),)
    $(error not found: $(strip $(LACKS)). On Debian, run scripts/dev/deps build; elsewhere install gcc, Erlang/OTP 25, \
libbpf, libelf and OpenSSL 3, and for the page libwebsockets 4, jansson and zlib, with their development files)
  endif
endif
