//! A say in the growth of guests. The C side is `src/engine/limiter.h`.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use wasmtime_c_api::wasmtime::{ResourceLimiter, Result};
use wasmtime_c_api::{WasmtimeStore, wasmtime_store_t};

// The C type is a `repr(C)` struct whose only field is the Rust type.
const _: () = assert!(size_of::<wasmtime_store_t>() == size_of::<WasmtimeStore>());

/// Owned by C, which keeps it longer than the store.
#[repr(C)]
#[allow(non_camel_case_types)]
pub struct wsand_engine_limiter {
    may_grow: extern "C" fn(*mut c_void, u64, u64) -> bool,
    env: *mut c_void,
    table_elements: usize,
}

// A store is used by one thread at a time, and its limiter with it.
unsafe impl Send for wsand_engine_limiter {}

impl ResourceLimiter for wsand_engine_limiter {
    fn memory_growing(&mut self, old: usize, new: usize, max: Option<usize>) -> Result<bool> {
        Ok(max.is_none_or(|max| new <= max) && (self.may_grow)(self.env, old as u64, new as u64))
    }

    fn table_growing(&mut self, _old: usize, new: usize, _max: Option<usize>) -> Result<bool> {
        Ok(new <= self.table_elements)
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn wsand_engine_store_limiter(
    store: &mut wasmtime_store_t,
    limiter: *mut wsand_engine_limiter,
) {
    let store: &mut WasmtimeStore = unsafe { &mut *std::ptr::from_mut(store).cast() };
    let limiter = AtomicPtr::new(limiter);
    store.limiter(move |_| unsafe { &mut *limiter.load(Relaxed) });
}
