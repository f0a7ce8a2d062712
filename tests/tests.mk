# The tests. A suite is a target that ends with `N passed, N failed`, or that
# just succeeds or fails; tools/check runs suites and adds up their results.
SANDBOX := $(B)/wasm-sandbox
inside_suites := $(if $(CLI),guest-inside guest-calls wasi $(if $(SAN),,guest-san) e2e)

# With SAN=1 these are left out: what is installed or packed is the program
# without sanitizers, which are too slow in a virtual machine without acceleration.
packed_suites := $(if $(SAN),,install-test wheel-test)
vm_suites := $(if $(SAN),,supervisor-v2)
check: ## all tests and lint; ends with `N passed, N failed`
	@tools/setup
	+@tools/check all rootfs $(lint_suites) tools-test unit unit-tree unit-engine unit-lib \
	  unit-rpc unit-supervisor unit-store unit-v86 v86-e2e net supervisor $(vm_suites) guest-native $(inside_suites) \
	  $(userland_suites) suites-short lint-sdk sdk sdk-js $(packed_suites) fuzz-short
quick: ## the gate for a commit, under two minutes
	+@tools/check all lint-format lint-layers unit unit-tree unit-engine $(if $(CLI),guest-inside)
check-long: ## what does not fit into check
	+@FUZZ_S=300 tools/check $(if $(CLI),e2e-long e2e-san suites-long sessions-long \
	  userland-long) v86-long fuzz
.PHONY: check quick check-long

# Unit tests, one program each: base, kernel and host; records and trees; the engine
# over a fake kernel; the supervisor; the store. Always with sanitizers. The allocator that
# counts live objects and fails on demand is wrapped around our objects alone,
# so they are joined first.
harness := tests/unit/main.c tests/unit/counted_alloc.c
unit_src := $(wildcard tests/unit/*.c)
tree_unit_src := $(wildcard tests/tree/*.c)
engine_unit_src := $(wildcard tests/engine/*.c)
supervisor_unit_src := $(wildcard tests/supervisor/*_test.c)
store_unit_src := $(wildcard tests/store/*.c)
rpc_unit_src := $(wildcard tests/rpc/*.c)
v86_unit_src := $(wildcard tests/v86/*_test.c)
wrap := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc \
  -Wl,--wrap=free,--wrap=strdup,--wrap=strndup
san_objs = $(patsubst %.c,build/san/obj/%.o,$1)
build/unit.o: $(call san_objs,$(BASE) $(RECORD) $(TREE) $(KERNEL) $(HOST) $(NET) \
  src/rpc/leader.c $(unit_src)) build/sources
build/unit-tree.o: build/sources $(call san_objs,$(BASE) $(RECORD) $(TREE) \
  $(tree_unit_src) $(harness))
build/unit-engine.o: build/sources $(call san_objs,$(BASE) \
  $(ENGINE_SRC) $(engine_unit_src) $(harness))
build/unit-supervisor.o: build/sources $(call san_objs,$(BASE) \
  $(filter-out %/main.c,$(SUPERVISOR)) $(supervisor_unit_src) \
  tests/store/world.c tests/rpc/json_count.c $(harness))
build/unit-rpc.o: build/sources $(call san_objs,$(BASE) $(RECORD) $(WIRE) \
  $(wildcard src/rpc/*.c) $(NET) $(rpc_unit_src) $(harness))
# A locale in which strtod expects a comma.
build/unit.o: wrap += -Wl,--wrap=strtod
# How often a JSON text is read.
build/unit-rpc.o build/unit-supervisor.o: wrap += -Wl,--wrap=json_read_copy \
  -Wl,--wrap=json_scan_begin,--wrap=json_is_valid
build/unit-store.o: build/sources $(call san_objs,$(BASE) $(STORE) \
  $(store_unit_src) $(harness))
# A disk that is full refuses the store's reserve too.
build/unit-store.o: wrap += -Wl,--wrap=posix_fallocate
build/unit-v86.o: build/sources $(call san_objs,$(BASE) $(RECORD) $(WIRE) $(SEAL) \
  $(filter-out %/main.c,$(V86)) $(v86_unit_src) $(harness))
build/unit.o build/unit-tree.o build/unit-engine.o build/unit-rpc.o \
  build/unit-supervisor.o build/unit-store.o build/unit-v86.o:
	$Q$(CC) -r -nostdlib $(wrap) $(filter %.o,$^) -o $@
build/unit-engine: $(ENGINE_LIB)
build/unit-supervisor: unit_libs := $(SUPERVISOR_LIBS)
build/unit-store: unit_libs := $(STORE_LIBS)
build/unit-v86: $(V86_CORE_LIB)
build/unit build/unit-tree build/unit-engine build/unit-rpc build/unit-supervisor \
  build/unit-store build/unit-v86: build/%: build/%.o
	@echo "  link $@"
	$Q$(CC) $(SAN_FLAGS) $^ $(unit_libs) $(LDLIBS) -o $@
unit unit-tree unit-engine unit-rpc unit-supervisor unit-store unit-v86: %: build/% ## unit tests
	build/$@
.PHONY: unit unit-tree unit-engine unit-rpc unit-supervisor unit-store unit-v86
-include $(patsubst %.c,build/san/obj/%.d,$(unit_src) $(tree_unit_src) \
  $(engine_unit_src) $(rpc_unit_src) $(supervisor_unit_src) $(store_unit_src) \
  $(v86_unit_src))

# Tests of the library through its header, with sanitizers when SAN=1. Those in
# tests/lib/shell need the root image that $WASMSAND_ROOT names.
lib_test_objs = $(patsubst %.c,$(B)/obj/%.o,$(lib_test_common) $(wildcard $1/*_test.c))
lib_test_common := $(addprefix tests/,lib/lib_test.c lib/plain_alloc.c \
  unit/main.c tree/record_map.c)
$(patsubst %.c,$(B)/obj/%.o,$(wildcard tests/lib/*.c tests/lib/shell/*.c)): \
  private CPPFLAGS += -Itests/unit -Itests/tree -Itests/lib
$(B)/unit-lib: $(sort $(call lib_test_objs,tests/lib))
$(B)/unit-lib-shell: $(call lib_test_objs,tests/lib/shell)
$(B)/unit-lib $(B)/unit-lib-shell: $(B)/libwasmsand.a $(ENGINE_LIB)
	@echo "  link $@"
	$Q$(link) $(filter %.o,$^) $(filter %.a,$^) $(LDLIBS) -o $@
ROOT_IMAGE := $(or $(WASMSAND_ROOT),build/share/wasmsand/root.tar)
unit-lib: $(B)/unit-lib ## tests of the library
	@env -u WASMSAND_ROOT $(B)/unit-lib
unit-lib-shell: $(B)/unit-lib-shell
	@WASMSAND_ROOT=$(ROOT_IMAGE) $(B)/unit-lib-shell
.PHONY: unit-lib unit-lib-shell
-include $(patsubst %.c,$(B)/obj/%.d,$(lib_test_common) \
  $(wildcard tests/lib/*.c tests/lib/shell/*.c))

# The examples, which use nothing but the public header.
c_examples := $(patsubst %.c,$(B)/%,$(wildcard examples/c/*.c))
$(B)/examples/c/%: examples/c/%.c include/wasmsand.h $(B)/libwasmsand.a $(ENGINE_LIB)
	@mkdir -p $(@D) && echo "  cc $<"
	$Q$(CC) -std=gnu11 -g -O2 -Iinclude $(WARN) $(if $(SAN),$(SAN_FLAGS)) $(LDFLAGS) \
	  $< $(filter %.a,$^) $(LDLIBS) -o $@
examples: $(c_examples)
examples-c: $(c_examples)
	@for e in $(c_examples); do echo "-- $$e"; $$e $(ROOT_IMAGE) || exit; done
install-test: all
	+@tests/run-install $(ROOT_IMAGE)
.PHONY: examples-c install-test

# Guest tests: each program passes natively and in the sandbox. One that does
# not compile is a failure of that test only, hence -k and the ignored status.
guest_src := $(wildcard tests/guest/*.c guest/tests/*.c guest/tests/*.cc)
guest_names := $(notdir $(basename $(guest_src)))
native_tests := $(guest_names:%=build/guest-tests/native/%)
linked_tests := $(guest_names:%=build/guest-tests/raw/%.wasm)
vpath %.c tests/guest guest/tests
vpath %.cc guest/tests
build/guest-tests/native/%: %.c
	@mkdir -p $(@D) && echo "  cc $< (native)"
	$Q$(CC) -O1 -D_GNU_SOURCE -w -MMD -MP $< -o $@ -lpthread -lm -lutil
build/guest-tests/raw/%.wasm: %.c build/guest-flags | $(SYSROOT_LIB)
	@mkdir -p $(@D) && echo "  wcc $<"
	$Q$(wcc) -O1 -w $< -o $@
build/guest-tests/native/%: %.cc
	@mkdir -p $(@D) && echo "  c++ $< (native)"
	$Qg++ -std=c++20 -O1 -w -MMD -MP $< -o $@ -lpthread
build/guest-tests/raw/%.wasm: %.cc build/libcxx
	@mkdir -p $(@D) && echo "  wc++ $<"
	$Q$(wc++) -std=c++20 -O1 -w $< -o $@
native-tests: $(native_tests)
linked-tests: $(linked_tests)
guest-native: ## guest tests on the host
	-@$(MAKE) -k native-tests
	@tests/run-guest native
inside-tests:
	-@$(MAKE) -k linked-tests
	@tests/wopt-tests $(guest_src)
guest-inside: $(SANDBOX) inside-tests build/tests/e2e/sh.wasm ## guest tests in the sandbox
	@tests/run-guest $(SANDBOX)
guest-san:
	@$(MAKE) SAN=1 guest-inside
guest-calls: $(SANDBOX) inside-tests ## which system calls the guest tests make
	@tests/check-syscalls $(SANDBOX)
.PHONY: native-tests linked-tests guest-native inside-tests guest-inside \
  guest-san guest-calls
-include $(native_tests:=.d) $(linked_tests:.wasm=.d)

# WASI tests: C with Debian's wasi-libc, and Go.
wasi_tests := $(patsubst tests/wasi/%,build/wasi-tests/%.wasm, \
  $(wildcard tests/wasi/*.c tests/wasi/*.go))
build/wasi-tests/%.c.wasm: tests/wasi/%.c
	@mkdir -p $(@D) && echo "  cc $< (WASI)"
	$Qclang-19 --target=wasm32-wasi -O1 -Wall -Wno-pointer-to-int-cast \
	  -MMD -MP -MT $@ -MF $(@:.wasm=.d) $< -o $@
build/wasi-tests/%.go.wasm: tests/wasi/%.go
	@mkdir -p $(@D) && echo "  go $<"
	$QGOOS=wasip1 GOARCH=wasm go build -o $@ $<
wasi-tests: $(wasi_tests)
wasi: $(SANDBOX) ## WASI programs in the sandbox
	-@$(MAKE) -k wasi-tests
	@tests/run-wasi $(SANDBOX)
.PHONY: wasi-tests wasi
-include $(wasi_tests:.wasm=.d)

# A server that writes down which functions a request goes through: tools/walk.c.
walk_src := $(CLI) $(LIB)
walk_hooks := read preadv2 write writev
build/walk/obj/%.o: %.c build/flags
	@mkdir -p $(@D) && echo "  cc $< (walk)"
	$Q$(compile) -w -O1 -finstrument-functions $< -o $@
build/walk/tools/walk.o: tools/walk.c
	@mkdir -p $(@D)
	$Q$(CC) -D_GNU_SOURCE -O1 -g -c $< -o $@
build/walk/wasm-sandbox: $(walk_src:%.c=build/walk/obj/%.o) build/walk/tools/walk.o \
  build/sources $(ENGINE_LIB)
	@echo "  link $@"
	$Q$(link) -pie $(walk_hooks:%=-Wl,--wrap=%) $(filter %.o,$^) $(ENGINE_LIB) \
	  $(LDLIBS) -o $@
walk: build/walk/wasm-sandbox ## the functions that one `run` goes through
	@tools/house --walk $< $(ROOT_IMAGE)
tools-test: | $(SYSROOT_LIB) ## tests of the scripts in tools/
	@$(pytest) tests/tools
.PHONY: walk tools-test
-include $(walk_src:%.c=build/walk/obj/%.d)

# End to end: Python against the program, with programs of its own.
e2e_programs := $(patsubst %.c,build/%.wasm,$(wildcard tests/e2e/*.c))
build/tests/e2e/%.wasm: tests/e2e/%.c build/guest-flags | $(SYSROOT_LIB)
	$(compile_guest)
pytest = tools/default-signals env PYTHONPATH=tests \
  PYTHONDONTWRITEBYTECODE=1 WASM_SANDBOX=$(SANDBOX) \
  /usr/bin/python3 -m pytest -q -rs -p tally -p no:cacheprovider
e2e: $(SANDBOX) $(B)/libexec/wasmsand-supervisor $(e2e_programs) ## tests of the program, from outside
	@$(pytest) -m 'not long' --ignore-glob='*/test_rpc_*' tests/e2e
e2e-long: $(SANDBOX) $(e2e_programs)
	@$(pytest) -m long tests/e2e
e2e-san:
	@$(MAKE) SAN=1 e2e
.PHONY: e2e e2e-long e2e-san
-include $(e2e_programs:.wasm=.d)

# The x86 computer. Its image is built first. Where that fails, as without a network, the
# tests that boot it are skipped.
v86-try-image:
	@$(MAKE) -s v86-image >/dev/null || echo 'no disk image: the tests that boot it are skipped'
v86_programs := $(SANDBOX) $(B)/libexec/wasmsand-v86 $(B)/libexec/wasmsand-supervisor
v86-e2e: $(v86_programs) | v86-try-image ## tests of --mode v86
	@WASMSAND_V86_IMAGE=$(V86_IMAGE) $(pytest) -m 'not long' tests/v86
v86-long: $(v86_programs) | v86-try-image
	@WASMSAND_V86_IMAGE=$(V86_IMAGE) $(pytest) -m long tests/v86
.PHONY: v86-try-image v86-e2e v86-long

# The supervisor: its jail from outside and, by a native program, from inside.
# Whatever groups the host has, a virtual machine has cgroup v2.
build/tests/supervisor/escape: $(addprefix tests/supervisor/,escape.c use.c)
	@mkdir -p $(@D) && echo "  cc $^"
	$Q$(CC) -O1 -D_GNU_SOURCE -Wall -Wextra -static $^ -o $@
build/tests/supervisor/sealed: $(wildcard tests/supervisor/sealed*.[ch]) $(SEAL) \
  $(wildcard src/seal/*.def src/seal/*.h src/base/*.h)
	@mkdir -p $(@D) && echo "  cc $@"
	$Q$(CC) -O1 -D_GNU_SOURCE -Isrc -Wall -Wextra -static $(filter %.c,$^) -o $@
$(B)/tests/supervisor/pool_driver: $(patsubst %.c,$(B)/obj/%.o,$(BASE) \
  $(filter-out %/main.c,$(SUPERVISOR)) tests/supervisor/pool_driver.c)
	@mkdir -p $(@D) && echo "  link $@"
	$Q$(link) -pie $^ $(SUPERVISOR_LIBS) -o $@
# The HTTP server over a core of its own, always with sanitizers.
http_host_src := $(BASE) $(WIRE) tests/supervisor/http_host.c \
  $(filter-out %/figures.c %/listener.c %/preview.c %/previews.c %/preview_wake.c, \
  $(wildcard src/supervisor/front/*.c)) \
  $(wildcard src/supervisor/common/*.c src/supervisor/config/*.c) $(NET) \
  src/supervisor/session/say.c
build/tests/supervisor/http_host: $(call san_objs,$(http_host_src))
	@mkdir -p $(@D) && echo "  link $@"
	$Q$(CC) $(SAN_FLAGS) $^ $(SUPERVISOR_LIBS) -o $@
build/tests/supervisor/json_lines: $(call san_objs,$(BASE) \
  tests/supervisor/json_lines.c)
	@mkdir -p $(@D) && echo "  link $@"
	$Q$(CC) $(SAN_FLAGS) $^ -lm -o $@
-include $(B)/obj/tests/supervisor/pool_driver.d \
  build/san/obj/tests/supervisor/json_lines.d \
  build/san/obj/tests/supervisor/http_host.d
supervisor_programs := $(B)/tests/supervisor/pool_driver \
  $(addprefix build/tests/supervisor/,escape sealed http_host json_lines)
supervisor: $(B)/libexec/wasmsand-supervisor $(supervisor_programs) ## jails
	@$(pytest) tests/supervisor
supervisor-v2: $(B)/libexec/wasmsand-supervisor $(supervisor_programs)
	@WASM_SANDBOX=$(SANDBOX) tests/supervisor/run-vm
# Sessions, with real workers and with one that breaks the protocol.
sessions: $(SANDBOX) $(B)/libexec/wasmsand-supervisor ## sessions of the supervisor
	@$(pytest) -m 'not long' tests/sessions
sessions-long: $(SANDBOX) $(B)/libexec/wasmsand-supervisor
	@$(pytest) -m long tests/sessions
.PHONY: supervisor supervisor-v2 sessions sessions-long

# The network: everything in a network namespace of its own.
net: $(SANDBOX) $(B)/libexec/wasmsand-netd ## the broker and the network policy
	@tests/net/namespace $(pytest) tests/net
.PHONY: net

# The programs of the root image, from outside and from inside.
userland_suites := tour rpc mcp sessions userland userland-programs differential \
  unit-lib-shell examples-c python-quick
# The image that is there; `make rootfs` brings it up to date.
build/share/wasmsand/root.tar:
	+@$(MAKE) rootfs
$(userland_suites) userland-long suites-short sdk sdk-js install-test: | $(ROOT_IMAGE)
check-userland: ## builds the root image and tests it
	+@tools/check rootfs $(userland_suites) $(packed_suites) suites
# One shell for many commands.
RESIDENT := $(B)/tests/resident
$(RESIDENT): $(B)/obj/tests/userland/resident.o $(B)/libwasmsand.a $(ENGINE_LIB)
	@mkdir -p $(@D) && echo "  link $@"
	$Q$(link) -pie $^ $(LDLIBS) -o $@
-include $(B)/obj/tests/userland/resident.d
tour: $(SANDBOX)
	@tools/tour </dev/null
# Wheels for pip inside, from the package index, outside of the clone.
wheels_inputs := tests/python/wheels tools/fetch-wheels
WHEELS := $(shell tools/cache path wheels $(wheels_inputs))
$(WHEELS): | build/sdk/venv/ready
	@tools/cache get wheels $(wheels_inputs) -- tools/fetch-wheels \
	  build/sdk/venv/bin/pip tests/python/wheels >/dev/null
userland: $(SANDBOX) $(RESIDENT) | $(WHEELS)
	@WASMSAND_WHEELS=$(WHEELS) $(pytest) -m 'not long' tests/userland
userland-long: $(SANDBOX) $(RESIDENT) | $(WHEELS)
	@WASMSAND_WHEELS=$(WHEELS) $(pytest) -m long tests/userland
rpc: $(SANDBOX) $(e2e_programs) ## the server, as clients see it
	@$(pytest) -m 'not long' $(wildcard tests/e2e/test_rpc_*.py)
mcp: $(SANDBOX) ## the MCP server, as clients see it
	@$(pytest) tests/mcp
.PHONY: mcp
userland-programs: $(SANDBOX)
	@tests/run-userland $(SANDBOX) $(ROOT_IMAGE)
differential: $(SANDBOX) $(RESIDENT) ## command lines, natively and inside
	@WASM_SANDBOX=$(SANDBOX) tests/run-differential
check-bash: rootfs $(SANDBOX) ## bash's own tests, natively and inside
	@WASM_SANDBOX=$(SANDBOX) tests/run-bash-suite
check-python: rootfs $(SANDBOX) ## CPython's own tests, natively and inside
	@WASM_SANDBOX=$(SANDBOX) tests/python/run
python-quick: $(SANDBOX)
	@WASM_SANDBOX=$(SANDBOX) tests/python/run --quick
.PHONY: check-python python-quick
suites: rootfs $(SANDBOX) ## the programs' own tests, natively and inside
	@WASM_SANDBOX=$(SANDBOX) tests/run-suite
suites-long: rootfs
suites-short suites-long: suites-%: $(SANDBOX)
	@WASM_SANDBOX=$(SANDBOX) tests/run-suite --$*
.PHONY: check-userland tour userland userland-long userland-programs differential \
  check-bash suites suites-short suites-long

# Fuzzing: tests/fuzz/x.c is a libFuzzer target, tests/fuzz/corpus/x its seeds.
FUZZ_S ?= 60
fuzz_src := $(wildcard tests/fuzz/*.c)
fuzz_programs := $(fuzz_src:tests/fuzz/%.c=build/fuzz/%)
fuzz_flags := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined
# As gcc tells our code of it.
fuzz_compile = $(CLANG) $(CPPFLAGS) $(CFLAGS) $(WARN) $(fuzz_flags) \
  -D__SANITIZE_ADDRESS__=1 -fsanitize=fuzzer-no-link -MMD -MP -c
build/fuzz/obj/%.o: %.c build/flags
	@mkdir -p $(@D) && echo "  cc $< (fuzz)"
	$Q$(fuzz_compile) $< -o $@
build/fuzz/lib.a: $(LIB:%.c=build/fuzz/obj/%.o) build/sources
	@rm -f $@
	$Q$(AR) rcs $@ $(filter %.o,$^)
build/fuzz/rpc_fuzz: $(patsubst %.c,build/fuzz/obj/%.o,$(wildcard src/rpc/*.c) $(WIRE) \
  tests/rpc/fake_library.c)
build/fuzz/config_fuzz: $(patsubst %.c,build/fuzz/obj/%.o, \
  $(wildcard src/supervisor/config/*.c))
build/fuzz/http_fuzz: $(patsubst %.c,build/fuzz/obj/%.o,$(WIRE) \
  $(filter src/supervisor/%,$(http_host_src)))
build/fuzz/preview_head_fuzz: build/fuzz/obj/src/supervisor/front/preview_head.o
# The supervisor without what makes processes, and without its own thread.
build/fuzz/session_fuzz: $(patsubst %.c,build/fuzz/obj/%.o,$(WIRE) \
  $(filter-out src/store/thread.c,$(STORE)) $(wildcard src/supervisor/common/*.c \
  src/supervisor/config/*.c) $(addprefix src/supervisor/jail/,ending.c native_calls.c) \
  $(filter-out %/image_hash.c %/images.c %/retention.c, \
  $(wildcard src/supervisor/session/*.c)))
build/fuzz/session_fuzz: fuzz_libs := $(SUPERVISOR_LIBS)
# The x86 computer without its core, and without the library, which has a machine of its own.
build/fuzz/v86.a: $(patsubst %.c,build/fuzz/obj/%.o,$(filter-out %/main.c %/core.c,$(V86))) \
  build/sources
	@rm -f $@
	$Q$(AR) rcs $@ $(filter %.o,$^)
build/fuzz/boot_fuzz build/fuzz/devices_fuzz: build/fuzz/%: build/fuzz/obj/tests/fuzz/%.o \
  build/fuzz/v86.a $(BASE:%.c=build/fuzz/obj/%.o)
	@echo "  link $@"
	$Q$(CLANG) $(fuzz_flags) -fsanitize=fuzzer -Wl,--gc-sections $(filter %.o,$^) \
	  $(filter %.a,$^) -o $@
build/fuzz/jit_fuzz: build/fuzz/v86.a
build/fuzz/jit_fuzz: fuzz_libs := build/fuzz/v86.a build/fuzz/lib.a
build/fuzz/store_fuzz: $(STORE:%.c=build/fuzz/obj/%.o)
build/fuzz/store_fuzz: fuzz_libs := $(STORE_LIBS)
build/fuzz/module_fuzz: build/fuzz/obj/tests/engine/fake_kernel.o
build/fuzz/wasi_fuzz: $(addprefix build/fuzz/obj/tests/unit/,fake_machine.o \
  world.o world_wasi.o)
build/fuzz/path_fuzz build/fuzz/shared_fuzz build/fuzz/syscall_fuzz: \
  $(addprefix build/fuzz/obj/tests/unit/,fake_machine.o world.o)
build/fuzz/syscall_fuzz: fuzz_link := \
  -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup
build/fuzz/%: build/fuzz/obj/tests/fuzz/%.o build/fuzz/lib.a $(ENGINE_LIB)
	@echo "  link $@"
	$Q$(CLANG) $(fuzz_flags) -fsanitize=fuzzer -Wl,--gc-sections $(fuzz_link) \
	  $(filter %.o,$^) $(filter %.a,$^) $(fuzz_libs) $(LDLIBS) -o $@
fuzz: $(fuzz_programs) ## each fuzz target for FUZZ_S seconds
	@tests/run-fuzz $(FUZZ_S) $(fuzz_programs)
fuzz-short: $(fuzz_programs)
	@tests/run-fuzz 3 $(fuzz_programs)
.PHONY: fuzz fuzz-short
.SECONDARY:
-include $(patsubst %.c,build/fuzz/obj/%.d,$(LIB) $(CLI) $(SUPERVISOR) $(V86) $(fuzz_src) \
  $(engine_unit_src) $(unit_src))
