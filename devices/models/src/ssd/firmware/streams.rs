//! Streams: commands that go on where an earlier one ended.
//!
//! A drive remembers a few tens of places where commands of a kind ended. A command that goes on
//! there finds its piece of the map cached. So does one in the piece where the last command ended,
//! as on one of two mirrors, which sees every other piece of a stream.
//!
//! For a stream of reads smaller than a page set the drive has three page sets in memory: the host
//! reads one while the next comes, and the last one stays for other readers. So nothing is sensed or
//! moved for the stream twice, and more channels work for it than the few that hold what is
//! outstanding. Data in memory are looked up by their address: several readers of one range share
//! what the first of them has brought. Readers that are further apart are streams of their own.

use crate::ssd::buffer::read_buffer::ReadBuffer;
use raidlab_io::ByteRange;

/// Groups of places, by a hash of the piece of the map.
const GROUPS: usize = 16;
/// Places of a group: up to this number, streams in one piece, or in pieces of one hash, do not
/// disturb each other.
const PLACES: usize = 4;
/// Places that are remembered. Assumed: drives follow some tens of streams.
const STREAMS: usize = GROUPS * PLACES;

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

/// Streams whose last commands ended in pieces of one hash.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// The bytes at which a command may go on: from here to `more` bytes later. A stream without data
    /// in memory goes on in one byte alone.
    from: [u64; PLACES],
    more: [u64; PLACES],
    /// True if a command went on there since `hand` last passed.
    used: [bool; PLACES],
    /// The place that the next stream may get, if it was not used: the clock algorithm.
    hand: usize,
}

impl Group {
    const EMPTY: Group = Group {
        from: [u64::MAX; PLACES],
        more: [0; PLACES],
        used: [false; PLACES],
        hand: 0,
    };

    /// The place of a stream that may go on at a byte.
    #[inline]
    fn find(&self, byte: u64) -> Option<usize> {
        (0..PLACES).find(|&place| byte.wrapping_sub(self.from[place]) <= self.more[place])
    }

    /// A stream goes on at `end`, or where it did if that is behind it.
    #[inline]
    fn advance(&mut self, place: usize, end: u64) {
        self.used[place] = true;
        if end.wrapping_sub(self.from[place]) > self.more[place] {
            (self.from[place], self.more[place]) = (end, 0);
        }
    }

    /// A stream begins that goes on at `end`; gives its place.
    #[inline]
    fn begin(&mut self, end: u64) -> usize {
        while self.used[self.hand] {
            self.used[self.hand] = false;
            self.hand = (self.hand + 1) % PLACES;
        }
        let place = self.hand;
        self.hand = (place + 1) % PLACES;
        (self.from[place], self.more[place]) = (end, 0);
        place
    }
}

/// Where the last commands of one kind ended.
#[derive(Debug)]
pub(crate) struct Streams {
    unit_bytes: u64,
    /// Bytes of a piece of the map's worth of data, as a power of two.
    piece_shift: u32,
    groups: [Group; GROUPS],
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
            unit_bytes: u64::from(unit_bytes),
            piece_shift: (PIECE_UNITS * u64::from(unit_bytes))
                .next_power_of_two()
                .ilog2(),
            groups: [Group::EMPTY; GROUPS],
            last: u64::MAX,
            pages: vec![ReadBuffer::new(u64::from(page_units)); buffers],
        }
    }

    /// Neighbouring pieces, and those at equal distances, are in groups of their own.
    #[inline]
    fn group(piece: u64) -> usize {
        (piece.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - GROUPS.ilog2())) as usize
    }

    /// Takes note of a command.
    #[inline]
    pub(crate) fn meet(&mut self, range: ByteRange) -> Met {
        let ByteRange { offset, bytes } = range;
        let near = offset >> self.piece_shift == self.last;
        let end = range.end();
        self.last = (offset + bytes.max(1) - 1) >> self.piece_shift;
        let from = Streams::group(offset.saturating_sub(1) >> self.piece_shift);
        let to = Streams::group(self.last);
        let met = self.groups[from].find(offset);
        let group = &mut self.groups[to];
        let known = match met {
            Some(_) if from == to => met,
            // Another reader may have gone on before. It was there last, or crosses into the piece.
            _ if near || met.is_some() => group.find(end),
            _ => None,
        };
        let place = match known {
            Some(place) => {
                group.advance(place, end);
                place
            }
            None => group.begin(end),
        };
        let stream = to * PLACES + place;
        if known.is_none() {
            if let Some(pages) = self.pages.get_mut(stream) {
                pages.clear();
            }
        }
        Met {
            piece: if near || met.is_some() {
                MapPiece::Cached
            } else {
                MapPiece::Uncached
            },
            stream: met.is_some().then_some(stream),
        }
    }

    /// The pages of a stream that are in memory.
    #[inline]
    pub(crate) fn pages(&mut self, stream: usize) -> &mut ReadBuffer {
        &mut self.pages[stream]
    }

    /// What of a stream is in memory has changed: a command that begins there is of that stream.
    #[inline]
    pub(crate) fn pages_changed(&mut self, stream: usize) {
        let (first, end) = self.pages[stream].range();
        let (group, place) = (&mut self.groups[stream / PLACES], stream % PLACES);
        group.from[place] = first * self.unit_bytes;
        group.more[place] = (end - first) * self.unit_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raidlab_kernel::Time;

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
            let begins = streams.meet(ByteRange::new(start, 65536));
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
                let met = streams.meet(ByteRange::new(start + command * 65536, 65536));
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
        streams.meet(ByteRange::new(0, 4096));
        let near = streams.meet(ByteRange::new(MIB, 4096));
        assert_eq!(
            near,
            Met {
                piece: MapPiece::Cached,
                stream: None
            }
        );
        let far = streams.meet(ByteRange::new(4 * MIB, 4096));
        assert_eq!(
            far,
            Met {
                piece: MapPiece::Uncached,
                stream: None
            }
        );
        // Two mirrors share a stream of 64 KiB: this one gets every other command.
        let next = streams.meet(ByteRange::new(4 * MIB + 131_072, 65536));
        assert_eq!(next.piece, MapPiece::Cached);
    }

    #[test]
    fn four_streams_in_one_piece_do_not_disturb_each_other() {
        let mut streams = streams();
        for command in 0..100u64 {
            for reader in 0..4 {
                let met = streams.meet(ByteRange::new(reader * MIB + command * 4096, 4096));
                assert_eq!(met.stream.is_some(), command > 0, "{reader} {command}");
            }
        }
    }

    #[test]
    fn a_reader_behind_another_goes_on_in_what_is_in_memory() {
        let mut streams = Streams::new(4096, 12);
        streams.meet(ByteRange::new(0, 4096));
        let first = streams.meet(ByteRange::new(4096, 4096)).stream.unwrap();
        (2..6).for_each(|unit| streams.pages(first).put(unit, Time(1)));
        streams.pages_changed(first);
        // Units 2 to 5 are in memory, and unit 6 is where the stream goes on.
        assert_eq!(
            streams.meet(ByteRange::new(2 * 4096, 4096)).stream,
            Some(first)
        );
        assert_eq!(
            streams.meet(ByteRange::new(6 * 4096, 4096)).stream,
            Some(first)
        );
        streams.pages_changed(first);
        assert_eq!(
            streams.meet(ByteRange::new(5 * 4096, 4096)).stream,
            Some(first)
        );
        assert_eq!(streams.meet(ByteRange::new(8 * 4096, 4096)).stream, None);
        // A reader that reaches the place of another one joins it from the next command on.
        assert_eq!(streams.meet(ByteRange::new(4096, 4096)).stream, None);
        assert_eq!(
            streams.meet(ByteRange::new(2 * 4096, 4096)).stream,
            Some(first)
        );
    }
}
