//! Sequential streams of reads, and what to read before it is asked.

use raidlab_io::ByteRange;

/// Streams that a controller follows at once in an array.
const STREAMS: usize = 16;

#[derive(Clone, Copy, Debug, Default)]
struct StreamState {
    /// Where the next read of the stream would begin.
    next: u64,
    /// Up to where has been read ahead.
    ahead: u64,
    /// Bytes of its last read.
    bytes: u64,
    in_a_row: u32,
    used: u64,
}

/// The streams of an array.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streams {
    streams: [StreamState; STREAMS],
    clock: u64,
}

impl Streams {
    /// Notes a read; gives its stream's number and how many reads it has had in a row.
    pub fn note(&mut self, ByteRange { offset, bytes }: ByteRange) -> (usize, u32) {
        self.clock += 1;
        let found = self
            .streams
            .iter()
            .position(|s| s.in_a_row > 0 && s.next == offset);
        let at = found.unwrap_or_else(|| {
            let oldest = (0..STREAMS)
                .min_by_key(|&s| self.streams[s].used)
                .unwrap_or(0);
            self.streams[oldest] = StreamState::default();
            oldest
        });
        let stream = &mut self.streams[at];
        stream.next = offset + bytes;
        stream.bytes = bytes;
        stream.in_a_row += 1;
        stream.used = self.clock;
        (at, stream.in_a_row)
    }

    /// The next range to read ahead of a stream, if it is not far enough ahead yet. Larger reads
    /// have more read ahead, so that a read finds all of its data on their way and none twice.
    pub fn advance(&mut self, stream: usize, chunk: u64, limit: u64) -> Option<ByteRange> {
        let stream = &mut self.streams[stream];
        let chunk = stream.bytes.max(chunk).next_multiple_of(chunk);
        let from = stream.ahead.max(stream.next);
        if from >= stream.next + 2 * chunk || from >= limit {
            return None;
        }
        let end = (from / chunk + 1) * chunk;
        stream.ahead = end;
        Some(ByteRange::between(from, end.min(limit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raidlab_io::ByteRange;

    /// Reads of 64 KiB in a row: from the second on, chunks of 256 KiB up to two ahead.
    #[test]
    fn a_stream_is_read_ahead_by_chunks() {
        let kib = |n: u64| n << 10;
        let mut streams = Streams::default();
        assert_eq!(streams.note(ByteRange::new(kib(64), kib(64))).1, 1);
        let (stream, in_a_row) = streams.note(ByteRange::new(kib(128), kib(64)));
        assert_eq!(in_a_row, 2);
        let mut next = || streams.advance(stream, kib(256), kib(10_000));
        assert_eq!(next(), Some(ByteRange::new(kib(192), kib(64))));
        assert_eq!(next(), Some(ByteRange::new(kib(256), kib(256))));
        assert_eq!(next(), Some(ByteRange::new(kib(512), kib(256))));
        assert_eq!(next(), None);
        // A read elsewhere begins a stream of its own and leaves the first one alone.
        assert_eq!(streams.note(ByteRange::new(0, 512)).1, 1);
        assert_eq!(streams.note(ByteRange::new(kib(192), kib(64))), (stream, 3));
    }

    /// Chunks of 384 KiB, of which two are less than a read of 1 MiB: three at a time, so that the
    /// next two reads, from 2 to 4 MiB, are within what is read ahead.
    #[test]
    fn a_read_lies_within_what_was_read_ahead_of_it() {
        let kib = |n: u64| n << 10;
        let mut streams = Streams::default();
        streams.note(ByteRange::new(0, kib(1024)));
        let (stream, _) = streams.note(ByteRange::new(kib(1024), kib(1024)));
        let mut next = || streams.advance(stream, kib(384), kib(100_000));
        assert_eq!(next(), Some(ByteRange::new(kib(2048), kib(256))));
        assert_eq!(next(), Some(ByteRange::new(kib(2304), kib(1152))));
        assert_eq!(next(), Some(ByteRange::new(kib(3456), kib(1152))));
        assert_eq!(next(), None);
    }
}
