# Packages for Debian, from what is committed: build/deb/*.deb.

## deb: builds the Debian packages erltrace, liberltrace-dev and erlang-erltrace, in build/deb
.PHONY: deb
DEB := $(BUILD)/deb
deb: dist-source
	@scripts/dev/deps build deb
	$(Q)rm -rf $(DEB) && mkdir -p $(DEB)
	$(Q)tar -C $(DEB) -xf $(BUILD)/$(DIST).tar.gz
	$(Q)printf 'erltrace (%s) unstable; urgency=medium\n\n  * What erltrace --version calls %s.\n\n -- %s  %s\n' $(VERSION) \
	    $$(git describe --always --abbrev=12 --exclude='*') "$$(sed -n 's/^Maintainer: //p' debian/control)" "$$(date -u -R -d @$(EPOCH))" >$(DEB)/$(DIST)/debian/changelog
	$(Q)cd $(DEB)/$(DIST) && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u BUILD DEB_BUILD_OPTIONS="parallel=$$(nproc) $(DEB_BUILD_OPTIONS)" \
	    dpkg-buildpackage -b -us -uc $(if $(V),,>../build.log 2>&1 || { tail -n 30 ../build.log; exit 1; })
	@for f in $(DEB)/*.deb; do echo "  DEB   $$f"; done
	$(Q)rm -rf $(DEB)/$(DIST)

# No part of `make check`: it builds everything again. For whoever changes debian/ or what `make install` does.
## check-deb: builds the Debian packages, and tries them in throw-away copies of this system and of a fresh Debian
.PHONY: check-deb
check-deb: deb
	@scripts/dev/deps otp
	@scripts/dev/tally 'scripts/dev/try-packages $(DEB)' 'scripts/dev/try-packages $(DEB) "$(shell . /etc/os-release 2>/dev/null; echo $$VERSION_CODENAME)"'
