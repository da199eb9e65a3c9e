# From nothing to three answers from a running node. The page, which npm is needed for, is built by demo-web.
.PHONY: demo
demo:
	@scripts/dev/deps build
	@+$(MAKE) --no-print-directory all UI=no
	@demo/run

# The same shop, left open: something to try on.
.PHONY: shop
shop:
	@scripts/dev/deps build
	@+$(MAKE) --no-print-directory all UI=no
	@demo/shop
