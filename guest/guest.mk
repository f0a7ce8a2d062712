# The guest's libc and compiler: guest/build-sysroot fills a cache entry for
# each state of its inputs, which guest/bin/wcc and guest/bin/wopt then use.
sysroot_inputs := $(addprefix guest/,build-sysroot musl bin/fetch bin/wcc) \
  =$(shell grep '^musl' guest/sources.tsv | sha256sum | cut -c1-16)
SYSROOT := $(shell tools/cache path sysroot $(sysroot_inputs))
SYSROOT_LIB := $(SYSROOT)/lib/libc.a
NPM := $(shell tools/cache path npm tools/npm)
export WASMSAND_SYSROOT := $(SYSROOT)
export WASMSAND_BINARYEN := $(NPM)/node_modules/binaryen

$(SYSROOT_LIB):
	@tools/cache get sysroot $(sysroot_inputs) -- \
	  tools/progress 'guest libc' guest/build-sysroot >/dev/null

# For the scripts of guest/bin, when they are not called by make.
guest-env: | $(SYSROOT_LIB)
	@echo "WASMSAND_SYSROOT=$(SYSROOT) WASMSAND_BINARYEN=$(WASMSAND_BINARYEN)"

packages: | $(SYSROOT_LIB) ## the programs of the root image
	@guest/bin/build-packages

share := build/share/wasmsand
rootfs: build/wasm-sandbox | $(SYSROOT_LIB) ## the root image and its compiled code, build/share/wasmsand
	@guest/bin/build-rootfs $(share)/root.tar build/wasm-sandbox
	@rm -rf build/code.new
	@for image in $(share)/root.tar $(wildcard $(share)/images/*.tar); do \
	  tools/progress 'compiled code' build/wasm-sandbox precompile $$image build/code.new || exit; \
	done
	@rm -rf $(share)/code && mv build/code.new $(share)/code
science: build/wasm-sandbox | $(SYSROOT_LIB) ## the image `science`, with numpy and other packages of Python
	@guest/bin/build-rootfs $(share)/images/science.tar build/wasm-sandbox science
	@tools/progress 'compiled code' build/wasm-sandbox precompile $(share)/images/science.tar $(share)/code
.PHONY: guest-env packages rootfs science

# How a C file becomes a program for the sandbox; /* post: MODE */ among its
# first lines chooses what wopt does to it.
wcc = guest/bin/wcc -D_GNU_SOURCE -MMD -MP -MT $@ -MF $(@:.wasm=.d)
define compile_guest
@mkdir -p $(@D) && echo "  wcc $<"
$Q$(wcc) -O2 $< -o $@.raw
$Qguest/bin/wopt $(or $(shell sed -n '1,5s|.*/\* post: \([a-z]*\) \*/.*|\1|p' $<),plain) $@.raw $@
@rm $@.raw
endef
build/guest-flags: FORCE
	$(call remember,$(SYSROOT) $(NPM) $(shell cat guest/bin/wopt* | sha256sum))

# The C++ library, for programs in C++ alone: the file has the folder of the result.
build/libcxx: build/guest-flags guest/bin/wc++ $(wildcard guest/packages/libcxx/*) \
  | $(SYSROOT_LIB)
	@tools/progress 'C++ library' guest/bin/build-package libcxx
	@guest/bin/build-package --path libcxx >$@
wc++ = WASMSAND_CXX=$$(cat build/libcxx)/dev guest/bin/wc++ $(wordlist 2,9,$(wcc))

build/examples/%.wasm: examples/%.c build/guest-flags | $(SYSROOT_LIB)
	$(compile_guest)
examples := $(patsubst %.c,build/%.wasm,$(wildcard examples/*.c))
examples: $(examples) ## the programs of the tour
.PHONY: examples
-include $(examples:.wasm=.d)
