//! Lets one of fio's real threads run at a time, as the world decides.

use crate::clock;
use crate::setup::Setup;
use crate::world::{Completion, Request, World};
use std::cell::Cell;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock};

/// How long, in real time, the first jobs of a group wait for the rest.
const PATIENCE_MS: u32 = 5000;

struct Stage {
    world: Mutex<World>,
    /// A job was chosen to run.
    chosen: Condvar,
}

static STAGE: OnceLock<Stage> = OnceLock::new();

thread_local! {
    static PLACE: Cell<Option<usize>> = const { Cell::new(None) };
}

fn stage() -> &'static Stage {
    STAGE.get_or_init(|| {
        let world = Setup::from_environment().and_then(|setup| {
            let setup = setup.ok_or("no plan is named")?;
            World::new(setup.plan, setup.array, setup.groups)
        });
        match world {
            Ok(world) => Stage {
                world: Mutex::new(world),
                chosen: Condvar::new(),
            },
            Err(fault) => {
                eprintln!("raidlab: {fault}");
                std::process::exit(2);
            }
        }
    })
}

fn lock() -> MutexGuard<'static, World> {
    stage().world.lock().expect("no holder panics")
}

fn place() -> usize {
    PLACE.get().expect("only jobs come here")
}

/// Lets the next job run, unless one runs.
fn hand_on(world: &mut World) {
    if world.someone_runs() {
        return;
    }
    if let Some((_, time)) = world.next(clock::present()) {
        clock::advance_to(time);
        stage().chosen.notify_all();
    }
}

/// Returns when this job runs.
fn until_chosen(mut world: MutexGuard<'static, World>) -> MutexGuard<'static, World> {
    hand_on(&mut world);
    while !world.runs(place()) {
        world = stage().chosen.wait(world).expect("no holder panics");
    }
    clock::acted();
    world
}

/// The calling thread becomes a job; returns when its group has joined and it runs.
/// `order` grows in the order in which fio created its threads; `pause` sleeps about a
/// millisecond of real time. False if there are too many jobs.
pub fn join(order: u64, pause: impl Fn()) -> bool {
    let mut world = lock();
    let Some(place) = world.join(order) else {
        return false;
    };
    PLACE.set(Some(place));
    clock::become_job();
    for _ in 0..PATIENCE_MS {
        if world.runs(place) || world.group_is_complete() || !world.joining(place) {
            break;
        }
        drop(world);
        pause();
        world = lock();
    }
    if world.joining(place) {
        let start = world.begin(clock::present());
        clock::advance_to(start);
    }
    drop(until_chosen(world));
    true
}

/// The calling job leaves.
pub fn leave() {
    let Some(place) = PLACE.take() else { return };
    clock::end_job();
    let mut world = lock();
    world.leave(place);
    hand_on(&mut world);
}

/// The calling job hands in an I/O.
pub fn submit(request: Request) {
    clock::acted();
    lock().submit(place(), request, clock::present());
}

/// The calling job waits for `least` completions, at most until `wake`, and takes up to `most`.
pub fn completions(least: usize, most: usize, wake: u64, mut take: impl FnMut(Completion)) {
    clock::acted();
    let mut world = lock();
    let place = place();
    let least = least.min(world.completed(place).len() + world.in_flight(place));
    if world.completed(place).len() < least || wake <= clock::present() {
        world.wait(place, least, wake);
        world = until_chosen(world);
    }
    let count = most.min(world.completed(place).len());
    world.completed(place).drain(..count).for_each(&mut take);
}

/// The calling job waits until what was written is on stable media. Zero, or a negative error
/// number.
pub fn flush() -> i64 {
    clock::acted();
    let mut world = lock();
    world.flush(place(), clock::present());
    until_chosen(world).ended(place())
}

/// The calling job sleeps.
pub fn sleep_until(wake: u64) {
    let mut world = lock();
    world.wait(place(), usize::MAX, wake);
    drop(until_chosen(world));
}
