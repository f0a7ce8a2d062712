//! wasmtime's C API, and the settings that it has in Rust but not in C.
//! The C side of these functions is `src/engine/shim.h`.

mod code;
mod limiter;

use std::mem::MaybeUninit;
use std::num::NonZeroUsize;

use wasmtime_c_api::wasmtime::{
    CodeBuilder, Collector, Config, Enabled, Engine, Inlining, PoolingAllocationConfig,
};
pub use wasmtime_c_api::*;

// These C types are `repr(C)` structs whose only field is the Rust type, and
// that field is private: a cast is the way in.
const _: () = assert!(size_of::<wasm_config_t>() == size_of::<Config>());
const _: () = assert!(
    size_of::<wasmtime_pooling_allocation_config_t>() == size_of::<PoolingAllocationConfig>()
);
const _: () = assert!(size_of::<wasm_engine_t>() == size_of::<Engine>());

fn rust_config(config: &mut wasm_config_t) -> &mut Config {
    unsafe { &mut *std::ptr::from_mut(config).cast() }
}

fn rust_pool(pool: &mut wasmtime_pooling_allocation_config_t) -> &mut PoolingAllocationConfig {
    unsafe { &mut *std::ptr::from_mut(pool).cast() }
}

#[unsafe(no_mangle)]
pub extern "C" fn wsand_engine_collector_copying(config: &mut wasm_config_t) {
    rust_config(config).collector(Collector::Copying);
}

#[unsafe(no_mangle)]
pub extern "C" fn wsand_engine_gc_heap_initial_size(config: &mut wasm_config_t, bytes: u64) {
    rust_config(config).gc_heap_initial_size(bytes);
}

#[unsafe(no_mangle)]
pub extern "C" fn wsand_engine_async_stack_zeroing(config: &mut wasm_config_t, on: bool) {
    rust_config(config).async_stack_zeroing(on);
}

#[unsafe(no_mangle)]
pub extern "C" fn wsand_engine_wasm_backtrace_max_frames(config: &mut wasm_config_t, n: usize) {
    rust_config(config).wasm_backtrace_max_frames(NonZeroUsize::new(n));
}

#[unsafe(no_mangle)]
pub extern "C" fn wsand_engine_table_lazy_init(config: &mut wasm_config_t, on: bool) {
    rust_config(config).table_lazy_init(on);
}

#[unsafe(no_mangle)]
pub extern "C" fn wsand_engine_inlining(config: &mut wasm_config_t, on: bool) {
    rust_config(config).compiler_inlining(if on { Inlining::Yes } else { Inlining::No });
}

#[unsafe(no_mangle)]
pub extern "C" fn wsand_engine_pagemap_scan(
    pool: &mut wasmtime_pooling_allocation_config_t,
    how: u8,
) {
    rust_pool(pool).pagemap_scan(match how {
        0 => Enabled::No,
        1 => Enabled::Auto,
        _ => Enabled::Yes,
    });
}

#[unsafe(no_mangle)]
pub extern "C" fn wsand_engine_last_stack(
    store: WasmtimeStoreContext<'_>,
    ret_top: &mut usize,
) -> usize {
    let stack = store.last_fiber_stack().unwrap_or(0..0);

    *ret_top = stack.end;
    stack.len()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wsand_engine_precompile(
    engine: &wasm_engine_t,
    wasm: *const u8,
    len: usize,
    ret: &mut MaybeUninit<wasm_byte_vec_t>,
) -> Option<Box<wasmtime_error_t>> {
    let engine: &Engine = unsafe { &*std::ptr::from_ref(engine).cast() };
    let wasm = unsafe { std::slice::from_raw_parts(wasm, len) };
    let mut builder = CodeBuilder::new(engine);
    let code = builder
        .wasm_binary(wasm, None)
        .and_then(|builder| builder.compile_module_serialized());

    match code {
        Ok(code) => {
            ret.write(code.into());
            None
        }
        Err(error) => Some(Box::new(error.into())),
    }
}
