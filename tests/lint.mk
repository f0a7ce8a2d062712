# Static checks, one suite for each tool. A checked file leaves a stamp; it is
# checked again when it, or a header it uses, changes: then its object is new.
lint_src := $(LIB) $(CLI) $(STORE) $(SUPERVISOR) $(V86) $(NETD) $(NODE)
lint_suites := lint-format lint-layers lint-portable lint-state lint-clang \
  lint-tidy lint-leaks lint-cppcheck lint-analyzer lint-docs lint-prose

lint: ## all static checks
	+@tools/check $(lint_suites)
.PHONY: lint $(lint_suites)

lint-format:
	@find src include tests examples/c bench -name '*.[ch]' -print0 | \
	  xargs -0 clang-format-14 --dry-run -Werror

lint-layers:
	@tools/check-layers

# The layers below src/host are compiled for wasm32, and need nothing of an
# operating system.
portable_objs := $(patsubst %.c,build/wasm32/%.o,$(BASE) $(NET) $(RECORD) $(TREE) $(KERNEL))
build/wasm32/%.o: %.c build/guest-flags | $(SYSROOT_LIB)
	@mkdir -p $(@D) && echo "  wcc $<"
	$Qguest/bin/wcc $(CPPFLAGS) -std=gnu11 -O1 -w -MMD -MP -c $< -o $@
lint-portable: $(portable_objs)
	@tools/check-portable $^
-include $(portable_objs:.o=.d)

lint-docs:
	@tools/gen-docs --check

lint-prose:
	@tools/house --prose

lint-state: build/libwasmsand.a
	@tools/check-state $<

lint_flags = $(CPPFLAGS) $(ENGINE_CPPFLAGS) -isystem $(V86_CORE)/include $(NODE_CPPFLAGS) \
  $(CFLAGS) $(WARN)
lint-clang: $(lint_src:%.c=build/lint/%.clang)
build/lint/%.clang: build/obj/%.o
	@mkdir -p $(@D)
	@$(CLANG) $(lint_flags) -fsyntax-only $*.c
	@touch $@

lint-tidy: $(lint_src:%.c=build/lint/%.tidy)
build/lint/%.tidy: build/obj/%.o .clang-tidy tools/tidy
	@mkdir -p $(@D)
	@echo clang-tidy $*.c
	@tools/tidy $*.c -- $(lint_flags)
	@touch $@
# lint-tidy reports leaks, and only where there are some.
lint-leaks:
	@n=$$(tools/tidy tests/lint/leaks.c -- $(lint_flags) | grep -c 'error: .*leak'); \
	  [ "$$n" = 2 ] || { echo "$$n of 2 leaks were reported"; exit 1; }
	@tools/tidy tests/lint/no_leaks.c -- $(lint_flags)

# Leaks and null pointers are left to clang-tidy, which follows memory from
# caller to callee; gcc keeps use after free and double frees.
lint-analyzer: $(lint_src:%.c=build/lint/%.analyzer)
build/lint/%.analyzer: build/obj/%.o
	@mkdir -p $(@D)
	@$(CC) $(lint_flags) -O0 -fanalyzer $(addprefix -Wno-analyzer-,malloc-leak \
	  null-argument null-dereference use-of-uninitialized-value) -c $*.c -o $@

# cppcheck does not know the cleanup attribute, hence no check for leaks.
lint-cppcheck:
	@mkdir -p build/lint/cppcheck
	@cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr \
	  --enable=warning,performance,portability -j$(shell nproc) \
	  --library=tests/cppcheck.cfg --suppress=memleak --suppress=uninitvar \
	  -D_GNU_SOURCE -D__x86_64__ \
	  --cppcheck-build-dir=build/lint/cppcheck -Iinclude -Isrc src
