//! A say in how code becomes executable. The C side is `src/engine/shim.h`.

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use wasmtime_c_api::wasmtime::{CustomCodeMemory, Engine, Module, Result, bail};
use wasmtime_c_api::{wasm_config_t, wasm_engine_t, wasmtime_error_t, wasmtime_module_t};

use crate::rust_config;

// The C type is a `repr(C)` struct whose only field is the Rust type.
const _: () = assert!(size_of::<wasmtime_module_t>() == size_of::<Module>());

/// Copied; what it points to is C's, which keeps it longer than the engine.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(non_camel_case_types)]
pub struct wsand_engine_publisher {
    publish: extern "C" fn(*mut c_void, *const u8, usize) -> bool,
    env: *mut c_void,
    page: usize,
}

// C takes a lock where it changes what `env` points to.
unsafe impl Send for wsand_engine_publisher {}
unsafe impl Sync for wsand_engine_publisher {}

impl CustomCodeMemory for wsand_engine_publisher {
    fn required_alignment(&self) -> usize {
        self.page
    }

    fn publish_executable(&self, ptr: *const u8, len: usize) -> Result<()> {
        if !(self.publish)(self.env, ptr, len) {
            bail!("the code cannot be made executable");
        }
        Ok(())
    }

    fn unpublish_executable(&self, _ptr: *const u8, _len: usize) -> Result<()> {
        Ok(())
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn wsand_engine_code_publisher(
    config: &mut wasm_config_t,
    publisher: &wsand_engine_publisher,
) {
    rust_config(config).with_custom_code_memory(Some(Arc::new(*publisher)));
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wsand_engine_module_in_place(
    engine: &wasm_engine_t,
    code: *const u8,
    len: usize,
    ret: &mut *mut wasmtime_module_t,
) -> Option<Box<wasmtime_error_t>> {
    let engine: &Engine = unsafe { &*std::ptr::from_ref(engine).cast() };
    let code = unsafe { NonNull::new_unchecked(code.cast_mut()) };
    let code = NonNull::slice_from_raw_parts(code, len);

    match unsafe { Module::deserialize_raw(engine, code) } {
        Ok(module) => {
            *ret = Box::into_raw(Box::new(module)).cast();
            None
        }
        Err(error) => Some(Box::new(error.into())),
    }
}
