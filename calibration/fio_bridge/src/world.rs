//! fio's threads, the engine and the virtual time: who runs next, and when.
//!
//! When the running thread waits, the next one runs; if none can, the engine advances to the
//! earliest instant at which one can. So time advances only when every thread waits, and the same
//! jobs on the same system give the same results.

use crate::engine::Engine;
use crate::setup::Setup;
use crate::threads::{First, NEVER, Threads, Waits};

/// Polls in a row by threads that only look, after which nobody is expected to do anything.
const MOST_POLLS: u32 = 1000;

/// All that happens in fio.
pub struct World {
    /// fio's threads.
    pub threads: Threads,
    engine: Option<Engine>,
    polls: u32,
}

/// Why no thread can go on.
#[derive(Debug, PartialEq, Eq)]
pub struct Stuck(pub String);

impl World {
    /// The running main thread, no engine.
    pub fn new() -> World {
        let mut threads = Threads::default();
        let main = threads.add(0);
        threads.run(main);
        World {
            threads,
            engine: None,
            polls: 0,
        }
    }

    /// The engine; it is made when it is asked for first.
    ///
    /// # Errors
    /// What is wrong with the plan.
    pub fn engine(
        &mut self,
        setup: impl FnOnce() -> Result<Setup, String>,
    ) -> Result<&mut Engine, String> {
        if self.engine.is_none() {
            let setup = setup()?;
            self.engine = Some(Engine::new(setup.plan, setup.array, setup.content)?);
        }
        self.engine.as_mut().ok_or_else(String::new)
    }

    /// The engine, if an I/O was ever handed in.
    pub fn seen(&self) -> Option<&Engine> {
        self.engine.as_ref()
    }

    /// The engine, where one of its places is already taken.
    pub fn started(&mut self) -> &mut Engine {
        self.engine.as_mut().expect("a place was taken")
    }

    /// Lets the next thread run, at `now` or later. Returns it and the time.
    ///
    /// # Errors
    /// No thread can ever go on, and why.
    pub fn next(&mut self, now: u64) -> Result<(usize, u64), Stuck> {
        debug_assert!(!self.threads.someone_runs());
        loop {
            let over = |on| over(self.engine.as_ref(), on);
            let first = self.threads.first(over);
            let First {
                thread,
                time,
                polls,
            } = first.ok_or_else(|| Stuck("no thread is left".into()))?;
            if time > now && self.advance(time) {
                continue;
            }
            let idle = self.engine.as_mut().is_none_or(Engine::is_idle);
            let failure = self.engine.as_ref().and_then(Engine::failure);
            if time == NEVER && !idle && failure.is_none() {
                continue;
            }
            self.polls = if polls && (idle || failure.is_some()) {
                self.polls + 1
            } else {
                0
            };
            let over = |on| self::over(self.engine.as_ref(), on);
            let hopeless = self.polls > MOST_POLLS && !self.threads.anyone_has_plans(over);
            if time == NEVER || hopeless {
                let waits = "all threads of fio wait for each other";
                return Err(Stuck(failure.unwrap_or_else(|| waits.into())));
            }
            self.threads.run(thread);
            return Ok((thread, time.max(now)));
        }
    }

    /// Lets the engine go on until `limit`; true if something has come back.
    fn advance(&mut self, limit: u64) -> bool {
        self.engine
            .as_mut()
            .is_some_and(|engine| !engine.is_idle() && engine.advance(limit))
    }
}

/// When a wait for I/Os was over, if it is.
fn over(engine: Option<&Engine>, on: Waits) -> Option<u64> {
    match on {
        Waits::Completions { place, wanted } => engine?.completed_at(place, wanted),
        Waits::One { place } => engine?.ended_at(place),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Request;
    use raidlab_engine::io::Op;

    const SECOND: u64 = 1_000_000_000;

    /// `servers` of 500 us behind a host that takes no time.
    fn plan(servers: u32) -> serde_json::Value {
        serde_json::json!({
            "seed": 1, "warm_up_ns": 0, "duration_ns": 0,
            "host": {"submit_ns": 0, "complete_ns": 0, "raid_command_ns": 0},
            "links": [], "controllers": [],
            "devices": [{"kind": "station", "capacity_bytes": 1 << 30, "service_ns": 500_000,
                         "distribution": "fixed", "servers": servers}],
            "drives": [{"name": "d", "device": 0, "queue_depth": 0, "path": []}],
            "arrays": [{"name": "a", "level": "jbod", "stripe_unit_bytes": 65536, "drives": [0],
                        "controller": null, "software": false}],
            "workloads": [],
        })
    }

    /// A world in which the main thread runs and has a place.
    fn world_of(plan: serde_json::Value, content: bool) -> (World, u32) {
        let setup = serde_json::json!({
            "size_bytes": 1 << 30, "array": 0, "plan": plan, "content": content});
        let mut world = World::new();
        let engine = world.engine(|| Ok(serde_json::from_value(setup).unwrap()));
        let place = engine.unwrap().take_place().unwrap();
        (world, place)
    }

    fn world(servers: u32) -> (World, u32) {
        world_of(plan(servers), false)
    }

    fn read(block: usize) -> Request {
        Request {
            bytes: 4096,
            block,
            ..Request::default()
        }
    }

    fn completions(place: u32, wanted: usize) -> Waits {
        Waits::Completions { place, wanted }
    }

    fn taken(world: &mut World, place: u32) -> Vec<(usize, i64)> {
        let completed = world.started().completed(place).drain(..);
        completed.map(|done| (done.block, done.result)).collect()
    }

    #[test]
    fn time_moves_to_the_completion_when_all_wait() {
        let (mut world, place) = world(1);
        world.started().submit(place, read(7), SECOND);
        world.started().submit(place, read(8), SECOND);
        world.threads.wait(0, completions(place, 2), NEVER);
        // One server: the second read is done after two services.
        assert_eq!(world.next(SECOND + 20), Ok((0, SECOND + 1_000_000)));
        assert_eq!(taken(&mut world, place), [(7, 4096), (8, 4096)]);
        assert_eq!(world.started().in_flight(place), 0);
    }

    /// A clock that runs ahead to one thread's next event while another could still submit would
    /// serve four threads one after the other.
    #[test]
    fn four_threads_use_four_servers_at_once() {
        let (mut world, _) = world(4);
        for _ in 0..4 {
            world.threads.add(SECOND);
        }
        world.threads.wait(0, Waits::Key(9), NEVER);
        for thread in 1..=4 {
            assert_eq!(world.next(SECOND), Ok((thread, SECOND)));
            let place = world.started().take_place().unwrap();
            world.started().submit(place, read(thread), SECOND);
            world.threads.wait(thread, completions(place, 1), NEVER);
        }
        for thread in 1..=4 {
            assert_eq!(world.next(SECOND), Ok((thread, SECOND + 500_000)));
            world.threads.end(thread, SECOND + 500_000);
        }
        assert!(world.next(SECOND + 500_000).is_err());
    }

    #[test]
    fn a_sleeper_wakes_before_a_later_completion_and_an_outsized_request_fails() {
        let (mut world, place) = world(1);
        let sleeper = world.threads.add(SECOND);
        world.started().submit(place, read(1), SECOND);
        world.threads.wait(0, completions(place, 1), NEVER);
        assert_eq!(world.next(SECOND), Ok((sleeper, SECOND)));
        world.threads.wait(sleeper, Waits::Asleep, SECOND + 1000);
        assert_eq!(world.next(SECOND), Ok((sleeper, SECOND + 1000)));
        let beyond = Request {
            offset: 1 << 30,
            ..read(2)
        };
        let other = world.started().take_place().unwrap();
        world.started().submit(other, beyond, SECOND + 1000);
        assert_eq!(taken(&mut world, other), [(2, -i64::from(libc::EIO))]);
    }

    #[test]
    fn a_flush_is_waited_for_alone_and_leaves_other_completions_to_be_taken() {
        let (mut world, place) = world(1);
        world.started().submit(place, read(7), SECOND);
        let flush = Request {
            op: Op::Flush,
            alone: true,
            ..Request::default()
        };
        world.started().submit(place, flush, SECOND + 10);
        world.threads.wait(0, Waits::One { place }, NEVER);
        // One server: the flush is done after two services, the read before it.
        assert_eq!(world.next(SECOND + 10), Ok((0, SECOND + 1_000_000)));
        assert_eq!(world.started().take_end(place).result, 0);
        assert_eq!(taken(&mut world, place), [(7, 4096)]);
    }

    /// Two servers: both writes end together, then their flushes.
    #[test]
    fn a_synced_write_is_complete_when_a_flush_behind_it_is() {
        let (mut world, place) = world(2);
        for block in [7, 8] {
            let write = Request {
                op: Op::Write,
                synced: true,
                ..read(block)
            };
            world.started().submit(place, write, SECOND);
        }
        world.threads.wait(0, completions(place, 2), NEVER);
        assert_eq!(world.next(SECOND), Ok((0, SECOND + 1_000_000)));
        assert_eq!(taken(&mut world, place), [(7, 4096), (8, 4096)]);
    }

    fn with_power_failure() -> serde_json::Value {
        let mut plan = plan(1);
        plan["data"] = true.into();
        plan["events"] = serde_json::json!([
            {"at_ns": 200_000, "action": "power_fail", "off_ns": 1_000_000}]);
        plan
    }

    #[test]
    fn an_io_that_the_power_failure_cuts_off_fails() {
        let (mut world, place) = world_of(with_power_failure(), false);
        world.started().submit(place, read(7), SECOND);
        world.threads.wait(0, completions(place, 1), NEVER);
        assert_eq!(world.next(SECOND), Ok((0, SECOND + 200_000)));
        assert_eq!(taken(&mut world, place), [(7, -i64::from(libc::EIO))]);
    }

    #[test]
    fn a_read_finds_what_was_written_before_it() {
        let mut plan = plan(1);
        plan["data"] = true.into();
        let (mut world, place) = world_of(plan, true);
        for (value, offset) in [(1, 0), (2, 4096), (3, 4096)] {
            let write = Request {
                op: Op::Write,
                offset,
                content: vec![value; 4096],
                ..read(0)
            };
            world.started().submit(place, write, SECOND);
        }
        let both = Request {
            bytes: 8192,
            ..read(9)
        };
        world.started().submit(place, both, SECOND);
        world.threads.wait(0, completions(place, 4), NEVER);
        world.next(SECOND).unwrap();
        let found = world.started().completed(place).pop_back().unwrap();
        assert_eq!(found.content[..4096], [1; 4096]);
        assert_eq!(found.content[4096..], [3; 4096]);
    }

    #[test]
    fn threads_that_wait_for_each_other_are_found_though_one_polls_for_ever() {
        let (mut world, _) = world(1);
        let helper = world.threads.add(SECOND);
        let job = world.threads.add(SECOND);
        world.threads.wait(0, Waits::AnyEnd, 2 * SECOND);
        assert_eq!(world.next(SECOND), Ok((helper, SECOND)));
        world.threads.wait(helper, Waits::Pipe, SECOND + SECOND / 4);
        assert_eq!(world.next(SECOND), Ok((job, SECOND)));
        world.threads.wait(job, Waits::Key(5), NEVER);
        let mut now = SECOND;
        let stuck = loop {
            match world.next(now) {
                Ok((thread, time)) => {
                    now = time;
                    let on = [Waits::AnyEnd, Waits::Pipe][thread];
                    world.threads.wait(thread, on, now + SECOND);
                }
                Err(stuck) => break stuck,
            }
        };
        assert!(stuck.0.contains("wait for each other"));
        world.threads.release(5, 1, now);
        assert_eq!(world.next(now), Ok((job, now)));
        assert!(world.threads.was_woken(job));
    }

    #[test]
    fn the_end_of_a_thread_wakes_who_joins_it_and_who_looks_for_any() {
        let (mut world, _) = world(1);
        let (job, joiner) = (world.threads.add(SECOND), world.threads.add(SECOND));
        world.threads.name(job, 0xbeef);
        world.threads.wait(0, Waits::AnyEnd, 2 * SECOND);
        assert_eq!(world.next(SECOND), Ok((job, SECOND)));
        world.threads.wait(job, Waits::Asleep, SECOND + 7);
        assert_eq!(world.next(SECOND), Ok((joiner, SECOND)));
        assert_eq!(world.threads.alive(0xbeef), Some(job));
        world.threads.wait(joiner, Waits::Key(0xbeef), NEVER);
        assert_eq!(world.next(SECOND), Ok((job, SECOND + 7)));
        world.threads.end(job, SECOND + 7);
        assert_eq!(world.next(SECOND + 7), Ok((0, SECOND + 7)));
        world.threads.wait(0, Waits::Asleep, NEVER);
        assert_eq!(world.next(SECOND + 7), Ok((joiner, SECOND + 7)));
        assert_eq!(world.threads.alive(0xbeef), None);
    }
}
