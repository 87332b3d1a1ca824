//! A link: PCIe, a SAS wide port or a SATA cable, as a rate in each direction.
//!
//! A transfer of n bytes occupies its direction for n / rate. The receiver may pass data on after
//! the first frame (cut-through), so a chain of links is a pipeline, not a sum. Half-duplex links
//! (SATA) have one server for both directions, full-duplex ones (SAS, PCIe) one for each.
//! Where the rates come from (coding, lanes, practical share) is computed by the catalogue;
//! see docs/explanation/links.md.

use crate::Fault;
use raidlab_kernel::{Nanos, Served, Station, Time};
use schemars::JsonSchema;
use serde::Deserialize;

/// Where data move to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards the host: read data.
    Up,
    /// Towards the drive: write data.
    Down,
}

/// Whether both directions of a link share one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Duplex {
    /// One transfer at a time, in either direction.
    Half,
    /// Each direction has a server of its own.
    Full,
}

/// A link in the plan.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkParams {
    /// Unique in the plan, for reports.
    pub name: String,
    /// Practical rate in one direction, coding and protocol taken off; 0 is a link that
    /// takes no time.
    pub bytes_per_s: u64,
    /// True if both directions run at once.
    pub full_duplex: bool,
    /// Bytes that must have arrived before they can be passed on.
    pub frame_bytes: u64,
    /// Time that each read occupies the link besides its data: the frames and handshakes of a
    /// command on a port.
    #[serde(default)]
    pub read_command_ns: Nanos,
    /// Time that each write occupies the link besides its data.
    #[serde(default)]
    pub write_command_ns: Nanos,
    /// Delay between the end of a transfer here and its arrival, during which the link is free: the
    /// latency of an adapter between.
    #[serde(default)]
    pub latency_ns: Nanos,
}

impl LinkParams {
    fn duplex(&self) -> Duplex {
        if self.full_duplex {
            Duplex::Full
        } else {
            Duplex::Half
        }
    }
}

/// A link in a run.
#[derive(Debug)]
pub struct Link {
    /// Nanoseconds a byte, times 2^32.
    ns_per_byte: u64,
    frame: Nanos,
    duplex: Duplex,
    /// Up, down.
    command: [Nanos; 2],
    latency: Nanos,
    stations: [Station; 2],
}

impl Link {
    /// An idle link.
    ///
    /// # Errors
    /// Names every parameter that is out of its range.
    pub fn new(params: &LinkParams) -> Result<Link, Vec<Fault>> {
        if params.bytes_per_s != 0 && params.bytes_per_s < 1000 {
            return Err(vec![Fault::new(
                "bytes_per_s",
                params.bytes_per_s,
                "0 (takes no time) or at least 1000",
            )]);
        }
        let ns_per_byte = match params.bytes_per_s {
            0 => 0,
            rate => ((1_000_000_000_u128 << 32) / u128::from(rate)) as u64,
        };
        let mut link = Link {
            ns_per_byte,
            frame: Nanos::ZERO,
            duplex: params.duplex(),
            command: [params.read_command_ns, params.write_command_ns],
            latency: params.latency_ns,
            stations: Default::default(),
        };
        link.frame = link.duration(params.frame_bytes);
        Ok(link)
    }

    /// How long `bytes` occupy the link.
    #[inline]
    pub fn duration(&self, bytes: u64) -> Nanos {
        Nanos(((u128::from(bytes) * u128::from(self.ns_per_byte)) >> 32) as u64)
    }

    /// How long after its first byte a transfer can be passed on.
    #[inline]
    pub fn frame(&self, bytes: u64) -> Nanos {
        self.frame.min(self.duration(bytes))
    }

    /// Moves `bytes` that are ready from `ready` on and whose last byte is ready at `last`.
    ///
    /// The transfer occupies the link for its command and for `bytes / rate`. It ends no earlier
    /// than a frame after the last byte was ready.
    #[inline]
    pub fn transfer(
        &mut self,
        direction: Direction,
        bytes: u64,
        ready: Time,
        last: Time,
    ) -> Served {
        let lane = match self.duplex {
            Duplex::Full => direction as usize,
            Duplex::Half => 0,
        };
        let occupied = self.command[direction as usize] + self.duration(bytes);
        let served = self.stations[lane].serve(ready, occupied);
        Served {
            start: served.start,
            end: served.end.max(last + self.frame(bytes)) + self.latency,
        }
    }

    /// Time that the busier direction was occupied up to `now`.
    pub fn busy_until(&self, now: Time) -> Nanos {
        self.stations
            .iter()
            .map(|station| station.busy_until(now))
            .max()
            .unwrap_or(Nanos::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(duplex: Duplex) -> Link {
        Link::new(&LinkParams {
            name: "link".into(),
            bytes_per_s: 500_000_000, // 2 ns a byte
            full_duplex: duplex == Duplex::Full,
            frame_bytes: 1000,
            read_command_ns: Nanos::ZERO,
            write_command_ns: Nanos::ZERO,
            latency_ns: Nanos::ZERO,
        })
        .unwrap()
    }

    #[test]
    fn a_command_occupies_the_link_besides_its_data_and_passes_the_adapter() {
        let mut link = Link::new(&LinkParams {
            name: "port".into(),
            bytes_per_s: 500_000_000,
            full_duplex: false,
            frame_bytes: 1000,
            read_command_ns: Nanos(3000),
            write_command_ns: Nanos(4000),
            latency_ns: Nanos(500),
        })
        .unwrap();
        let read = link.transfer(Direction::Up, 4000, Time(0), Time(0));
        let write = link.transfer(Direction::Down, 4000, Time(0), Time(0));
        assert_eq!((read.end, write.end), (Time(11_500), Time(23_500)));
    }

    #[test]
    fn a_transfer_occupies_the_link_for_its_bytes() {
        let mut link = link(Duplex::Full);
        let first = link.transfer(Direction::Up, 4000, Time(0), Time(0));
        let second = link.transfer(Direction::Up, 4000, Time(0), Time(0));
        assert_eq!(
            (first.end, second.start, second.end),
            (Time(8000), Time(8000), Time(16000))
        );
    }

    #[test]
    fn half_duplex_shares_one_server_and_full_duplex_does_not() {
        for (duplex, expected) in [(Duplex::Full, 8000), (Duplex::Half, 16000)] {
            let mut link = link(duplex);
            link.transfer(Direction::Up, 4000, Time(0), Time(0));
            let write = link.transfer(Direction::Down, 4000, Time(0), Time(0));
            assert_eq!(write.end, Time(expected));
        }
    }

    #[test]
    fn slow_data_end_a_frame_after_their_last_byte() {
        let mut link = link(Duplex::Full);
        let served = link.transfer(Direction::Up, 4000, Time(0), Time(50_000));
        assert_eq!(served.end, Time(52_000));
        // The link itself was occupied for 8000 ns only.
        assert_eq!(link.busy_until(Time(60_000)), Nanos(8000));
    }
}
