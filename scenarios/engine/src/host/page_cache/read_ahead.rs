//! How far a file is read ahead of its reader.
//!
//! A read that is not there and goes on where the last one ended opens a window, small for small
//! reads; the first page behind what was asked for is marked. When the reader comes to the mark,
//! the next window, twice or four times as large up to the limit, sets out while the rest of this
//! one is being read. Any other read brings its own pages alone.
//!
//! Source: Fengguang Wu, "On the design of a new Linux readahead framework" (2008), and Linux's
//! `mm/readahead.c` (`get_init_ra_size`, `get_next_ra_size`, `ondemand_readahead`).

/// Pages to bring in: from `start` on, `size` of them; the one at `mark` lets the next set out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) start: u32,
    pub(crate) size: u32,
    pub(crate) mark: Option<u32>,
}

/// One reader's position and window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadAhead {
    most: u32,
    /// The page after the last one that was read.
    expected: u32,
    start: u32,
    size: u32,
}

impl ReadAhead {
    /// A reader at the file's start, with a limit of `most` pages.
    pub(crate) fn new(most: u32) -> ReadAhead {
        ReadAhead {
            most,
            expected: 0,
            start: 0,
            size: 0,
        }
    }

    /// Page `page`, the first of `wanted` that the reader needs, is not there.
    pub(crate) fn missed(&mut self, page: u32, wanted: u32) -> Window {
        if page != self.expected || self.most == 0 {
            self.size = 0;
            return Window {
                start: page,
                size: wanted,
                mark: None,
            };
        }
        self.start = page;
        self.size = self.first_size(wanted);
        let mark = (self.size > wanted).then(|| page + wanted);
        Window {
            start: page,
            size: self.size.max(wanted),
            mark,
        }
    }

    /// The reader has come to the mark: the window behind the present one.
    pub(crate) fn reached_mark(&mut self) -> Window {
        self.start += self.size;
        self.size = if self.size < self.most / 16 {
            4 * self.size
        } else {
            (2 * self.size).min(self.most)
        };
        Window {
            start: self.start,
            size: self.size,
            mark: Some(self.start),
        }
    }

    /// The reader has read up to `end`.
    pub(crate) fn has_read(&mut self, end: u32) {
        self.expected = end;
    }

    fn first_size(&self, wanted: u32) -> u32 {
        let size = wanted.next_power_of_two();
        if size <= self.most / 32 {
            4 * size
        } else if size <= self.most / 4 {
            2 * size
        } else {
            self.most
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4 KiB reads with 128 KiB at most: 16, 32, 64, 128, 128 KiB, each mark at a window's start.
    #[test]
    fn windows_of_a_stream_grow_to_the_limit() {
        let mut stream = ReadAhead::new(32);
        let first = stream.missed(0, 1);
        assert_eq!((first.size, first.mark), (4, Some(1)));
        let windows: Vec<Window> = (0..4).map(|_| stream.reached_mark()).collect();
        let sizes: Vec<u32> = windows.iter().map(|window| window.size).collect();
        assert_eq!(sizes, [8, 16, 32, 32]);
        assert_eq!((windows[3].start, windows[3].mark), (60, Some(60)));
    }

    #[test]
    fn a_read_elsewhere_brings_its_own_pages_alone() {
        let mut stream = ReadAhead::new(32);
        stream.has_read(1);
        let alone = Window {
            start: 77,
            size: 2,
            mark: None,
        };
        assert_eq!(stream.missed(77, 2), alone);
    }
}
