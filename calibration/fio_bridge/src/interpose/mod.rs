//! The C functions that fio finds here before those of libaio and the C library.
//!
//! The only unsafe code: reading and writing structures at the addresses that fio hands over,
//! as the functions' C interfaces demand. Nothing here or below may use `std::time` or
//! `std::thread::sleep`, which would come back to these functions. Without a plan in the
//! environment every function does what the C library's does.

#![allow(unsafe_code)]

mod files;
mod libaio;
mod posix_aio;
mod threads;
mod time;

use crate::{baton, setup};
use libc::c_int;
use std::sync::OnceLock;

/// The C library's own function of a name, with the interface that is given.
macro_rules! real {
    ($name:ident: fn($($argument:ty),*) -> $result:ty) => {{
        static ADDRESS: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
        let name = concat!(stringify!($name), "\0");
        super::function::<unsafe extern "C" fn($($argument),*) -> $result>(name, &ADDRESS)
    }};
}

/// The function of a name, which ends with a zero, as what the caller says it is; looked up once.
fn function<F: Copy>(name: &str, address: &OnceLock<usize>) -> F {
    assert!(size_of::<F>() == size_of::<usize>());
    // SAFETY: a C string; the answer is the function's address or null.
    let look_up = || unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr().cast()) as usize };
    let address = *address.get_or_init(look_up);
    assert!(address != 0, "the C library has no {name}");
    // SAFETY: the caller vouches for the interface of the function of that name.
    unsafe { std::mem::transmute_copy(&address) }
}

use real;

/// Runs when the library is loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

extern "C" fn at_load() {
    match setup::begin() {
        Ok(true) => {}
        Ok(false) => return,
        Err(fault) => {
            eprintln!("raidlab: {fault}");
            // SAFETY: ends the process.
            unsafe { libc::_exit(2) };
        }
    }
    for variable in ["LD_PRELOAD", setup::VARIABLE] {
        // What fio starts, such as `exec_prerun`, is not simulated.
        // SAFETY: the process has one thread yet.
        unsafe { std::env::remove_var(variable) };
    }
    files::make_array();
    baton::begin();
    // SAFETY: a function without arguments, which stays.
    unsafe { libc::atexit(at_exit) };
}

extern "C" fn at_exit() {
    baton::report();
}

/// Sets the calling thread's error number and returns -1, as C functions do.
fn fail(error: c_int) -> c_int {
    // SAFETY: the address of this thread's own error number.
    unsafe { *libc::__errno_location() = error };
    -1
}
