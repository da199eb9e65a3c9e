# The browser page: ui/ is bundled into ui/dist, whose files are embedded in the program (`erltrace serve`). The packages are
# those of ui/package-lock.json, fetched once by npm. UI=no builds without the page, for hosts without node or without a network.
#
#   make ui          the page
#   make check-ui    its tests (test/ui/run)

# An archive of a release (`make dist`) has the built page, which is taken as it is.
UI_BUILT := $(wildcard ui/page-is-built)
UI_PAGE := $(if $(UI_BUILT),,$(if $(filter-out no,$(or $(UI),yes)),$(if $(shell command -v npm 2>/dev/null),ui/dist/index.html)))
UI_FILES = ui/build.mjs ui/tsconfig.json $(wildcard ui/src/* ui/src/*/* ui/src/*/*/*)

## ui: builds the browser page
.PHONY: ui
ui: ui/dist/index.html

ui/node_modules/.complete: ui/package-lock.json ui/package.json
	@echo "  NPM   ui"
	$(Q)cd ui && npm ci --no-audit --no-fund --loglevel=error || \
	    { echo "npm could not fetch the packages of the browser page; make UI=no builds without it" >&2; exit 1; }
	$(Q)touch $@

ui/dist/index.html: ui/node_modules/.complete $(UI_FILES)
	@echo "  PAGE  ui/dist"
	$(Q)node ui/build.mjs
