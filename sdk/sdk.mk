# The SDKs and their tests. The Python SDK also as a wheel with the server, the
# root image and the compiled code of its programs.
sdk := sdk/python
sdk_venv := build/sdk/venv
pip = $(sdk_venv)/bin/pip

# Compiles what is not in the cache: commands have a time limit.
sdk: $(SANDBOX) ## the Python SDK against the server
	@rm -rf build/sdk/code && mkdir -p build/sdk
	@$(SANDBOX) precompile $(ROOT_IMAGE) build/sdk/code
	@tools/default-signals env PYTHONPATH=$(sdk)/src:tests PYTHONDONTWRITEBYTECODE=1 \
	  WASMSAND_SERVER=$(CURDIR)/$(SANDBOX) \
	  /usr/bin/python3 -m pytest -q -p tally -p no:cacheprovider $(sdk)/tests
lint-sdk: $(sdk_venv)/ready
	@$(sdk_venv)/bin/mypy --strict --python-version 3.9 \
	  --cache-dir build/sdk/mypy $(sdk)/src examples/python
$(sdk_venv)/ready: sdk/requirements.txt
	@/usr/bin/python3 -m venv $(sdk_venv)
	@$(pip) install -q --require-hashes --no-deps -r $<
	@touch $@

wheel: all rootfs | $(sdk_venv)/ready ## build/sdk/dist: the SDK with all it needs
	@rm -rf build/sdk/dist $(sdk)/build
	@$(pip) wheel -q --no-deps --no-build-isolation -w build/sdk/dist ./$(sdk)
	@rm -rf $(sdk)/build $(sdk)/src/*.egg-info
	@ls build/sdk/dist
# The wheel alone, in a fresh environment with an empty cache, away from the
# repository.
wheel-test: wheel
	@rm -rf build/sdk/clean && /usr/bin/python3 -m venv build/sdk/clean
	@build/sdk/clean/bin/pip install -q --no-index build/sdk/dist/*.whl
	@rm -rf build/sdk/cache && mkdir build/sdk/cache
	@cd / && env -i XDG_CACHE_HOME=$(CURDIR)/build/sdk/cache \
	  $(CURDIR)/build/sdk/clean/bin/python -I $(CURDIR)/$(sdk)/tests/installed.py

# The JavaScript SDK. Its compiler comes from npm, into the cache.
sdk_js := sdk/js
sdk_js_out := build/sdk/js
sdk_js_src := $(wildcard $(sdk_js)/src/*.ts $(sdk_js)/test/*)
$(sdk_js_out)/built: $(sdk_js_src) $(sdk_js)/tsconfig.json $(sdk_js)/package.json
	@echo "  tsc $(sdk_js)"
	@rm -rf $(sdk_js_out) && mkdir -p $(sdk_js_out)
	@types=$$(tools/cache get sdk-js $(sdk_js)/tools -- $(sdk_js)/tools/install) && \
	  $$types/node_modules/.bin/tsc -p $(sdk_js) --outDir $(sdk_js_out) \
	    --typeRoots $$types/node_modules/@types
	@cp $(sdk_js)/package.json $(sdk_js)/test/reporter.mjs $(sdk_js_out)
	@touch $@
# All files of tests with each backend; those of the second entry point need
# the addon.
sdk-js: $(SANDBOX) $(sdk_js_out)/built $(B)/wasmsand.node ## the JavaScript SDK, with all its backends
	@$(SANDBOX) precompile $(ROOT_IMAGE) build/sdk/code
	@WASMSAND_SERVER=$(CURDIR)/$(SANDBOX) WASMSAND_JS=$(CURDIR)/$(sdk_js) \
	  tools/default-signals $(sdk_js)/test/run $(sdk_js_out)
.PHONY: sdk lint-sdk wheel wheel-test sdk-js
