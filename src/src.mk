# The engine, the library, the program and the supervisor.
BASE := $(wildcard src/base/*.c)
RECORD := $(wildcard src/record/*.c)
TREE := $(wildcard src/tree/*.c)
NET := $(wildcard src/net/*.c)
KERNEL := $(wildcard src/kernel/*.c src/kernel/vfs/*.c src/kernel/proc/*.c src/kernel/wasi/*.c)
ENGINE_SRC := $(wildcard src/engine/*.c) src/seal/seccomp.c
BROKER := $(wildcard src/broker/*.c)
HOST := $(wildcard src/host/*.c) $(BROKER)
NETD := $(wildcard src/netd/*.c)
NETD_LIBS := -l:libcares.a
LIB := $(BASE) $(NET) $(RECORD) $(TREE) $(KERNEL) $(HOST) $(ENGINE_SRC) $(wildcard src/lib/*.c)
WIRE := $(wildcard src/wire/*.c)
SEAL := $(wildcard src/seal/*.c)
STORE := $(wildcard src/store/*.c) $(RECORD)
CLI := $(wildcard src/cli/*.c src/mcp/*.c src/rpc/*.c src/supervisor/config/*.c) $(WIRE) $(SEAL)
SUPERVISOR := $(wildcard src/supervisor/*.c src/supervisor/*/*.c) $(WIRE) $(SEAL) $(STORE) $(NET) $(BROKER)
V86 := $(wildcard src/v86/*.c)
STORE_LIBS := -l:libsqlite3.a -lpthread -ldl -lm
SUPERVISOR_LIBS := $(STORE_LIBS)

# The engine is built once for each state of its inputs, into the cache.
engine_crate := src/engine/wasmtime
engine_inputs := $(addprefix $(engine_crate)/,Cargo.toml Cargo.lock src \
  build-engine edit-wasmtime) "=$(shell rustc --version)"
ENGINE := $(shell tools/cache path engine $(engine_inputs))
ENGINE_LIB := $(ENGINE)/lib/libwasmtime_engine.a
ENGINE_CPPFLAGS := -isystem $(ENGINE)/include
$(ENGINE_LIB):
	@tools/cache get engine $(engine_inputs) -- \
	  tools/progress engine $(engine_crate)/build-engine >/dev/null

# The core of the x86 emulator, in the same way.
v86_core_inputs := src/v86/core "=$(shell gcc --version | head -n 1)" \
  "=$(shell wasm2c --version 2>/dev/null)"
V86_CORE := $(shell tools/cache path v86-core $(v86_core_inputs))
V86_CORE_LIB := $(V86_CORE)/lib/libv86core.a
$(V86_CORE_LIB):
	@tools/cache get v86-core $(v86_core_inputs) -- \
	  tools/progress "x86 core" src/v86/core/build-core >/dev/null

# The default disk of the x86 computer: only on request, since it takes a download of 54 MB.
v86_image_inputs := tools/v86-image src/v86/image "=$(shell gcc --version | head -n 1)"
V86_IMAGE := $(shell tools/cache path v86-image $(v86_image_inputs))/disk.img
v86-image: ## the disk for --mode v86, into the cache
	@tools/cache get v86-image $(v86_image_inputs) -- \
	  tools/progress "x86 disk image" tools/v86-image >/dev/null
	@echo $(V86_IMAGE)
.PHONY: v86-image

# Two variants of each object: build/obj to be used, build/san/obj to be tested.
# Of src/, only engine sees the engine's headers.
compile = $(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -c
build/obj/%.o: %.c build/flags
	@mkdir -p $(@D) && echo "  cc $<"
	$Q$(compile) $(OPT_FLAGS) -Wstack-usage=4096 $< -o $@
build/san/obj/%.o: %.c build/flags
	@mkdir -p $(@D) && echo "  cc $< (sanitizers)"
	$Q$(compile) $(SAN_FLAGS) $< -o $@
build/flags: FORCE
	$(call remember,$(compile) $(OPT_FLAGS) $(SAN_FLAGS) $(ENGINE))
build/sources: FORCE
	$(call remember,$(LIB) $(CLI) $(STORE) $(SUPERVISOR) $(unit_src) $(tree_unit_src) \
	  $(engine_unit_src) $(rpc_unit_src) $(supervisor_unit_src) $(store_unit_src) \
	  $(V86) $(v86_unit_src) $(NETD))
engine_users := $(foreach variant,obj san/obj fuzz/obj walk/obj, $(patsubst %.c, \
  build/$(variant)/%.o,$(wildcard src/engine/*.c tests/engine/*.c \
  tests/fuzz/*.c bench/engine/*.c)))
$(engine_users): private CPPFLAGS += $(ENGINE_CPPFLAGS)
$(engine_users): | $(ENGINE_LIB)

v86_users := $(foreach variant,obj san/obj fuzz/obj, $(patsubst %.c, \
  build/$(variant)/%.o,$(wildcard src/v86/*.c tests/v86/*.c)))
$(v86_users): private CPPFLAGS += -isystem $(V86_CORE)/include
$(v86_users): | $(V86_CORE_LIB)

lib_objs := $(LIB:%.c=$(B)/obj/%.o)
cli_objs := $(CLI:%.c=$(B)/obj/%.o)
link := $(CC) $(if $(SAN),$(SAN_FLAGS)) $(LDFLAGS)

all: $(B)/libwasmsand.a $(B)/libwasmsand.so $(B)/wasmsand.pc ## program, library
all: $(if $(CLI),$(B)/wasm-sandbox) $(B)/libexec/wasmsand-supervisor $(B)/libexec/wasmsand-netd

$(B)/libwasmsand.a: $(lib_objs) build/sources
	@mkdir -p $(@D) && rm -f $@ && echo "  ar $@"
	$Q$(AR) rcs $@ $(lib_objs)
$(B)/libwasmsand.so: $(B)/libwasmsand.a $(ENGINE_LIB)
	@echo "  link $@"
	$Q$(link) -shared -Wl,-soname,$(@F) -Wl,--exclude-libs,$(notdir $(ENGINE_LIB)) \
	  $(lib_objs) $(ENGINE_LIB) $(LDLIBS) -o $@
$(B)/wasm-sandbox: $(cli_objs) $(B)/libwasmsand.a $(ENGINE_LIB)
	@echo "  link $@"
	$Q$(link) -pie $^ $(LDLIBS) -o $@
$(B)/libexec/wasmsand-supervisor: $(patsubst %.c,$(B)/obj/%.o,$(BASE) \
  $(SUPERVISOR)) build/sources
	@mkdir -p $(@D) && echo "  link $@"
	$Q$(link) -pie $(filter %.o,$^) $(SUPERVISOR_LIBS) -o $@
$(B)/libexec/wasmsand-netd: $(patsubst %.c,$(B)/obj/%.o,$(BASE) $(NET) $(NETD) \
  $(SEAL)) build/sources
	@mkdir -p $(@D) && echo "  link $@"
	$Q$(link) -pie $(filter %.o,$^) $(NETD_LIBS) -o $@
$(B)/wasmsand.pc: src/wasmsand.pc.in Makefile FORCE
	@mkdir -p $(@D)
	@sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' $< >$@

# A program of its own, which the library and `make all` do without.
v86: $(B)/libexec/wasmsand-v86 ## the program for --mode v86
$(B)/libexec/wasmsand-v86: $(patsubst %.c,$(B)/obj/%.o,$(BASE) $(RECORD) $(WIRE) $(SEAL) $(V86)) \
  build/sources $(V86_CORE_LIB)
	@mkdir -p $(@D) && echo "  link $@"
	$Q$(link) -pie $(filter %.o,$^) $(V86_CORE_LIB) -lpthread -lm -o $@
.PHONY: v86

# The server inside Node. The headers of Node's interface come with the tools of
# the JavaScript SDK.
NODE := $(wildcard src/node/*.c)
NODE_TOOLS := $(shell tools/cache path sdk-js sdk/js/tools)
node_users := $(foreach variant,obj san/obj,$(NODE:%.c=build/$(variant)/%.o))
NODE_CPPFLAGS := -isystem $(NODE_TOOLS)/node_modules/node-api-headers/include
$(node_users): private CPPFLAGS += $(NODE_CPPFLAGS)
$(node_users): | $(NODE_TOOLS)
$(NODE_TOOLS):
	@tools/cache get sdk-js sdk/js/tools -- sdk/js/tools/install >/dev/null
$(B)/wasmsand.node: $(patsubst %.c,$(B)/obj/%.o,$(NODE) $(wildcard src/rpc/*.c) $(WIRE)) \
  $(B)/libwasmsand.a $(ENGINE_LIB)
	@echo "  link $@"
	$Q$(link) -shared -Wl,--exclude-libs,ALL $^ $(LDLIBS) -o $@

# The root image and lint want the program and the library as they are used.
ifdef SAN
build/wasm-sandbox build/libwasmsand.a: FORCE
	+@$(MAKE) SAN= $@
endif

# The root image is the one that is there; `make rootfs` brings it up to date.
install: all $(if $(wildcard build/share/wasmsand/code),,rootfs) ## install under DESTDIR and PREFIX (/usr/local)
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin include libexec lib/pkgconfig share)
	install $(B)/wasm-sandbox $(DESTDIR)$(PREFIX)/bin/
	install $(B)/libexec/wasmsand-supervisor $(B)/libexec/wasmsand-netd \
	  $(wildcard $(B)/libexec/wasmsand-v86) $(DESTDIR)$(PREFIX)/libexec/
	install -m 644 include/wasmsand.h $(DESTDIR)$(PREFIX)/include/
	install -m 644 $(B)/libwasmsand.a $(ENGINE_LIB) $(DESTDIR)$(PREFIX)/lib/
	install $(B)/libwasmsand.so $(DESTDIR)$(PREFIX)/lib/
	install -m 644 $(B)/wasmsand.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig/
	rm -rf $(DESTDIR)$(PREFIX)/share/wasmsand
	install -d $(DESTDIR)$(PREFIX)/share/wasmsand
	cp -r $(addprefix build/share/wasmsand/,root.tar NOTICE code) \
	  $(wildcard build/share/wasmsand/images) $(DESTDIR)$(PREFIX)/share/wasmsand/
	chmod -R u=rwX,go=rX $(DESTDIR)$(PREFIX)/share/wasmsand
.PHONY: install

-include $(foreach v,build/obj build/san/obj,$(patsubst %.c,$v/%.d,$(LIB) \
  $(CLI) $(STORE) $(SUPERVISOR) $(V86) $(NETD) $(NODE)))
