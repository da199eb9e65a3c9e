# From nothing to three answers from a running node. demo-web builds the page, which needs npm.
## demo: builds, then asks a small shop three questions
.PHONY: demo
demo:
	@scripts/dev/deps build
	@+$(MAKE) --no-print-directory all UI=no
	@demo/run

# The same shop, left open to try things on.
## shop: opens the same shop and leaves it open
.PHONY: shop
shop:
	@scripts/dev/deps build
	@+$(MAKE) --no-print-directory all UI=no
	@demo/shop
