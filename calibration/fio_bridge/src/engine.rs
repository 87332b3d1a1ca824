//! The engine as fio's threads see it: I/Os go in at the present, completions come out.

use crate::content::{Content, SECTOR};
use raidlab_engine::io::{ByteRange, Op};
use raidlab_engine::kernel::Time;
use raidlab_engine::{Outcome, Outside, Plan, ReadUnits, Simulation};
use serde::Serialize;
use std::collections::VecDeque;

/// Places from which I/Os come at once; each is a thread of the host's model.
pub const MAX_PLACES: u32 = 256;

/// An I/O handed to the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// The thread waits for this one alone: `Engine::ended` gives its end, not `completed`.
    pub alone: bool,
    /// A write that is durable when it is complete: with FUA, or when a flush behind it is done.
    pub synced: bool,
    /// Of a flush, or of the one behind a write: the file's times are left out (`fdatasync`).
    pub data_only: bool,
    /// What a write writes, where contents are followed.
    pub content: Vec<u8>,
}

/// A completed I/O.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// `Request::block`
    pub block: usize,
    /// `Request::data`
    pub data: u64,
    /// Bytes moved, or a negative error number.
    pub result: i64,
    /// What a read found, where contents are followed.
    pub content: Vec<u8>,
}

/// How an I/O that a thread waits for alone ended.
#[derive(Clone, Debug)]
pub struct End {
    /// As `Completion::result`.
    pub result: i64,
    /// As `Completion::content`.
    pub content: Vec<u8>,
    at: u64,
}

/// What a user should know of the SSDs, in a file.
#[derive(Debug, Serialize)]
pub struct Seen {
    /// What reads have asked of them.
    pub read: ReadUnits,
    /// Of the one that temperature has slowed down longest: seconds, highest degrees Celsius.
    pub throttled: Option<(f64, f64)>,
}

#[derive(Debug, Default)]
struct Place {
    taken: bool,
    completed: VecDeque<Completion>,
    /// Time of the last of `completed`.
    last_completion: u64,
    ended: Option<End>,
    in_flight: usize,
}

/// The simulated system and the places from which fio drives it.
pub struct Engine {
    simulation: Simulation,
    array: u32,
    /// The virtual clock when the engine's stood at zero; none before the first I/O.
    base: Option<u64>,
    places: Vec<Place>,
    requests: Vec<Request>,
    free: Vec<u32>,
    content: Option<Content>,
}

impl Engine {
    /// A system at rest; `content` if reads shall find what was written.
    ///
    /// # Errors
    /// The plan's faults, in words.
    pub fn new(mut plan: Plan, array: u32, content: bool) -> Result<Engine, String> {
        plan.workloads.clear();
        plan.outside_threads = MAX_PLACES;
        let mut simulation = Simulation::new(&plan).map_err(|faults| {
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            faults.join("; ")
        })?;
        if simulation.capacity(array).is_none() {
            return Err(format!("array {array}: there is no such array"));
        }
        let content = if content {
            simulation.follow_content()?;
            Some(Content::new().map_err(|error| format!("a file for what is written: {error}"))?)
        } else {
            None
        };
        Ok(Engine {
            simulation,
            array,
            base: None,
            places: Vec::new(),
            requests: Vec::new(),
            free: Vec::new(),
            content,
        })
    }

    /// What a user should know of the system's SSDs once fio ends.
    pub fn seen(&self) -> Seen {
        Seen {
            read: self.simulation.read_units(),
            throttled: self.simulation.throttled(),
        }
    }

    /// A place for a caller; none if all are taken.
    pub fn take_place(&mut self) -> Option<u32> {
        let free = |place: &Place| !place.taken && place.in_flight == 0;
        let index = match self.places.iter().position(free) {
            Some(index) => index,
            None if self.places.len() < MAX_PLACES as usize => {
                self.places.push(Place::default());
                self.places.len() - 1
            }
            None => return None,
        };
        self.places[index] = Place {
            taken: true,
            ..Place::default()
        };
        Some(index as u32)
    }

    /// A caller leaves its place; completions of its I/Os are dropped.
    pub fn leave(&mut self, place: u32) {
        let place = &mut self.places[place as usize];
        place.taken = false;
        place.completed.clear();
    }

    /// Completions that the caller may take.
    pub fn completed(&mut self, place: u32) -> &mut VecDeque<Completion> {
        &mut self.places[place as usize].completed
    }

    /// I/Os of a place that the engine still has.
    pub fn in_flight(&self, place: u32) -> usize {
        self.places[place as usize].in_flight
    }

    /// When `wanted` completions were there; none if they are not.
    pub fn completed_at(&self, place: u32, wanted: usize) -> Option<u64> {
        let place = &self.places[place as usize];
        (place.completed.len() >= wanted).then_some(place.last_completion)
    }

    /// When the I/O that was waited for alone ended; none if it has not.
    pub fn ended_at(&self, place: u32) -> Option<u64> {
        self.places[place as usize].ended.as_ref().map(|end| end.at)
    }

    /// How the I/O that was waited for alone ended.
    pub fn take_end(&mut self, place: u32) -> End {
        let end = self.places[place as usize].ended.take();
        end.unwrap_or(End {
            result: -i64::from(libc::EIO),
            content: Vec::new(),
            at: 0,
        })
    }

    /// True if nothing will happen unless an I/O comes.
    pub fn is_idle(&mut self) -> bool {
        self.simulation.next_time().is_none() && self.simulation.pending_outside().is_none()
    }

    /// Why the system cannot go on, if it cannot.
    pub fn failure(&self) -> Option<String> {
        self.simulation
            .system()
            .failure()
            .map(|fault| fault.to_string())
    }

    /// An I/O is handed in at `now`.
    pub fn submit(&mut self, place: u32, request: Request, now: u64) {
        self.base.get_or_insert(now);
        while self.advance(now) {}
        let tag = self.free.pop().unwrap_or_else(|| {
            self.requests.push(Request::default());
            (self.requests.len() - 1) as u32
        });
        // The engine charges the host thread `mark % MAX_PLACES`: each place has its own.
        let mark = tag * MAX_PLACES + place;
        self.places[place as usize].in_flight += 1;
        let Request {
            op,
            offset,
            bytes,
            data_only,
            ..
        } = request;
        let kept = match &mut self.content {
            Some(content) if op == Op::Write => content.submitted(mark, offset, &request.content),
            _ => Ok(()),
        };
        self.requests[tag as usize] = Request {
            content: Vec::new(),
            ..request
        };
        if op == Op::Trim && !self.simulation.takes_trim(self.array) {
            return self.complete(mark, -i64::from(libc::EOPNOTSUPP), now);
        }
        let accepted = match kept {
            Ok(()) if op == Op::Flush => {
                let flushed = self.simulation.sync(self.array, !data_only, mark);
                flushed.map(|_| ())
            }
            Ok(()) if op == Op::Write && self.requests[tag as usize].synced => {
                let range = ByteRange::new(offset, bytes);
                let done = self
                    .simulation
                    .submit_durable(self.array, range, !data_only, mark);
                self.requests[tag as usize].synced = done != Ok(true);
                done.map(|_| ())
            }
            Ok(()) => self
                .simulation
                .submit(self.array, op, ByteRange::new(offset, bytes), mark)
                .map(|_| ()),
            Err(error) => Err(format!("what is written cannot be kept: {error}")),
        };
        if let Err(fault) = accepted {
            self.refuse(mark, &fault, now);
        }
    }

    /// Goes on until something has come back, or until `limit`; true if something has.
    pub fn advance(&mut self, limit: u64) -> bool {
        let Some(base) = self.base else { return false };
        let limit = Time(limit.saturating_sub(base).min(u64::MAX - 1));
        let outside = self.simulation.advance(limit);
        if let Some(content) = &mut self.content {
            for (mark, number) in self.simulation.begun_writes() {
                content.begun(mark, number);
            }
        }
        outside.map(|outside| self.deliver(outside, base)).is_some()
    }

    fn deliver(&mut self, outside: Outside, base: u64) {
        let at = outside.at.0 + base;
        let mark = outside.owner;
        let request = &mut self.requests[(mark / MAX_PLACES) as usize];
        let done = outside.outcome == Outcome::Done;
        if done && std::mem::take(&mut request.synced) {
            let times = !request.data_only;
            if let Err(fault) = self.simulation.sync(self.array, times, mark) {
                self.refuse(mark, &fault, at);
            }
            return;
        }
        let result = request.bytes as i64;
        self.complete(mark, if done { result } else { -i64::from(libc::EIO) }, at);
    }

    fn refuse(&mut self, mark: u32, fault: &str, at: u64) {
        eprintln!("raidlab: {fault}");
        self.complete(mark, -i64::from(libc::EIO), at);
    }

    fn complete(&mut self, mark: u32, result: i64, at: u64) {
        let (tag, place) = (mark / MAX_PLACES, (mark % MAX_PLACES) as usize);
        let Request {
            block, data, alone, ..
        } = self.requests[tag as usize];
        let content = self.found(mark);
        self.free.push(tag);
        let place = &mut self.places[place];
        place.in_flight -= 1;
        if alone {
            place.ended = Some(End {
                result,
                content,
                at,
            });
        } else if place.taken {
            place.completed.push_back(Completion {
                block,
                data,
                result,
                content,
            });
            place.last_completion = at;
        }
    }

    /// What the read of a mark found.
    fn found(&mut self, mark: u32) -> Vec<u8> {
        let Some(content) = &self.content else {
            return Vec::new();
        };
        let Some(tokens) = self.simulation.tokens_read(mark) else {
            return Vec::new();
        };
        let offset = self.requests[(mark / MAX_PLACES) as usize].offset;
        content.read(offset, &tokens).unwrap_or_else(|error| {
            eprintln!("raidlab: what was written cannot be read: {error}");
            vec![0; tokens.len() * SECTOR as usize]
        })
    }
}
