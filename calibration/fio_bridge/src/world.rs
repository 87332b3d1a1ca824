//! The engine, the job threads and the virtual time, as plain data: who runs next, and when.
//!
//! One job runs at a time. When it waits, for completions or until a time, the next job runs; if
//! none can, the engine advances to the earliest instant at which one can. So time advances only
//! when every job waits, and the same jobs on the same system give the same results.

use raidlab_engine::kernel::{Op, Time};
use raidlab_engine::{Outcome, Outside, Plan, Simulation};
use std::collections::VecDeque;

/// Jobs that may run at once; their host threads are made at the start.
pub const MAX_JOBS: u32 = 256;

const NEVER: u64 = u64::MAX;

/// An I/O handed to the engine, as libaio shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The operation.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// Address of the control block, handed back with the completion.
    pub block: usize,
    /// The caller's own data, handed back with the completion.
    pub data: u64,
    /// The job waits for this one alone: `World::ended` gives its end, not `completed`.
    pub alone: bool,
    /// A write that is complete when a flush behind it is.
    pub synced: bool,
}

/// A completed I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// `Request::block`
    pub block: usize,
    /// `Request::data`
    pub data: u64,
    /// Bytes moved, or a negative error number.
    pub result: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No thread has this place.
    Free,
    /// Waits for the rest of its group.
    Joining,
    /// This job runs.
    Running,
    /// Until so many completions are there, or until a time.
    Waiting { wanted: usize, wake: u64 },
    /// Until the I/O that it waits for alone has ended.
    WaitingForOne,
}

/// How an I/O that a job waits for alone ended.
#[derive(Clone, Copy, Debug)]
struct End {
    /// As `Completion::result`.
    result: i64,
    at: u64,
}

#[derive(Debug)]
struct Job {
    state: State,
    /// Jobs of one group were created in this order.
    order: u64,
    completed: VecDeque<Completion>,
    /// Time of the last of `completed`.
    last_completion: u64,
    ended: Option<End>,
    in_flight: usize,
}

/// The simulated system and its jobs.
pub struct World {
    simulation: Simulation,
    array: u32,
    /// The virtual clock when the engine's stood at zero; none before the first job.
    base: Option<u64>,
    jobs: Vec<Job>,
    groups: VecDeque<u32>,
    requests: Vec<Request>,
    free: Vec<u32>,
}

impl World {
    /// A system at rest.
    ///
    /// # Errors
    /// The plan's faults, in words.
    pub fn new(mut plan: Plan, array: u32, groups: Vec<u32>) -> Result<World, String> {
        plan.workloads.clear();
        plan.outside_threads = MAX_JOBS;
        let simulation = Simulation::new(&plan).map_err(|faults| {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            faults.join("; ")
        })?;
        if simulation.capacity(array).is_none() {
            return Err(format!("array {array}: there is no such array"));
        }
        Ok(World {
            simulation,
            array,
            base: None,
            jobs: Vec::new(),
            groups: groups.into(),
            requests: Vec::new(),
            free: Vec::new(),
        })
    }

    /// Adds a job; `order` distinguishes jobs of one group. Its place, or none if all are taken.
    pub fn join(&mut self, order: u64) -> Option<usize> {
        let job = Job {
            state: State::Joining,
            order,
            completed: VecDeque::new(),
            last_completion: 0,
            ended: None,
            in_flight: 0,
        };
        let free = self.jobs.iter().position(|job| job.state == State::Free);
        let place = free.unwrap_or(self.jobs.len());
        if place >= MAX_JOBS as usize {
            return None;
        }
        if place == self.jobs.len() {
            self.jobs.push(job);
        } else {
            self.jobs[place] = job;
        }
        Some(place)
    }

    /// True once all jobs of the present group have joined; also true if its size was not given.
    pub fn group_is_complete(&self) -> bool {
        let joined = self.in_state(State::Joining);
        self.groups
            .front()
            .is_none_or(|&size| joined >= size as usize)
    }

    fn in_state(&self, state: State) -> usize {
        self.jobs.iter().filter(|job| job.state == state).count()
    }

    /// Lets the jobs that have joined begin: at `now`, or at the next full second if there are no
    /// others, so that the time before has no effect. Returns the time.
    pub fn begin(&mut self, now: u64) -> u64 {
        self.groups.pop_front();
        let joining = self.in_state(State::Joining);
        let alone = joining + self.in_state(State::Free) == self.jobs.len();
        let start = if alone {
            now.next_multiple_of(1_000_000_000)
        } else {
            now
        };
        self.base.get_or_insert(start);
        self.renumber();
        for job in &mut self.jobs {
            if job.state == State::Joining {
                job.state = State::Waiting {
                    wanted: usize::MAX,
                    wake: start,
                };
            }
        }
        start
    }

    /// Jobs joined in the order in which their threads ran; a rank by `order` makes the schedule the
    /// same in every run.
    fn renumber(&mut self) {
        let mut orders: Vec<u64> = self.jobs.iter().map(|job| job.order).collect();
        orders.sort_unstable();
        for job in &mut self.jobs {
            if job.state == State::Joining {
                job.order = orders.partition_point(|&order| order < job.order) as u64;
            }
        }
    }

    /// A job leaves; completions of its I/Os are dropped.
    pub fn leave(&mut self, place: usize) {
        let job = &mut self.jobs[place];
        job.state = State::Free;
        job.completed.clear();
    }

    /// True if this job runs.
    pub fn runs(&self, place: usize) -> bool {
        self.jobs[place].state == State::Running
    }

    /// True while the job waits for the rest of its group.
    pub fn joining(&self, place: usize) -> bool {
        self.jobs[place].state == State::Joining
    }

    /// True if any job runs.
    pub fn someone_runs(&self) -> bool {
        self.jobs.iter().any(|job| job.state == State::Running)
    }

    /// Completions that the job may take now.
    pub fn completed(&mut self, place: usize) -> &mut VecDeque<Completion> {
        &mut self.jobs[place].completed
    }

    /// I/Os of the job that the engine still has.
    pub fn in_flight(&self, place: usize) -> usize {
        self.jobs[place].in_flight
    }

    /// The running job hands in an I/O at `now`.
    pub fn submit(&mut self, place: usize, request: Request, now: u64) {
        self.catch_up(now);
        let tag = self.free.pop().unwrap_or_else(|| {
            self.requests.push(Request::default());
            (self.requests.len() - 1) as u32
        });
        self.requests[tag as usize] = request;
        // The engine charges the host thread `mark % MAX_JOBS`: each job has its own.
        let mark = tag * MAX_JOBS + place as u32;
        let Request {
            op, offset, bytes, ..
        } = request;
        self.jobs[place].in_flight += 1;
        if let Err(fault) = self.simulation.submit(self.array, op, offset, bytes, mark) {
            self.refuse(mark, &fault, now);
        }
    }

    /// The running job waits until it has `wanted` completions, or until `wake`.
    pub fn wait(&mut self, place: usize, wanted: usize, wake: u64) {
        self.jobs[place].state = State::Waiting { wanted, wake };
    }

    /// The running job asks at `now` for what was written to be on stable media, and waits.
    pub fn flush(&mut self, place: usize, now: u64) {
        let request = Request {
            op: Op::Flush,
            alone: true,
            ..Request::default()
        };
        self.submit(place, request, now);
        self.jobs[place].state = State::WaitingForOne;
    }

    /// How the I/O that the job waited for alone ended: bytes moved, or a negative error number.
    pub fn ended(&mut self, place: usize) -> i64 {
        let end = self.jobs[place].ended.take();
        end.map_or(-i64::from(libc::EIO), |end| end.result)
    }

    /// Lets the next job run, at `now` or later. Returns its place and the time; none
    /// if no job waits.
    pub fn next(&mut self, now: u64) -> Option<(usize, u64)> {
        debug_assert!(!self.someone_runs());
        loop {
            let waiting = self.jobs.iter().enumerate().filter_map(|(place, job)| {
                let ready = match job.state {
                    State::Waiting { wanted, wake } if job.completed.len() >= wanted => {
                        job.last_completion.min(wake)
                    }
                    State::Waiting { wake, .. } => wake,
                    State::WaitingForOne => job.ended.map_or(NEVER, |end| end.at),
                    _ => return None,
                };
                Some((ready, job.order, place))
            });
            let (ready, _, place) = waiting.min()?;
            let base = self.base.expect("a job has begun");
            let idle = self.simulation.next_time().is_none()
                && self.simulation.pending_outside().is_none();
            if ready > now && !idle {
                // `ready` may be never; the engine ends at its last event.
                let limit = Time(ready.saturating_sub(base).min(NEVER - 1));
                if let Some(outside) = self.simulation.advance(limit) {
                    self.deliver(outside);
                    continue;
                }
                if ready == NEVER {
                    continue;
                }
            }
            self.jobs[place].state = State::Running;
            // A job that waits for more I/Os than it has would wait for ever, as with libaio.
            let time = if ready == NEVER { now } else { ready.max(now) };
            return Some((place, time));
        }
    }

    fn catch_up(&mut self, now: u64) {
        let base = self.base.expect("a job has begun");
        while let Some(outside) = self.simulation.advance(Time(now.saturating_sub(base))) {
            self.deliver(outside);
        }
    }

    fn deliver(&mut self, outside: Outside) {
        let at = outside.at.0 + self.base.expect("a job has begun");
        let mark = outside.owner;
        let request = &mut self.requests[(mark / MAX_JOBS) as usize];
        let done = outside.outcome == Outcome::Done;
        if done && std::mem::take(&mut request.synced) {
            if let Err(fault) = self.simulation.submit(self.array, Op::Flush, 0, 0, mark) {
                self.refuse(mark, &fault, at);
            }
            return;
        }
        let bytes = request.bytes as i64;
        self.complete(mark, if done { bytes } else { -i64::from(libc::EIO) }, at);
    }

    fn refuse(&mut self, mark: u32, fault: &str, at: u64) {
        eprintln!("raidlab: {fault}");
        self.complete(mark, -i64::from(libc::EIO), at);
    }

    fn complete(&mut self, mark: u32, result: i64, at: u64) {
        let (tag, place) = (mark / MAX_JOBS, (mark % MAX_JOBS) as usize);
        let Request {
            block, data, alone, ..
        } = self.requests[tag as usize];
        self.free.push(tag);
        let job = &mut self.jobs[place];
        job.in_flight -= 1;
        if alone {
            job.ended = Some(End { result, at });
        } else if job.state != State::Free {
            job.completed.push_back(Completion {
                block,
                data,
                result,
            });
            job.last_completion = at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// `servers` of 500 us behind a host that takes no time.
    fn world(servers: u32, groups: Vec<u32>) -> World {
        let plan = serde_json::from_value(plan(servers));
        World::new(plan.unwrap(), 0, groups).unwrap()
    }

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

    fn read(block: usize) -> Request {
        Request {
            bytes: 4096,
            block,
            ..Request::default()
        }
    }

    #[test]
    fn a_group_begins_together_at_a_full_second_in_the_order_of_its_threads() {
        let mut world = world(1, vec![2]);
        let late = world.join(77).unwrap();
        assert!(!world.group_is_complete());
        let early = world.join(33).unwrap();
        assert!(world.group_is_complete());
        assert_eq!(world.begin(5 * SECOND - 123), 5 * SECOND);
        assert_eq!(world.next(5 * SECOND), Some((early, 5 * SECOND)));
        world.wait(early, 1, 6 * SECOND);
        assert_eq!(world.next(5 * SECOND), Some((late, 5 * SECOND)));
    }

    #[test]
    fn time_moves_to_the_completion_when_all_wait() {
        let mut world = world(1, vec![]);
        let job = world.join(1).unwrap();
        let start = world.begin(0);
        world.next(start).unwrap();
        world.submit(job, read(7), start + 10);
        world.submit(job, read(8), start + 10);
        world.wait(job, 2, NEVER);
        // One server: the second read is done after two services.
        assert_eq!(world.next(start + 20), Some((job, start + 10 + 1_000_000)));
        let blocks: Vec<usize> = world
            .completed(job)
            .drain(..)
            .map(|done| done.block)
            .collect();
        assert_eq!(blocks, [7, 8]);
        assert_eq!(world.in_flight(job), 0);
    }

    /// A clock that runs ahead to one job's next event while another could still submit would
    /// serve four jobs one after the other.
    #[test]
    fn four_jobs_use_four_servers_at_once() {
        let mut world = world(4, vec![4]);
        let jobs: Vec<usize> = (0..4).map(|order| world.join(order).unwrap()).collect();
        let start = world.begin(0);
        for _ in &jobs {
            let (job, now) = world.next(start).unwrap();
            assert_eq!(now, start);
            world.submit(job, read(job), now);
            world.wait(job, 1, NEVER);
        }
        for job in jobs {
            assert_eq!(world.next(start), Some((job, start + 500_000)));
            world.leave(job);
        }
        assert_eq!(world.next(start + 500_000), None);
    }

    #[test]
    fn a_sleeper_wakes_before_a_later_completion_and_an_outsized_request_fails() {
        let mut world = world(1, vec![]);
        let (reader, sleeper) = (world.join(1).unwrap(), world.join(2).unwrap());
        let start = world.begin(0);
        assert_eq!(world.next(start), Some((reader, start)));
        world.submit(reader, read(1), start);
        world.wait(reader, 1, NEVER);
        assert_eq!(world.next(start), Some((sleeper, start)));
        world.wait(sleeper, usize::MAX, start + 1000);
        assert_eq!(world.next(start), Some((sleeper, start + 1000)));
        let beyond = Request {
            offset: 1 << 30,
            ..read(2)
        };
        world.submit(sleeper, beyond, start + 1000);
        let failed = world.completed(sleeper).pop_front().unwrap();
        assert_eq!(failed.result, -i64::from(libc::EIO));
    }

    #[test]
    fn a_flush_is_waited_for_alone_and_leaves_other_completions_to_be_taken() {
        let mut world = world(1, vec![]);
        let job = world.join(1).unwrap();
        let start = world.begin(0);
        world.next(start).unwrap();
        world.submit(job, read(7), start);
        world.flush(job, start + 10);
        // One server: the flush is done after two services, the read before it.
        assert_eq!(world.next(start + 10), Some((job, start + 1_000_000)));
        assert_eq!(world.ended(job), 0);
        assert_eq!(world.completed(job).len(), 1);
        assert_eq!(world.in_flight(job), 0);
    }

    /// Two servers: both writes end together, then their flushes.
    #[test]
    fn a_synced_write_is_complete_when_a_flush_behind_it_is() {
        let mut world = world(2, vec![]);
        let job = world.join(1).unwrap();
        let start = world.begin(0);
        world.next(start).unwrap();
        for block in [7, 8] {
            let write = Request {
                op: Op::Write,
                synced: true,
                ..read(block)
            };
            world.submit(job, write, start);
        }
        world.wait(job, 2, NEVER);
        assert_eq!(world.next(start), Some((job, start + 1_000_000)));
        let completed = world.completed(job).drain(..);
        let completed: Vec<_> = completed.map(|done| (done.block, done.result)).collect();
        assert_eq!(completed, [(7, 4096), (8, 4096)]);
        assert_eq!(world.in_flight(job), 0);
    }

    #[test]
    fn an_io_that_the_power_failure_cuts_off_fails() {
        let mut plan = plan(1);
        plan["data"] = true.into();
        plan["events"] = serde_json::json!([
            {"at_ns": 200_000, "action": "power_fail", "off_ns": 1_000_000}]);
        let mut world = World::new(serde_json::from_value(plan).unwrap(), 0, vec![]).unwrap();
        let job = world.join(1).unwrap();
        let start = world.begin(0);
        world.next(start).unwrap();
        world.submit(job, read(7), start);
        world.wait(job, 1, NEVER);
        assert_eq!(world.next(start), Some((job, start + 200_000)));
        let failed = world.completed(job).pop_front().unwrap();
        assert_eq!(failed.result, -i64::from(libc::EIO));
    }

    #[test]
    fn a_job_that_waits_for_nothing_is_not_left_waiting() {
        let mut world = world(1, vec![]);
        let job = world.join(1).unwrap();
        let start = world.begin(0);
        world.next(start).unwrap();
        world.wait(job, 1, NEVER);
        assert_eq!(world.next(start + 5), Some((job, start + 5)));
    }
}
