# The Python SDK: its tests, and a wheel with the server and the root image.
sdk := sdk/python
sdk_venv := build/sdk/venv
WHEEL = build/sdk/dist/wasmsand-$(VERSION)-py3-none-linux_x86_64.whl

sdk: $(SANDBOX) ## the Python SDK against the server
	@PYTHONPATH=$(sdk)/src:tests PYTHONDONTWRITEBYTECODE=1 \
	  WASMSAND_SERVER=$(CURDIR)/$(SANDBOX) \
	  /usr/bin/python3 -m pytest -q -p tally -p no:cacheprovider $(sdk)/tests
lint-sdk: $(sdk_venv)/mypy
	@$(sdk_venv)/bin/mypy --strict --cache-dir build/sdk/mypy $(sdk)/src $(sdk)/examples
$(sdk_venv)/mypy: sdk/requirements.txt
	@/usr/bin/python3 -m venv $(sdk_venv)
	@$(sdk_venv)/bin/pip install -q --require-hashes --no-deps -r $<
	@touch $@

wheel: all rootfs ## build/sdk/dist: the SDK with the server and the image
	@rm -rf build/sdk/wheel build/sdk/dist && mkdir -p build/sdk/wheel build/sdk/dist
	@cp -r $(sdk)/. build/sdk/wheel
	@install -D build/wasm-sandbox build/sdk/wheel/src/wasmsand/bin/wasm-sandbox
	@install -D -m 644 build/share/wasmsand/root.tar \
	  build/sdk/wheel/src/wasmsand/share/wasmsand/root.tar
	@tools/make-wheel build/sdk/wheel/src $(WHEEL) $(VERSION)
# The wheel alone, in a fresh environment, away from the repository.
wheel-test: wheel
	@rm -rf build/sdk/clean && /usr/bin/python3 -m venv build/sdk/clean
	@build/sdk/clean/bin/pip install -q --no-index $(WHEEL)
	@cd / && env -i HOME=$$HOME $(CURDIR)/build/sdk/clean/bin/python \
	  $(CURDIR)/$(sdk)/tests/wheel_check.py
.PHONY: sdk lint-sdk wheel wheel-test
