# `make install PREFIX=/usr/local DESTDIR=`: the tool, the library with its header, the agent and the D libraries in lib, the ready scripts,
# the documents.

DESTDIR ?=
INSTALL ?= install

.PHONY: install uninstall
## install: installs under PREFIX=/usr/local, below DESTDIR
install: all $(LIB_DIR)/erltrace.pc $(LIB_A_AT)
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/erltrace/ebin \
	    $(addprefix $(DESTDIR)$(PREFIX)/lib/erltrace/priv/,agent bin lib) \
	    $(DESTDIR)$(PREFIX)/share/erltrace/scripts/kernel $(DESTDIR)$(PREFIX)/share/erltrace/examples \
	    $(DESTDIR)$(PREFIX)/share/doc/erltrace $(DESTDIR)$(PREFIX)/share/bash-completion/completions \
	    $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/lib/pkgconfig
	$(INSTALL) -s -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/erltrace
	$(INSTALL) -s -m 755 $(SERVE) $(DESTDIR)$(PREFIX)/bin/erltrace-serve
	$(INSTALL) -m 644 $(APP) $(DESTDIR)$(PREFIX)/lib/erltrace/ebin
	$(INSTALL) -m 644 $(AGENT) $(DESTDIR)$(PREFIX)/lib/erltrace/priv/agent
	$(INSTALL) -m 755 $(NIF) $(DESTDIR)$(PREFIX)/lib/erltrace/priv
	$(INSTALL) -m 644 $(DLIBS) $(DESTDIR)$(PREFIX)/lib/erltrace/priv/lib
	ln -sf ../../../../bin/erltrace $(DESTDIR)$(PREFIX)/lib/erltrace/priv/bin/erltrace
	$(INSTALL) -m 755 $(wildcard scripts/*.d) $(DESTDIR)$(PREFIX)/share/erltrace/scripts
	$(INSTALL) -m 755 $(wildcard scripts/kernel/*.d) $(DESTDIR)$(PREFIX)/share/erltrace/scripts/kernel
	$(INSTALL) -m 644 scripts/completion/erltrace $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	$(INSTALL) -m 644 examples/top.c examples/Makefile $(DESTDIR)$(PREFIX)/share/erltrace/examples
	$(INSTALL) -m 644 include/erltrace.h $(DESTDIR)$(PREFIX)/include
	$(INSTALL) -m 644 $(LIB_A_AT) $(DESTDIR)$(PREFIX)/lib
	$(INSTALL) -s -m 755 $(LIB_SO) $(DESTDIR)$(PREFIX)/lib
	ln -sf $(SONAME) $(DESTDIR)$(PREFIX)/lib/liberltrace.so
	$(INSTALL) -m 644 $(LIB_DIR)/erltrace.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig
	$(INSTALL) -m 644 $(wildcard README.md LICENSE doc/*.md) $(DESTDIR)$(PREFIX)/share/doc/erltrace
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; \
	else echo "Still to do, so that the loader finds $(SONAME): run \`ldconfig\` as root if $(PREFIX)/lib is among the loader's folders;" \
	    "otherwise set LD_LIBRARY_PATH=$(PREFIX)/lib. The command needs neither."; fi

## uninstall: removes what install has installed
uninstall:
	rm -rf $(DESTDIR)$(PREFIX)/include/erltrace.h $(DESTDIR)$(PREFIX)/lib/liberltrace.* \
	    $(DESTDIR)$(PREFIX)/lib/pkgconfig/erltrace.pc
	rm -rf $(DESTDIR)$(PREFIX)/bin/erltrace $(DESTDIR)$(PREFIX)/bin/erltrace-serve $(DESTDIR)$(PREFIX)/lib/erltrace $(DESTDIR)$(PREFIX)/share/erltrace \
	    $(DESTDIR)$(PREFIX)/share/doc/erltrace $(DESTDIR)$(PREFIX)/share/bash-completion/completions/erltrace
