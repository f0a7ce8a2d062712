# The Python SDK: its tests, and a wheel with the server and the root image.
sdk := sdk/python
sdk_venv := build/sdk/venv
pip = $(sdk_venv)/bin/pip

sdk: $(SANDBOX) ## the Python SDK against the server
	@PYTHONPATH=$(sdk)/src:tests PYTHONDONTWRITEBYTECODE=1 \
	  WASMSAND_SERVER=$(CURDIR)/$(SANDBOX) \
	  /usr/bin/python3 -m pytest -q -p tally -p no:cacheprovider $(sdk)/tests
lint-sdk: $(sdk_venv)/ready
	@$(sdk_venv)/bin/mypy --strict --cache-dir build/sdk/mypy $(sdk)/src $(sdk)/examples
$(sdk_venv)/ready: sdk/requirements.txt
	@/usr/bin/python3 -m venv $(sdk_venv)
	@$(pip) install -q --require-hashes --no-deps -r $<
	@touch $@

wheel: all rootfs | $(sdk_venv)/ready ## build/sdk/dist: the SDK with the server and the image
	@rm -rf build/sdk/dist
	@$(pip) wheel -q --no-deps --no-build-isolation -w build/sdk/dist ./$(sdk)
	@rm -rf $(sdk)/build $(sdk)/src/*.egg-info
	@ls build/sdk/dist
# The wheel alone, in a fresh environment, away from the repository.
wheel-test: wheel
	@rm -rf build/sdk/clean && /usr/bin/python3 -m venv build/sdk/clean
	@build/sdk/clean/bin/pip install -q --no-index build/sdk/dist/*.whl
	@cd / && env -i HOME=$$HOME $(CURDIR)/build/sdk/clean/bin/python -I \
	  $(CURDIR)/$(sdk)/tests/installed.py
.PHONY: sdk lint-sdk wheel wheel-test
