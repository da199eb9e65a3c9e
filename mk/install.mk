# `make install PREFIX=/usr/local DESTDIR=`: the tool, the agent beside it in lib, the ready scripts, the documents.

DESTDIR ?=
INSTALL ?= install

.PHONY: install uninstall
install: all
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/erltrace/ebin $(DESTDIR)$(PREFIX)/lib/erltrace/priv \
	    $(DESTDIR)$(PREFIX)/share/erltrace/scripts $(DESTDIR)$(PREFIX)/share/doc/erltrace
	$(INSTALL) -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/erltrace
	$(INSTALL) -m 644 $(BEAMS) $(DESTDIR)$(PREFIX)/lib/erltrace/ebin
	$(INSTALL) -m 755 $(NIF) $(DESTDIR)$(PREFIX)/lib/erltrace/priv
	$(INSTALL) -m 755 $(wildcard scripts/*.d) $(DESTDIR)$(PREFIX)/share/erltrace/scripts
	$(INSTALL) -m 644 $(wildcard README.md LICENSE doc/*.md) $(DESTDIR)$(PREFIX)/share/doc/erltrace

uninstall:
	rm -rf $(DESTDIR)$(PREFIX)/bin/erltrace $(DESTDIR)$(PREFIX)/lib/erltrace $(DESTDIR)$(PREFIX)/share/erltrace \
	    $(DESTDIR)$(PREFIX)/share/doc/erltrace
