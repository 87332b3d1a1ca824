//! Systems whose requests a test makes itself.

use super::plan;
use raidlab_engine::DataReport;
use raidlab_engine::io::{ByteRange, Op};
use raidlab_engine::kernel::Time;
use raidlab_engine::plan::Action;
use raidlab_engine::{Outcome, Simulation};
use serde_json::Value;

/// Lost writes, stale reads, refused reads, corrupt stripes.
pub fn reported(data: &DataReport) -> (u64, u64, u64, u64) {
    (
        data.lost_writes,
        data.stale_reads,
        data.refused_reads,
        data.corrupt_stripes,
    )
}

/// A system whose requests a test makes itself.
pub struct Bench(pub Simulation);

impl Bench {
    pub fn new(value: &Value) -> Bench {
        Bench(Simulation::new(&plan(value)).expect("a plan"))
    }

    pub fn until(&mut self, us: u64) {
        while self.0.advance(Time(us * 1000)).is_some() {}
    }

    pub fn submit(&mut self, us: u64, op: Op, sector: u64, sectors: u64) {
        self.until(us);
        let mark = 0;
        self.0
            .submit(0, op, ByteRange::new(sector * 512, sectors * 512), mark)
            .expect("inside the array");
    }

    /// An I/O now: what is reported of it, and after how many microseconds.
    pub fn ask(&mut self, op: Op, sector: u64, sectors: u64) -> (Outcome, u64) {
        self.0
            .submit(0, op, ByteRange::new(sector * 512, sectors * 512), 0)
            .expect("inside the array");
        let reported = self.0.advance(Time::NEVER).expect("an answer");
        (
            reported.outcome,
            reported.at.since(reported.issued).0 / 1000,
        )
    }

    /// Something happens now.
    pub fn now(&mut self, action: Action) {
        self.0.act(action).expect("it can happen");
    }

    /// Goes on until the log has an entry that begins so; gives all of it.
    pub fn until_reported(&mut self, beginning: &str) -> String {
        for _ in 0..10_000 {
            let mut log = self.0.log().iter();
            if let Some(entry) = log.find(|entry| entry.what.starts_with(beginning)) {
                return entry.what.clone();
            }
            let next = self.0.next_time().expect("something to come");
            self.0.advance(next);
        }
        panic!("{beginning}: {:?}", self.0.log());
    }

    pub fn happens(&mut self, us: u64, action: Action) {
        self.until(us);
        self.0.act(action).expect("it can happen");
    }

    pub fn data(&mut self) -> DataReport {
        self.0.data().expect("data are followed")
    }
}
