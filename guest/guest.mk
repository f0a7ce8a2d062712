# The guest's libc and compiler: guest/build-sysroot fills a cache entry for
# each state of guest/, which guest/bin/wcc and guest/bin/wopt then use.
sysroot_inputs := $(filter-out %.md %/LICENSE,$(wildcard guest/*))
SYSROOT := $(shell tools/cache path sysroot $(sysroot_inputs))
SYSROOT_LIB := $(SYSROOT)/lib/libc.a
export WSYS := $(SYSROOT)
NPM := $(shell tools/cache path npm tools/npm)
export BINARYEN := $(NPM)/node_modules/binaryen/bin

$(SYSROOT_LIB):
	@tools/cache get sysroot $(sysroot_inputs) -- \
	  tools/progress 'guest libc' guest/build-sysroot

# How a C file becomes a program for the sandbox; /* post: MODE */ among its
# first lines chooses what wopt does to it.
build/guest-flags: FORCE
	$(call remember,$(SYSROOT) $(NPM))
define compile_guest
@mkdir -p $(@D) && echo "  wcc $<"
$Qguest/bin/wcc -O2 -D_GNU_SOURCE -MMD -MP -MT $@ -MF $(@:.wasm=.d) $< -o $@.raw
$Qguest/bin/wopt $(or $(shell sed -n '1,5s|^/\* post: \([a-z]*\) \*/$$|\1|p' $<),plain) $@.raw $@
@rm $@.raw
endef

build/examples/%.wasm: examples/%.c build/guest-flags | $(SYSROOT_LIB)
	$(compile_guest)
examples := $(patsubst %.c,build/%.wasm,$(wildcard examples/*.c))
examples: $(examples) ## the programs of the tour
.PHONY: examples
-include $(examples:.wasm=.d)
