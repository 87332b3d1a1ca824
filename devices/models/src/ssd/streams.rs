//! Streams: commands that go on where an earlier one ended.
//!
//! A drive remembers a few tens of places where commands of a kind ended. One that goes on there
//! finds its part of the map looked up, and so does one in the piece of the map where the last one
//! ended, as on one of two mirrors, which sees every other piece of a stream. For a stream of reads smaller than a
//! page set the drive has two page sets in memory: the host is given what it asks for of one while
//! the other comes. So nothing is sensed or moved for it twice, and more channels than the few that
//! hold what is outstanding work for it.

use super::read_buffer::ReadBuffer;

/// Places that are remembered. Assumed: drives follow some tens of streams.
const STREAMS: usize = 64;

/// Units of the piece of the map that a look-up brings near the core: 4 KiB of entries of four
/// bytes. Assumed, as usual for maps of 4 KiB units.
const PIECE_UNITS: u64 = 1024;

/// What a command of a kind follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Met {
    /// True if its piece of the map has been looked up.
    pub(super) looked_up: bool,
    /// Where the stream that it goes on with is remembered, if it does.
    pub(super) stream: Option<usize>,
}

/// Where the last commands of one kind ended.
#[derive(Debug)]
pub(super) struct Streams {
    /// Bytes of a piece of the map's worth of data, as a power of two.
    piece_shift: u32,
    /// Bytes where commands ended, by a hash of the piece of the map before them: each piece has
    /// one place, which it may lose to another.
    ends: [u64; STREAMS],
    /// The piece in which the last command ended.
    last: u64,
    /// What each stream has in memory; empty for a drive that keeps no pages.
    kept: Vec<ReadBuffer>,
}

impl Streams {
    /// None yet. Each will have room for `kept_units`.
    pub(super) fn new(unit_bytes: u32, kept_units: u32) -> Streams {
        let buffers = if kept_units > 0 { STREAMS } else { 0 };
        Streams {
            piece_shift: (PIECE_UNITS * u64::from(unit_bytes))
                .next_power_of_two()
                .ilog2(),
            ends: [u64::MAX; STREAMS],
            last: u64::MAX,
            kept: vec![ReadBuffer::new(u64::from(kept_units)); buffers],
        }
    }

    /// Neighbouring pieces, and those at equal distances, have places of their own.
    #[inline]
    fn place(piece: u64) -> usize {
        (piece.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - STREAMS.ilog2())) as usize
    }

    /// Takes note of a command.
    #[inline]
    pub(super) fn meet(&mut self, offset: u64, bytes: u64) -> Met {
        let near = offset >> self.piece_shift == self.last;
        self.last = (offset + bytes.max(1) - 1) >> self.piece_shift;
        let from = Streams::place(offset.saturating_sub(1) >> self.piece_shift);
        let to = Streams::place(self.last);
        let goes_on = self.ends[from] == offset;
        self.ends[to] = offset + bytes;
        if !self.kept.is_empty() && (from != to || !goes_on) {
            self.kept[to].forget();
        }
        Met {
            looked_up: near || goes_on,
            stream: goes_on.then_some(to),
        }
    }

    /// What a stream has in memory.
    #[inline]
    pub(super) fn kept(&mut self, stream: usize) -> &mut ReadBuffer {
        &mut self.kept[stream]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// Pieces of 4 MiB.
    fn streams() -> Streams {
        Streams::new(4096, 0)
    }

    #[test]
    fn each_of_several_streams_goes_on_where_it_ended() {
        let mut streams = streams();
        let starts: Vec<u64> = (0..8).map(|n| n * 1000 * MIB).collect();
        for &start in &starts {
            let begins = streams.meet(start, 65536);
            assert_eq!(
                begins,
                Met {
                    looked_up: false,
                    stream: None
                }
            );
        }
        // Across the end of a piece, too.
        for command in 1..100 {
            for &start in &starts {
                let met = streams.meet(start + command * 65536, 65536);
                assert!(met.looked_up && met.stream.is_some(), "{start} {command}");
            }
        }
    }

    #[test]
    fn a_command_in_a_piece_that_was_looked_up_is_of_no_stream_unless_it_goes_on() {
        let mut streams = streams();
        streams.meet(0, 4096);
        let near = streams.meet(MIB, 4096);
        assert_eq!(
            near,
            Met {
                looked_up: true,
                stream: None
            }
        );
        let far = streams.meet(4 * MIB, 4096);
        assert_eq!(
            far,
            Met {
                looked_up: false,
                stream: None
            }
        );
        // Two mirrors share a stream of 64 KiB: this one gets every other command.
        assert!(streams.meet(4 * MIB + 131_072, 65536).looked_up);
    }
}
