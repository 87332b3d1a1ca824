//! Of jbod: where each drive begins, one behind the other.

/// Where a drive of a jbod begins.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Start {
    /// Bytes of the array before it.
    pub(super) bytes: u64,
    /// Stripes before it.
    pub(super) stripes: u64,
}

/// Drives one behind the other.
#[derive(Clone, Debug)]
pub(crate) struct Concatenated {
    starts: Vec<Start>,
    /// Behind the last drive.
    end: Start,
}

impl Concatenated {
    /// Drives of these capacities.
    ///
    /// Every drive begins with a unit: caches hold units of the array. The last one is used to its
    /// end.
    pub(super) fn new(unit: u64, capacities: &[u64]) -> Concatenated {
        let (mut starts, mut end) = (Vec::new(), Start::default());
        for (drive, &capacity) in capacities.iter().enumerate() {
            starts.push(end);
            let over = match drive + 1 == capacities.len() {
                true => 0,
                false => capacity % unit,
            };
            end.bytes = end.bytes.saturating_add(capacity - over);
            end.stripes += (capacity - over).div_ceil(unit);
        }
        Concatenated { starts, end }
    }

    /// Bytes and stripes of all drives.
    pub(super) fn end(&self) -> Start {
        self.end
    }

    /// Where a drive begins, if there is one of this number.
    pub(super) fn start(&self, drive: usize) -> Option<Start> {
        self.starts.get(drive).copied()
    }

    /// The drive of a byte of the array, and where that drive begins.
    pub(super) fn drive_at(&self, offset: u64) -> (usize, Start) {
        let drive = self.starts.partition_point(|start| start.bytes <= offset) - 1;
        (drive, self.starts[drive])
    }

    /// The drive of a stripe, and where that drive begins.
    pub(super) fn drive_of(&self, stripe: u64) -> (usize, Start) {
        let drive = self.starts.partition_point(|start| start.stripes <= stripe) - 1;
        (drive, self.starts[drive])
    }

    /// The array's offset behind a drive's last byte.
    pub(super) fn end_of(&self, drive: usize) -> u64 {
        self.start(drive + 1).unwrap_or(self.end).bytes
    }
}
