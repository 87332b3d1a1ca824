//! Streams: commands that go on where an earlier one ended.
//!
//! A drive remembers a few tens of places where commands of a kind ended. A command that goes on
//! there finds its piece of the map cached. So does one in the piece where the last command ended,
//! as on one of two mirrors, which sees every other piece of a stream.
//!
//! For a stream of reads smaller than a page set the drive has two page sets in memory: the host
//! reads one while the other comes. So nothing is sensed or moved for the stream twice, and more
//! channels work for it than the few that hold what is outstanding.

use crate::ssd::buffer::read_buffer::ReadBuffer;

/// Places that are remembered. Assumed: drives follow some tens of streams.
const STREAMS: usize = 64;

/// Units of the piece of the map that a look-up brings into the core's cache: 4 KiB of entries of
/// four bytes. Assumed, as usual for maps of 4 KiB units.
const PIECE_UNITS: u64 = 1024;

/// The piece of the map that a command needs first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MapPiece {
    /// An earlier command has looked it up.
    Cached,
    /// It is looked up now.
    Uncached,
}

/// How a read follows earlier ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Follows {
    /// True if it goes on where the last read ended, and nothing else is in the drive.
    pub(crate) alone: bool,
    /// The stream that it goes on with, however many commands are in the drive.
    pub(crate) stream: Option<usize>,
}

impl Follows {
    /// A command of another kind.
    pub(crate) const NOTHING: Follows = Follows {
        alone: false,
        stream: None,
    };
}

/// What a command of a kind goes on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Met {
    pub(crate) piece: MapPiece,
    /// Where the stream that it goes on with is remembered, if it does.
    pub(crate) stream: Option<usize>,
}

/// Where the last commands of one kind ended.
#[derive(Debug)]
pub(crate) struct Streams {
    /// Bytes of a piece of the map's worth of data, as a power of two.
    piece_shift: u32,
    /// Bytes where commands ended, by a hash of the piece of the map before them: each piece has
    /// one place, which it may lose to another.
    ends: [u64; STREAMS],
    /// The piece in which the last command ended.
    last: u64,
    /// The pages of each stream that are in memory; empty for a drive without memory for them.
    pages: Vec<ReadBuffer>,
}

impl Streams {
    /// No stream yet. Each will have memory for `page_units`.
    pub(crate) fn new(unit_bytes: u32, page_units: u32) -> Streams {
        let buffers = if page_units > 0 { STREAMS } else { 0 };
        Streams {
            piece_shift: (PIECE_UNITS * u64::from(unit_bytes))
                .next_power_of_two()
                .ilog2(),
            ends: [u64::MAX; STREAMS],
            last: u64::MAX,
            pages: vec![ReadBuffer::new(u64::from(page_units)); buffers],
        }
    }

    /// Neighbouring pieces, and those at equal distances, have places of their own.
    #[inline]
    fn place(piece: u64) -> usize {
        (piece.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - STREAMS.ilog2())) as usize
    }

    /// Takes note of a command.
    #[inline]
    pub(crate) fn meet(&mut self, offset: u64, bytes: u64) -> Met {
        let near = offset >> self.piece_shift == self.last;
        self.last = (offset + bytes.max(1) - 1) >> self.piece_shift;
        let from = Streams::place(offset.saturating_sub(1) >> self.piece_shift);
        let to = Streams::place(self.last);
        let goes_on = self.ends[from] == offset;
        self.ends[to] = offset + bytes;
        if !self.pages.is_empty() && (from != to || !goes_on) {
            self.pages[to].clear();
        }
        Met {
            piece: if near || goes_on {
                MapPiece::Cached
            } else {
                MapPiece::Uncached
            },
            stream: goes_on.then_some(to),
        }
    }

    /// The pages of a stream that are in memory.
    #[inline]
    pub(crate) fn pages(&mut self, stream: usize) -> &mut ReadBuffer {
        &mut self.pages[stream]
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
                    piece: MapPiece::Uncached,
                    stream: None
                }
            );
        }
        // Across the end of a piece, too.
        for command in 1..100 {
            for &start in &starts {
                let met = streams.meet(start + command * 65536, 65536);
                assert!(
                    met.piece == MapPiece::Cached && met.stream.is_some(),
                    "{start} {command}"
                );
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
                piece: MapPiece::Cached,
                stream: None
            }
        );
        let far = streams.meet(4 * MIB, 4096);
        assert_eq!(
            far,
            Met {
                piece: MapPiece::Uncached,
                stream: None
            }
        );
        // Two mirrors share a stream of 64 KiB: this one gets every other command.
        let next = streams.meet(4 * MIB + 131_072, 65536);
        assert_eq!(next.piece, MapPiece::Cached);
    }
}
