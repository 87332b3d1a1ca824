//! Error correction of what comes from the dies: a decoder for each channel.
//!
//! A decoder works on data while they cross the bus, as syndromes need no whole codeword. Where it
//! is slower than the bus, data wait for it in the die's register, and the bus is free for other
//! dies meanwhile: so it bounds reads, those of collection too, and no programs.
//!
//! Source: Lee, Yoo, Kim and Park, "6.4 Gb/s multi-threaded BCH encoder and decoder for multi-channel
//! SSD controllers" (ISSCC 2012): controllers have several, as one is too slow for all channels.

use super::channel::Channel;
use crate::ssd::ids::ChannelId;
use raidlab_kernel::{Nanos, Table, Time};

/// The decoders.
#[derive(Debug)]
pub(super) struct Correction {
    /// Nanoseconds a byte, times 2^20.
    ns_per_byte: u64,
    /// By channel. A decoder takes what comes first, as its channel does.
    decoders: Table<ChannelId, Channel>,
}

impl Correction {
    /// Idle decoders of `channels` channels, of `bytes_per_s` each.
    pub(super) fn new(bytes_per_s: u64, channels: u32) -> Correction {
        Correction {
            ns_per_byte: (1_000_000_000 << 20) / bytes_per_s,
            decoders: vec![Channel::default(); channels as usize].into(),
        }
    }

    /// What a decoder takes for data.
    #[inline]
    pub(super) fn time(&self, bytes: u32) -> Nanos {
        Nanos((u64::from(bytes) * self.ns_per_byte) >> 20)
    }

    /// Data cross a channel's bus from `from` to `to`: when they are corrected.
    #[inline]
    pub(super) fn pass(&mut self, channel: ChannelId, bytes: u32, from: Time, to: Time) -> Time {
        let time = self.time(bytes);
        self.decoders[channel].book(from, time).end.max(to)
    }

    /// Work of all decoders up to `now`, and how many there are.
    pub(super) fn busy_until(&self, now: Time) -> (Nanos, usize) {
        let busy = self.decoders.iter().map(|it| it.busy_until(now));
        let all = busy.fold(Nanos::ZERO, |sum, busy| sum + busy);
        (all, self.decoders.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4096 bytes at 200 MB/s take 20.48 us, and 10.24 us on a bus twice as fast. Of three in a row
    /// from 1 us on the last one is corrected 61.44 us later, while the bus has been free for
    /// 30.72 us. Another channel's decoder is idle, and a fast one is done with the bus.
    #[test]
    fn a_slow_decoder_leaves_the_bus_to_others() {
        let mut slow = Correction::new(200_000_000, 2);
        let on_bus = |nth: u64| (Time(1_000 + nth * 10_240), Time(11_240 + nth * 10_240));
        let done: Vec<u64> = (0..3)
            .map(|nth| {
                slow.pass(ChannelId::new(0), 4096, on_bus(nth).0, on_bus(nth).1)
                    .0
            })
            .collect();
        assert_eq!(done, [21_480, 41_960, 62_440]);
        assert_eq!(
            slow.pass(ChannelId::new(1), 4096, Time(1_000), Time(11_240)),
            Time(21_480)
        );
        assert_eq!(slow.busy_until(Time(100_000)), (Nanos(4 * 20_480), 2));
        let mut fast = Correction::new(800_000_000, 1);
        assert_eq!(
            fast.pass(ChannelId::new(0), 4096, Time(1_000), Time(11_240)),
            Time(11_240)
        );
    }
}
