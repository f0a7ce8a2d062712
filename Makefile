# wasmsand. `make help` lists the targets. src/src.mk builds the program and
# the library; the other folders have a fragment like it.
VERSION := 0.1.0
PREFIX ?= /usr/local
# SAN=1 builds and tests with the address and undefined-behaviour sanitizers.
B := build$(if $(SAN),/san)

CC := gcc
CLANG := clang-14
CPPFLAGS := -D_GNU_SOURCE -Iinclude -Isrc
CFLAGS := -std=gnu11 -g -fPIC -fvisibility=hidden -fno-omit-frame-pointer
WARN := -Wall -Wextra -Wshadow -Wvla -Wundef -Wstrict-prototypes \
  -Wmissing-prototypes -Wformat=2 -Wconversion -Wno-sign-conversion -Werror
OPT_FLAGS := -O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong \
  -ffunction-sections -fdata-sections
SAN_FLAGS := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
LDFLAGS := -Wl,--gc-sections -Wl,-z,relro,-z,now
# libarchive's tar reader without the libraries of all its other formats, which
# would take longer to load than a program takes to run.
LDLIBS := -l:libarchive.a -lpthread -ldl -lm

# Recipes show a short line of their own; V=1 shows the commands.
Q := $(if $(V),,@)

MAKEFLAGS += --no-builtin-rules --no-print-directory
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
  MAKEFLAGS += -j$(shell nproc)
endif
.DELETE_ON_ERROR:

# $(call remember,text): the recipe of a file that changes when the text does,
# so that what things are built with can be a prerequisite of them.
remember = @mkdir -p $(@D); echo '$1' | cmp -s - $@ || echo '$1' >$@

all:
FORCE:
include src/src.mk guest/guest.mk tests/tests.mk tests/lint.mk sdk/sdk.mk bench/bench.mk

try: ## build everything and open the sandboxed shell
	@tools/setup
	@[ -e $(ENGINE_LIB) ] || echo 'The first build takes about 20 minutes' \
	  'on two cores (the engine 5, the programs 15); later ones take seconds.'
	@$(MAKE) all rootfs
	@tools/tour

clean: ## remove build/ (the cache outside the clone stays)
	rm -rf build

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z -]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' \
	  $(MAKEFILE_LIST)
	@echo 'SAN=1        any of these with sanitizers: make SAN=1 check'
.PHONY: all try clean help FORCE
