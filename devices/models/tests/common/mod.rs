//! A few lines of engine: enough to drive one device in a closed loop.

#![allow(dead_code)]

use raidlab_io::{ByteRange, Io, IoId, Ios, Op};
use raidlab_kernel::{Calendar, Nanos, Slab, Stream, Time};
use raidlab_models::{Device, DeviceParams, Port};

#[derive(Clone, Copy, Debug)]
enum Event {
    Wake(u32),
    Done(IoId),
}

/// The engine's side, without links.
pub struct Desk {
    calendar: Calendar<Event>,
    ios: Ios,
}

impl Port for Desk {
    fn now(&self) -> Time {
        self.calendar.now()
    }
    fn io(&mut self, io: IoId) -> &mut Io {
        &mut self.ios[io]
    }
    fn wake(&mut self, at: Time, token: u32) {
        self.calendar.push(at, Event::Wake(token));
    }
    fn done(&mut self, io: IoId, at: Time, lead: Nanos) {
        let record = &self.ios[io];
        assert_eq!(record.mark, at, "charged up to another time");
        assert_eq!(record.parts.total(), record.latency());
        assert!(at - record.issued >= lead);
        self.calendar.push(at, Event::Done(io));
    }
}

/// A device and the desk that drives it.
pub struct Rig {
    pub device: Device,
    pub desk: Desk,
}

impl Rig {
    pub fn new(params: &DeviceParams) -> Rig {
        Rig {
            device: Device::new(params, 1, "drive").unwrap_or_else(|faults| panic!("{faults:?}")),
            desk: Desk {
                calendar: Calendar::with_capacity(1024),
                ios: Slab::with_capacity(1024),
            },
        }
    }

    pub fn now(&self) -> Time {
        self.desk.calendar.now()
    }

    pub fn submit(&mut self, op: Op, offset: u64, bytes: u64) -> IoId {
        let id = self.desk.ios.claim();
        self.desk.ios[id] = Io::new(op, ByteRange::new(offset, bytes), self.desk.calendar.now());
        self.device.submit(&mut self.desk, id);
        id
    }

    /// Runs up to the next completion, if there is one; its record stays until the next call.
    pub fn next(&mut self) -> Option<Io> {
        self.next_with_id().map(|(_, io)| io)
    }

    /// Runs up to the next completion and gives its record, with the number that `submit` gave.
    pub fn next_with_id(&mut self) -> Option<(IoId, Io)> {
        while let Some((_, event)) = self.desk.calendar.pop() {
            match event {
                Event::Wake(token) => self.device.event(&mut self.desk, token),
                Event::Done(id) => {
                    self.desk.ios.release(id);
                    return Some((id, self.desk.ios[id].clone()));
                }
            }
        }
        None
    }

    /// Runs to completion and then lets time pass, events of the device included.
    pub fn pause(&mut self, until: Time) {
        while self
            .desk
            .calendar
            .next_time()
            .is_some_and(|next| next <= until)
        {
            match self.desk.calendar.pop() {
                Some((_, Event::Wake(token))) => self.device.event(&mut self.desk, token),
                other => panic!("a completion while nothing was asked for: {other:?}"),
            }
        }
        self.desk.calendar.advance_to(until);
    }

    /// One request from arrival to completion.
    pub fn serve(&mut self, op: Op, offset: u64, bytes: u64) -> Io {
        self.submit(op, offset, bytes);
        self.next().expect("the request completes")
    }

    /// `count` I/Os, `outstanding` at once; mean latency in ns, and I/Os a second.
    pub fn closed_loop(
        &mut self,
        outstanding: u32,
        count: u64,
        mut next: impl FnMut(&mut Stream) -> (Op, u64, u64),
    ) -> (f64, f64) {
        let mut draws = Stream::new(7, "rig", "load");
        for _ in 0..outstanding {
            let (op, offset, bytes) = next(&mut draws);
            self.submit(op, offset, bytes);
        }
        let start = self.now();
        let mut sum = 0;
        for _ in 0..count {
            let io = self.next().expect("a closed loop never ends");
            sum += (io.mark - io.issued).0;
            let (op, offset, bytes) = next(&mut draws);
            self.submit(op, offset, bytes);
        }
        let seconds = (self.now() - start).seconds();
        (sum as f64 / count as f64, count as f64 / seconds)
    }
}

/// A drive in the plan, from its JSON.
pub fn params(json: &str) -> DeviceParams {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}"))
}
