# From nothing to three answers from a running node. demo-web builds the page, which needs npm.
.PHONY: demo
demo:
	@scripts/dev/deps build
	@+$(MAKE) --no-print-directory all UI=no
	@demo/run

# The same shop, left open to try things on.
.PHONY: shop
shop:
	@scripts/dev/deps build
	@+$(MAKE) --no-print-directory all UI=no
	@demo/shop
