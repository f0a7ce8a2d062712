# Measurements: bench/x.c and the kernels of bench/cpu are built natively and
# for the sandbox; bench/host measures from outside, bench/engine the engine
# over a fake kernel. bench/run compares.
bench_src := $(wildcard bench/*.c)
bench_native := $(bench_src:%.c=build/%) build/bench/cpu
bench_inside := $(bench_src:%.c=build/%.wasm) build/bench/cpu.wasm
build/bench/%: bench/%.c
	@mkdir -p $(@D) && echo "  cc $< (native)"
	$Q$(CC) -O2 -D_GNU_SOURCE -MMD -MP $< -o $@ -lm
build/bench/%.wasm: bench/%.c build/guest-flags | $(SYSROOT_LIB)
	$(compile_guest)

cpu_src := $(wildcard bench/cpu/*.c)
cpu_inputs := $(cpu_src) $(wildcard bench/cpu/*.h bench/cpu/*.def) bench/bench.h
build/bench/cpu: $(cpu_inputs)
	@mkdir -p $(@D) && echo "  cc $@ (native)"
	$Q$(CC) -O2 -D_GNU_SOURCE $(cpu_src) -o $@ -lm
build/bench/cpu.wasm: $(cpu_inputs) build/guest-flags | $(SYSROOT_LIB)
	@mkdir -p $(@D) && echo "  wcc $@"
	$Qguest/bin/wcc -O2 -D_GNU_SOURCE $(cpu_src) -o $@.raw
	$Qguest/bin/wopt plain $@.raw $@
	@rm $@.raw

bench_engine_src := $(BASE) $(ENGINE_SRC) $(wildcard bench/engine/*.c) \
  tests/engine/fake_kernel.c
build/bench/engine: $(bench_engine_src:%.c=build/obj/%.o) $(ENGINE_LIB)
	@mkdir -p $(@D) && echo "  link $@"
	$Q$(link) $^ $(LDLIBS) -o $@
bench_host_src := $(wildcard bench/host/*.c)
build/bench/host: $(bench_host_src:%.c=build/obj/%.o) build/libwasmsand.a \
  $(ENGINE_LIB)
	@mkdir -p $(@D) && echo "  link $@"
	$Q$(link) $^ $(LDLIBS) -o $@

bench_shell_src := $(wildcard bench/shell/*.c)
build/bench/shell: $(bench_shell_src:%.c=build/obj/%.o) build/libwasmsand.a \
  $(ENGINE_LIB)
	@mkdir -p $(@D) && echo "  link $@"
	$Q$(link) $^ $(LDLIBS) -o $@
bench_rpc_src := $(wildcard bench/rpc/*.c)
build/bench/rpc: $(bench_rpc_src) $(wildcard bench/rpc/*.h)
	@mkdir -p $(@D) && echo "  cc $@"
	$Q$(CC) -O2 $(CPPFLAGS) $(WARN) $(bench_rpc_src) -o $@
bench_store_src := $(wildcard bench/store/*.c)
build/bench/store: $(patsubst %.c,build/obj/%.o,$(bench_store_src) $(BASE) $(STORE))
	@mkdir -p $(@D) && echo "  link $@"
	$Q$(link) $^ $(STORE_LIBS) -o $@
build/bench/sessions: bench/sessions/main.c bench/rpc/peer.c bench/rpc/peer.h
	@mkdir -p $(@D) && echo "  cc $@"
	$Q$(CC) -O2 $(CPPFLAGS) $(WARN) $(filter %.c,$^) -o $@
bench-programs: all rootfs examples build/libexec/wasmsand-v86 build/bench/engine \
  build/bench/host build/bench/shell build/bench/rpc build/bench/store build/bench/sessions \
  $(bench_native) $(bench_inside)
bench: bench-programs ## measurements against native, into docs/bench.md
	@build/bench/engine
	@WASMSAND_V86_IMAGE=$(V86_IMAGE) bench/run
bench-peers: all rootfs build/bench/shell ## other sandboxed shells, from npm
	@bench/peers/run
.PHONY: bench bench-programs bench-peers
-include $(bench_native:=.d) $(bench_inside:.wasm=.d) \
  $(patsubst %.c,build/obj/%.d,$(bench_host_src) $(bench_engine_src) \
  $(bench_shell_src) $(bench_store_src))
