//! Streams that pass an SSD cache in the host by: what follows itself for long is read from the
//! array no slower, and would push out what is not.
//!
//! As bcache does it (`check_should_bypass` in drivers/md/bcache/request.c): the last 128 I/Os are
//! remembered with where each ended and how long its stream is; an I/O that begins where one ended
//! makes that stream longer. From the cutoff on the stream is passed by.

use raidlab_io::ByteRange;

/// Streams that are remembered, `RECENT_IO` of bcache.
const RECENT: usize = 128;

#[derive(Clone, Copy, Debug)]
struct Stream {
    /// Where its last I/O ended.
    end: u64,
    /// Bytes so far.
    bytes: u64,
}

/// The streams of an array's loads.
#[derive(Debug)]
pub(super) struct Sequential {
    cutoff: u64,
    /// The one that was longest not gone on with is replaced first.
    streams: Vec<Stream>,
}

impl Sequential {
    /// Streams of `cutoff` bytes and more are passed by; of 0 none are.
    pub(super) fn new(cutoff: u64) -> Sequential {
        Sequential {
            cutoff,
            streams: Vec::new(),
        }
    }

    /// An I/O begins; true if it belongs to a stream that is passed by.
    pub(super) fn meet(&mut self, range: ByteRange) -> bool {
        if self.cutoff == 0 {
            return false;
        }
        let found = |stream: &Stream| stream.end == range.offset;
        let before = match self.streams.iter().position(found) {
            Some(at) => self.streams.remove(at).bytes,
            None => 0,
        };
        if self.streams.len() == RECENT {
            self.streams.remove(0);
        }
        let (end, bytes) = (range.end(), before + range.bytes);
        self.streams.push(Stream { end, bytes });
        bytes >= self.cutoff
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cutoff 1 MiB, I/Os of 256 KiB: the fourth is the one that is passed by; I/Os elsewhere
    /// neither end the stream nor belong to it.
    #[test]
    fn a_stream_is_passed_by_from_its_cutoff_on() {
        let mut sequential = Sequential::new(1 << 20);
        let size = 256 << 10;
        let met: Vec<bool> = (0..6)
            .map(|nth| {
                assert!(!sequential.meet(ByteRange::new((100 + 2 * nth) << 30, 4096)));
                sequential.meet(ByteRange::new(nth * size, size))
            })
            .collect();
        assert_eq!(met, [false, false, false, true, true, true]);
    }

    #[test]
    fn a_stream_that_128_others_came_between_begins_anew() {
        let mut sequential = Sequential::new(8192);
        assert!(!sequential.meet(ByteRange::new(0, 4096)));
        (0..RECENT as u64)
            .for_each(|nth| assert!(!sequential.meet(ByteRange::new((1 + nth) << 30, 4096))));
        assert!(!sequential.meet(ByteRange::new(4096, 4096)));
        assert!(sequential.meet(ByteRange::new(8192, 4096)));
        assert!(!Sequential::new(0).meet(ByteRange::new(0, 1 << 40)));
    }
}
