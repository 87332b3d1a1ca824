//! Lets one of fio's real threads run at a time, as the world decides.

use crate::clock;
use crate::engine::{Completion, End, Engine, Request};
use crate::setup;
use crate::threads::{NEVER, Waits};
use crate::world::World;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::thread::Thread;

struct Stage {
    world: World,
    /// To wake the real threads, by their index.
    handles: Vec<Option<Thread>>,
}

static STAGE: LazyLock<Mutex<Stage>> = LazyLock::new(|| {
    Mutex::new(Stage {
        world: World::new(),
        handles: vec![None],
    })
});

/// Something was written to a pipe, perhaps by a signal handler, which may not take a lock.
static PIPE_WRITTEN: AtomicBool = AtomicBool::new(false);

/// Threads that wait for an address.
static KEYS_WAITED_FOR: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static THREAD: Cell<Option<usize>> = const { Cell::new(None) };
    static PLACE: Cell<Option<u32>> = const { Cell::new(None) };
}

fn lock() -> MutexGuard<'static, Stage> {
    STAGE.lock().expect("no holder panics")
}

/// This thread's index, if it is one of fio's.
pub fn thread() -> Option<usize> {
    THREAD.get()
}

/// Says why nothing can go on, and ends fio.
pub fn give_up(why: &str) -> ! {
    eprintln!("raidlab: {why}");
    std::process::exit(2);
}

/// Lets the next thread run, unless one runs.
fn hand_on(stage: &mut Stage) {
    if stage.world.threads.someone_runs() {
        return;
    }
    let now = clock::present();
    if PIPE_WRITTEN.swap(false, Ordering::Relaxed) {
        stage.world.threads.pipe_written(now);
    }
    match stage.world.next(now) {
        Ok((thread, time)) => {
            clock::advance_to(time);
            if let Some(handle) = &stage.handles[thread] {
                handle.unpark();
            }
        }
        Err(stuck) => give_up(&stuck.0),
    }
}

/// Returns when this thread runs.
fn until_chosen(mut stage: MutexGuard<'static, Stage>, me: usize) -> MutexGuard<'static, Stage> {
    hand_on(&mut stage);
    while !stage.world.threads.runs(me) {
        if stage.handles[me].is_none() {
            stage.handles[me] = Some(std::thread::current());
        }
        drop(stage);
        std::thread::park();
        stage = lock();
    }
    clock::acted();
    stage
}

/// The calling thread waits; true if it was woken, false if its time had come.
fn wait(on: Waits, wake: u64) -> bool {
    let Some(me) = thread() else { return false };
    let mut stage = lock();
    stage.world.threads.wait(me, on, wake);
    until_chosen(stage, me).world.threads.was_woken(me)
}

/// fio ends: what a user should know of the system's SSDs goes into the file that was named for it.
pub fn report() {
    let Some(path) = setup::report() else { return };
    // The thread that ends fio at once may hold the lock.
    let Ok(stage) = STAGE.try_lock() else { return };
    let Some(seen) = stage.world.seen().map(Engine::seen) else {
        return;
    };
    // Without the file nothing is said.
    let _ = serde_json::to_vec(&seen).map(|text| std::fs::write(path, text));
}

// -- threads -------------------------------------------------------------------------------------

/// The calling thread becomes fio's main thread.
pub fn begin() {
    THREAD.set(Some(0));
    drop(lock());
}

/// A thread is about to be made; its index.
pub fn create() -> usize {
    let mut stage = lock();
    stage.handles.push(None);
    stage.world.threads.add(clock::present())
}

/// The thread of an index could not be made.
pub fn abandon(thread: usize) {
    lock().world.threads.end(thread, clock::present());
}

/// The C library gave a thread this number.
pub fn name(thread: usize, id: usize) {
    lock().world.threads.name(thread, id);
}

/// The calling thread is that of an index; returns when it runs.
pub fn enter(thread: usize) {
    THREAD.set(Some(thread));
    drop(until_chosen(lock(), thread));
}

/// The calling thread ends.
pub fn leave() {
    leave_place();
    let Some(me) = THREAD.take() else { return };
    let mut stage = lock();
    stage.world.threads.end(me, clock::present());
    hand_on(&mut stage);
}

/// Waits until the thread of a number has ended.
pub fn join(id: usize) {
    while lock().world.threads.alive(id).is_some() {
        wait_for(id, NEVER);
    }
}

/// The calling thread sleeps.
pub fn sleep_until(wake: u64) {
    wait(Waits::Asleep, wake);
}

/// fio's main thread sleeps before it looks again for threads that ended: until one does, at most
/// for long; for short if it has just seen one, which may have been the last.
pub fn sleep_between_looks(short_ns: u64, long_ns: u64) {
    static SEEN: AtomicU64 = AtomicU64::new(0);
    let ends = lock().world.threads.ends();
    let nothing_new = SEEN.swap(ends, Ordering::Relaxed) == ends;
    let duration = if nothing_new { long_ns } else { short_ns };
    wait(Waits::AnyEnd, clock::present() + duration);
}

/// Waits for what is at an address; true if it was released, false if `wake` has come.
pub fn wait_for(key: usize, wake: u64) -> bool {
    KEYS_WAITED_FOR.fetch_add(1, Ordering::Relaxed);
    let woken = wait(Waits::Key(key), wake);
    KEYS_WAITED_FOR.fetch_sub(1, Ordering::Relaxed);
    woken
}

/// Up to `most` threads that wait for an address can go on.
pub fn release(key: usize, most: usize) {
    if KEYS_WAITED_FOR.load(Ordering::Relaxed) > 0 {
        let mut stage = lock();
        stage.world.threads.release(key, most, clock::present());
        if thread().is_none() {
            hand_on(&mut stage);
        }
    }
}

/// Waits until something may have been written to a pipe, or until `wake`.
pub fn poll_until(wake: u64) {
    wait(Waits::Pipe, wake);
}

/// Something was written to a file that may be a pipe. May be called by a signal handler.
pub fn written() {
    PIPE_WRITTEN.store(true, Ordering::Relaxed);
}

// -- I/O -----------------------------------------------------------------------------------------

/// The calling thread's own place at the engine; none if all are taken.
pub fn place() -> Option<u32> {
    if PLACE.get().is_none() {
        let mut stage = lock();
        match stage.world.engine(setup::take) {
            Ok(engine) => PLACE.set(engine.take_place()),
            Err(fault) => give_up(&fault),
        }
    }
    PLACE.get()
}

/// The calling thread leaves its place.
pub fn leave_place() {
    if let Some(place) = PLACE.take() {
        lock().world.started().leave(place);
    }
}

/// An I/O is handed in at a place.
pub fn submit(place: u32, request: Request) {
    clock::acted();
    clock::io_begins();
    let now = clock::present();
    lock().world.started().submit(place, request, now);
}

/// Takes the completions that are there, without any time taken by looking.
pub fn ready(place: u32, take: impl FnMut(Completion)) {
    let mut stage = lock();
    let engine = stage.world.started();
    while engine.advance(clock::present()) {}
    engine.completed(place).drain(..).for_each(take);
}

/// Waits for `least` completions at a place, at most until `wake`, and takes up to `most`.
pub fn completions(
    place: u32,
    least: usize,
    most: usize,
    wake: u64,
    mut take: impl FnMut(Completion),
) {
    clock::acted();
    let Some(me) = thread() else { return };
    let mut stage = lock();
    let engine = stage.world.started();
    let least = least.min(engine.completed(place).len() + engine.in_flight(place));
    if engine.completed(place).len() < least || wake <= clock::present() {
        let wanted = least;
        stage
            .world
            .threads
            .wait(me, Waits::Completions { place, wanted }, wake);
        stage = until_chosen(stage, me);
    }
    let completed = stage.world.started().completed(place);
    let count = most.min(completed.len());
    completed.drain(..count).for_each(&mut take);
}

/// Hands in an I/O from the calling thread's own place and waits for it alone.
pub fn io(request: Request) -> End {
    let Some((me, place)) = thread().zip(place()) else {
        give_up("more jobs at once than there are places for, which is 256");
    };
    let request = Request {
        alone: true,
        ..request
    };
    submit(place, request);
    let mut stage = lock();
    let threads = &mut stage.world.threads;
    threads.wait(me, Waits::One { place }, NEVER);
    until_chosen(stage, me).world.started().take_end(place)
}
