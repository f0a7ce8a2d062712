# The engine, the library, the program and the supervisor.
BASE := $(wildcard src/base/*.c)
RECORD := $(wildcard src/record/*.c)
TREE := $(wildcard src/tree/*.c)
KERNEL := $(wildcard src/kernel/*.c src/kernel/vfs/*.c src/kernel/proc/*.c src/kernel/wasi/*.c)
ENGINE_SRC := $(wildcard src/engine/*.c) src/seal/seccomp.c
HOST := $(wildcard src/host/*.c)
LIB := $(BASE) $(RECORD) $(TREE) $(KERNEL) $(HOST) $(ENGINE_SRC) $(wildcard src/lib/*.c)
WIRE := $(wildcard src/wire/*.c)
SEAL := $(wildcard src/seal/*.c)
STORE := $(wildcard src/store/*.c) $(RECORD)
CLI := $(wildcard src/cli/*.c src/rpc/*.c src/supervisor/config/*.c) $(WIRE) $(SEAL)
SUPERVISOR := $(wildcard src/supervisor/*.c src/supervisor/*/*.c) $(WIRE) $(SEAL) $(STORE)
STORE_LIBS := -l:libsqlite3.a -lpthread -ldl -lm
SUPERVISOR_LIBS := $(STORE_LIBS)

# The engine is built once for each state of its inputs, into the cache.
engine_crate := src/engine/wasmtime
engine_inputs := $(addprefix $(engine_crate)/,Cargo.toml Cargo.lock src \
  build-engine) "=$(shell rustc --version)"
ENGINE := $(shell tools/cache path engine $(engine_inputs))
ENGINE_LIB := $(ENGINE)/lib/libwasmtime_engine.a
ENGINE_CPPFLAGS := -isystem $(ENGINE)/include
$(ENGINE_LIB):
	@tools/cache get engine $(engine_inputs) -- \
	  tools/progress engine $(engine_crate)/build-engine >/dev/null

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
	  $(engine_unit_src) $(rpc_unit_src) $(supervisor_unit_src) $(store_unit_src))
engine_users := $(foreach variant,obj san/obj fuzz/obj walk/obj, $(patsubst %.c, \
  build/$(variant)/%.o,$(wildcard src/engine/*.c tests/engine/*.c \
  tests/fuzz/*.c bench/engine/*.c)))
$(engine_users): private CPPFLAGS += $(ENGINE_CPPFLAGS)
$(engine_users): | $(ENGINE_LIB)

lib_objs := $(LIB:%.c=$(B)/obj/%.o)
cli_objs := $(CLI:%.c=$(B)/obj/%.o)
link := $(CC) $(if $(SAN),$(SAN_FLAGS)) $(LDFLAGS)

all: $(B)/libwasmsand.a $(B)/libwasmsand.so $(B)/wasmsand.pc ## program, library
all: $(if $(CLI),$(B)/wasm-sandbox) $(B)/libexec/wasmsand-supervisor

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
$(B)/wasmsand.pc: src/wasmsand.pc.in Makefile FORCE
	@mkdir -p $(@D)
	@sed 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' $< >$@

# The root image and lint want the program and the library as they are used.
ifdef SAN
build/wasm-sandbox build/libwasmsand.a: FORCE
	+@$(MAKE) SAN= $@
endif

# The root image is the one that is there; `make rootfs` brings it up to date.
install: all $(if $(wildcard build/share/wasmsand/code),,rootfs) ## install under DESTDIR and PREFIX (/usr/local)
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin include libexec lib/pkgconfig share)
	install $(B)/wasm-sandbox $(DESTDIR)$(PREFIX)/bin/
	install $(B)/libexec/wasmsand-supervisor $(DESTDIR)$(PREFIX)/libexec/
	install -m 644 include/wasmsand.h $(DESTDIR)$(PREFIX)/include/
	install -m 644 $(B)/libwasmsand.a $(ENGINE_LIB) $(DESTDIR)$(PREFIX)/lib/
	install $(B)/libwasmsand.so $(DESTDIR)$(PREFIX)/lib/
	install -m 644 $(B)/wasmsand.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig/
	rm -rf $(DESTDIR)$(PREFIX)/share/wasmsand
	install -d $(DESTDIR)$(PREFIX)/share/wasmsand
	cp -r $(addprefix build/share/wasmsand/,root.tar NOTICE code) $(DESTDIR)$(PREFIX)/share/wasmsand/
	chmod -R u=rwX,go=rX $(DESTDIR)$(PREFIX)/share/wasmsand
.PHONY: install

-include $(foreach v,build/obj build/san/obj,$(patsubst %.c,$v/%.d,$(LIB) \
  $(CLI) $(STORE) $(SUPERVISOR)))
