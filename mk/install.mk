# `make install PREFIX=/usr/local DESTDIR=`: the tool, the library with its header, the agent and the D libraries in lib, the ready scripts,
# the documents, the manual pages, the unit of systemd.

DESTDIR ?=
INSTALL ?= install

TO := $(DESTDIR)$(PREFIX)

# $(call put,FLAGS,FILES,FOLDER): installs files into a folder. $(call point,LINK,TO): makes a symbolic link.
define put
@printf '  INSTALL %s\n' $(foreach f,$(2),$(TO)/$(3)/$(notdir $(f)))
$(Q)$(INSTALL) $(1) $(2) $(TO)/$(3)
endef
define point
@printf '  LN    %s\n' $(TO)/$(1)
$(Q)ln -sf $(2) $(TO)/$(1)
endef

# The unit of systemd, with the path of what it starts, in the folder of its PREFIX: installations elsewhere do not change it.
UNIT := $(LIB_AT)/erltrace-serve.service
.PHONY: install uninstall $(UNIT)
$(UNIT): mk/erltrace-serve.service
	@mkdir -p $(@D)
	$(Q)sed 's|@PREFIX@|$(PREFIX)|' $< >$@

## install: installs under PREFIX=/usr/local, below DESTDIR
install: all $(PC) $(LIB_A_AT) $(UNIT)
	$(Q)$(INSTALL) -d $(addprefix $(TO)/,bin lib/erltrace/ebin lib/erltrace/priv/agent lib/erltrace/priv/bin lib/erltrace/priv/lib \
	    share/erltrace/scripts/kernel share/erltrace/examples share/doc/erltrace share/bash-completion/completions share/zsh/site-functions \
	    share/fish/vendor_completions.d share/man/man1 share/man/man7 \
	    lib/systemd/system include lib/pkgconfig)
	$(call put,-s -m 755,$(BIN) $(SERVE),bin)
	$(call put,-m 644,$(APP),lib/erltrace/ebin)
	$(call put,-m 644,$(AGENT),lib/erltrace/priv/agent)
	$(call put,-m 755,$(NIF) $(wildcard $(NIF_ARM64)),lib/erltrace/priv)
	$(call put,-m 644,$(DLIBS),lib/erltrace/priv/lib)
	$(call point,lib/erltrace/priv/bin/erltrace,../../../../bin/erltrace)
	$(call put,-m 755,$(wildcard scripts/*.d),share/erltrace/scripts)
	$(call put,-m 755,$(wildcard scripts/kernel/*.d),share/erltrace/scripts/kernel)
	$(call put,-m 644,scripts/completion/erltrace,share/bash-completion/completions)
	$(call put,-m 644,scripts/completion/_erltrace,share/zsh/site-functions)
	$(call put,-m 644,scripts/completion/erltrace.fish,share/fish/vendor_completions.d)
	$(call put,-m 644,examples/top.c examples/Makefile,share/erltrace/examples)
	$(call put,-m 644,include/erltrace.h,include)
	$(call put,-m 644,$(LIB_A_AT),lib)
	$(call put,-s -m 755,$(LIB_SO),lib)
	$(call point,lib/liberltrace.so,$(SONAME))
	$(call put,-m 644,$(PC),lib/pkgconfig)
	$(call put,-m 644,$(wildcard README.md LICENSE doc/*.md),share/doc/erltrace)
	$(call put,-m 644,$(filter %.1,$(MANUAL)),share/man/man1)
	$(call put,-m 644,$(filter %.7,$(MANUAL)),share/man/man7)
	$(call put,-m 644,$(UNIT),lib/systemd/system)
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; \
	else echo "Still to do, so that the loader finds $(SONAME): run \`ldconfig\` as root if $(PREFIX)/lib is among the loader's folders;" \
	    "otherwise set LD_LIBRARY_PATH=$(PREFIX)/lib. The command needs neither."; fi

INSTALLED := lib/systemd/system/erltrace-serve.service include/erltrace.h lib/liberltrace.* lib/pkgconfig/erltrace.pc bin/erltrace bin/erltrace-serve lib/erltrace share/erltrace \
             share/doc/erltrace share/bash-completion/completions/erltrace share/zsh/site-functions/_erltrace \
             share/fish/vendor_completions.d/erltrace.fish \
             $(foreach p,$(notdir $(wildcard doc/man/*.[17])),share/man/man$(subst .,,$(suffix $(p)))/$(p))
## uninstall: removes what install has installed
uninstall:
	@printf '  RM    %s\n' $(addprefix $(TO)/,$(INSTALLED))
	$(Q)rm -rf $(addprefix $(TO)/,$(INSTALLED))
