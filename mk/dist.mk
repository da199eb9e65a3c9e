# What is given to others, below build/; the same bytes whenever and by whomever it is made from one commit, with one compiler. What is packed bears
# the time of the commit, or SOURCE_DATE_EPOCH.
#
#   erltrace-VERSION.tar.gz                  what is committed, and the built page, so that a machine without npm has the page as well
#   erltrace-VERSION.tar                     by `make hex`, the Erlang application for hex.pm
#   erltrace-VERSION-linux-MACHINE.tar.gz    what `make install` installs, for `tar -C /usr/local --strip-components=1 -xf`

DIST   := erltrace-$(VERSION)
BINARY  = $(DIST)-linux-$(shell uname -m)

# $(call pack,NAME): packs build/dist/NAME.
pack = tar -C $(BUILD)/dist --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rwX,go+rX,go-w --mtime=@$(EPOCH) -cf $(BUILD)/$(1).tar $(1) && gzip -9nf $(BUILD)/$(1).tar

## dist: packs the sources with the built page, and what is built, below build/
.PHONY: dist dist-source dist-binary
dist: dist-source dist-binary

## dist-source: packs the sources alone
dist-source: ui/dist/index.html
	$(Q)rm -rf $(BUILD)/dist/$(DIST) && mkdir -p $(BUILD)/dist
	$(Q)git archive --prefix=$(DIST)/ HEAD | tar -x -C $(BUILD)/dist
	$(Q)cp -r ui/dist $(BUILD)/dist/$(DIST)/ui/
	$(Q)touch $(BUILD)/dist/$(DIST)/ui/page-is-built
	$(Q)$(call pack,$(DIST))
	$(Q)rm -rf $(BUILD)/dist/$(DIST)
	@echo "  DIST  $(BUILD)/$(DIST).tar.gz"

## dist-binary: packs what is built alone
dist-binary: all
	$(Q)rm -rf $(BUILD)/dist/$(BINARY) && mkdir -p $(BUILD)/dist/$(BINARY)
	@+$(MAKE) --no-print-directory -s install NIF_ARM64= DESTDIR=$(abspath $(BUILD))/dist/to/ PREFIX=/usr/local >/dev/null
	$(Q)mv $(BUILD)/dist/to/usr/local/* $(BUILD)/dist/$(BINARY) && rm -rf $(BUILD)/dist/to
	$(Q)$(call pack,$(BINARY))
	$(Q)rm -rf $(BUILD)/dist/$(BINARY)
	@echo "  DIST  $(BUILD)/$(BINARY).tar.gz"

## hex: packs the Erlang application for hex.pm, build/erltrace-VERSION.tar, with its sources in C
.PHONY: hex
hex:
	@mkdir -p $(BUILD)
	$(Q)scripts/dev/hex $(BUILD)/$(DIST).tar
	@echo "  HEX   $(BUILD)/$(DIST).tar"
