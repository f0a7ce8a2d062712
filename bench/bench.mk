# Measurements: bench/x.c is built natively and for the sandbox; bench/run
# compares the two. bench/engine measures the engine over a fake kernel.
bench_src := $(wildcard bench/*.c)
bench_native := $(bench_src:%.c=build/%)
bench_inside := $(bench_src:%.c=build/%.wasm)
build/bench/%: bench/%.c
	@mkdir -p $(@D) && echo "  cc $< (native)"
	$Q$(CC) -O2 -D_GNU_SOURCE -MMD -MP $< -o $@ -lm
build/bench/%.wasm: bench/%.c build/guest-flags | $(SYSROOT_LIB)
	$(compile_guest)
bench_engine_src := $(BASE) $(wildcard src/engine/*.c bench/engine/*.c) \
  tests/engine/fake_kernel.c
build/bench/engine: $(bench_engine_src:%.c=build/obj/%.o) $(ENGINE_LIB)
	@mkdir -p $(@D) && echo "  link $@"
	$Q$(link) $^ $(LDLIBS) -o $@
bench: all build/bench/engine $(bench_native) $(bench_inside) ## measurements against native
	@build/bench/engine
	@bench/run $(B)/wasm-sandbox
.PHONY: bench
-include $(bench_native:=.d) $(bench_inside:.wasm=.d)
