//! libaio. Structure layouts: `linux/aio_abi.h`.

use super::files::{gather, is_synced, leaves_times_out, on_array, scatter};
use super::time::nanos;
use crate::engine::Request;
use crate::threads::NEVER;
use crate::{baton, clock};
use libc::{c_int, c_long, c_void, iovec, timespec};
use raidlab_engine::io::Op;

/// A poll for completions that finds none takes about a system call's time, or fio would poll
/// for ever at one instant.
const POLL_NS: u64 = 200;

/// `struct iocb`
#[repr(C)]
pub struct ControlBlock {
    data: u64,
    key: u32,
    flags_rw: u32,
    opcode: u16,
    priority: i16,
    file: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_fd: u32,
}

/// The code of `fdatasync`.
const FDATASYNC: u16 = 3;

impl ControlBlock {
    fn op(&self) -> Option<Op> {
        match self.opcode {
            0 | 7 => Some(Op::Read),
            1 | 8 => Some(Op::Write),
            2 | FDATASYNC => Some(Op::Flush),
            _ => None,
        }
    }

    /// # Safety
    /// The block was handed in, with its buffers.
    unsafe fn with_buffers<R>(&self, what: impl FnOnce(&[iovec]) -> R) -> R {
        if matches!(self.opcode, 7 | 8) {
            let vector: *const iovec = std::ptr::with_exposed_provenance(self.buffer as usize);
            // SAFETY: `bytes` entries at `buffer`.
            return what(unsafe { std::slice::from_raw_parts(vector, self.bytes as usize) });
        }
        what(&[iovec {
            iov_base: std::ptr::with_exposed_provenance_mut(self.buffer as usize),
            iov_len: self.bytes as usize,
        }])
    }
}

/// `struct io_event`
#[repr(C)]
pub struct Event {
    data: u64,
    object: u64,
    result: i64,
    result2: i64,
}

/// Gives the calling thread a context: its place at the engine, counted from 1.
///
/// # Safety
/// `context` points to room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn io_queue_init(_events: c_int, context: *mut *mut c_void) -> c_int {
    let Some(place) = baton::place() else {
        return -libc::EAGAIN;
    };
    // SAFETY: the caller gives room for a pointer.
    unsafe { *context = std::ptr::without_provenance_mut(place as usize + 1) };
    0
}

fn place_of(context: *mut c_void) -> u32 {
    context.addr() as u32 - 1
}

/// As `io_queue_init`.
///
/// # Safety
/// As `io_queue_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn io_setup(events: c_int, context: *mut *mut c_void) -> c_int {
    // SAFETY: the same interface.
    unsafe { io_queue_init(events, context) }
}

/// The calling thread leaves its place.
#[unsafe(no_mangle)]
pub extern "C" fn io_destroy(_context: *mut c_void) -> c_int {
    baton::leave_place();
    0
}

/// As `io_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn io_queue_release(context: *mut c_void) -> c_int {
    io_destroy(context)
}

/// Nothing can be called back once it is submitted.
#[unsafe(no_mangle)]
pub extern "C" fn io_cancel(
    _context: *mut c_void,
    _block: *mut ControlBlock,
    _event: *mut Event,
) -> c_int {
    -libc::EINVAL
}

/// Submits to the engine at the present of the virtual clock.
///
/// # Safety
/// `blocks` points to `count` pointers to control blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn io_submit(
    context: *mut c_void,
    count: c_long,
    blocks: *mut *mut ControlBlock,
) -> c_int {
    for index in 0..count as usize {
        // SAFETY: the caller hands over this number of control blocks.
        let (address, block) = unsafe {
            let address = *blocks.add(index);
            (address, &*address)
        };
        let Some(op) = block.op() else {
            return if index > 0 {
                index as c_int
            } else {
                -libc::EINVAL
            };
        };
        // SAFETY: the block comes with its buffers.
        let (bytes, content) = unsafe {
            block.with_buffers(|buffers| {
                let wanted = buffers.iter().map(|buffer| buffer.iov_len as u64).sum();
                let bytes = on_array(block.offset as u64, wanted);
                let content = match op {
                    Op::Write => gather(buffers, bytes),
                    _ => Vec::new(),
                };
                (bytes, content)
            })
        };
        let flush = op == Op::Flush;
        let request = Request {
            op,
            offset: if flush { 0 } else { block.offset as u64 },
            bytes: if flush { 0 } else { bytes },
            block: address.expose_provenance(),
            data: block.data,
            alone: false,
            synced: op == Op::Write && is_synced(block.file as c_int),
            data_only: block.opcode == FDATASYNC || leaves_times_out(block.file as c_int),
            content,
        };
        if !flush && bytes == 0 {
            return if index > 0 {
                index as c_int
            } else {
                -libc::ENOSPC
            };
        }
        baton::submit(place_of(context), request);
    }
    count as c_int
}

/// Completions of a context; waits in virtual time.
///
/// # Safety
/// `events` points to room for `most` events; `timeout` is null or points to a `timespec`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn io_getevents(
    context: *mut c_void,
    least: c_long,
    most: c_long,
    events: *mut Event,
    timeout: *mut timespec,
) -> c_int {
    let now = clock::present();
    let wake = match (least, timeout.is_null()) {
        (..=0, _) => now + POLL_NS,
        (_, true) => NEVER,
        // SAFETY: the caller hands over a `timespec`.
        (_, false) => now.saturating_add(nanos(unsafe { &*timeout }).max(POLL_NS)),
    };
    // A poll waits for the first completion or the time of a poll.
    let wanted = least.max(1) as usize;
    let mut taken = 0;
    let most = most.max(0) as usize;
    baton::completions(place_of(context), wanted, most, wake, |completion| {
        let block: *const ControlBlock = std::ptr::with_exposed_provenance(completion.block);
        // SAFETY: the block was handed in, with buffers that stay until now; no more than `most`
        // completions are handed over.
        unsafe {
            if !completion.content.is_empty() {
                (*block).with_buffers(|buffers| scatter(&completion.content, buffers));
            }
            events.add(taken).write(Event {
                data: completion.data,
                object: completion.block as u64,
                result: completion.result,
                result2: 0,
            });
        }
        taken += 1;
    });
    taken as c_int
}
