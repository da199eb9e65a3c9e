# `make dist`: the sources of HEAD with the built page, so that a machine without npm has the page as well.

DIST := erltrace-$(VERSION)

## dist: packs build/erltrace-VERSION.tar.gz: what is committed, and the built page
.PHONY: dist
dist: ui/dist/index.html
	$(Q)rm -rf $(BUILD)/dist && mkdir -p $(BUILD)/dist
	$(Q)git archive --prefix=$(DIST)/ HEAD | tar -x -C $(BUILD)/dist
	$(Q)cp -r ui/dist $(BUILD)/dist/$(DIST)/ui/
	$(Q)touch $(BUILD)/dist/$(DIST)/ui/page-is-built
	$(Q)tar -C $(BUILD)/dist --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$$(git log -1 --format=%ct)" -c $(DIST) | \
	    gzip -9n >$(BUILD)/$(DIST).tar.gz
	$(Q)rm -rf $(BUILD)/dist
	@echo "  DIST  $(BUILD)/$(DIST).tar.gz"
