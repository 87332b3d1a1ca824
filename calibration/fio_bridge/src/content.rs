//! What was written, by version: so that a read shows the version that the simulated system gives.
//!
//! The engine follows a token for each sector: it stands for one write's data of one sector. The
//! data themselves go to a file without a name, once a write.

use raidlab_engine::Token;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes that a token stands for.
pub const SECTOR: u64 = 512;

/// The data of a write.
#[derive(Clone, Copy, Debug)]
struct Version {
    /// The engine's number of the write.
    number: u64,
    /// Where its data begin in the file.
    place: u64,
    sectors: u64,
}

/// All versions of all sectors that were written.
#[derive(Debug)]
pub struct Content {
    file: File,
    bytes: u64,
    /// By the first sector of the write.
    versions: BTreeMap<u64, Vec<Version>>,
    /// Sectors of the longest write.
    longest: u64,
    /// Writes that the engine has not begun, by mark: the first sector, and a number to come.
    waiting: HashMap<u32, (u64, Version)>,
}

impl Content {
    /// Nothing was written yet.
    ///
    /// # Errors
    /// No file can be made in the folder for temporary files.
    pub fn new() -> io::Result<Content> {
        Ok(Content {
            file: tempfile::tempfile()?,
            bytes: 0,
            versions: BTreeMap::new(),
            longest: 0,
            waiting: HashMap::new(),
        })
    }

    /// A write of whole sectors from `offset` on is handed in.
    ///
    /// # Errors
    /// There is no room for its data.
    pub fn submitted(&mut self, mark: u32, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write_all_at(data, self.bytes)?;
        let version = Version {
            number: 0,
            place: self.bytes,
            sectors: data.len() as u64 / SECTOR,
        };
        self.waiting.insert(mark, (offset / SECTOR, version));
        self.bytes += data.len() as u64;
        Ok(())
    }

    /// The engine begins the write of a mark under a number of its own.
    pub fn begun(&mut self, mark: u32, number: u64) {
        if let Some((first, version)) = self.waiting.remove(&mark) {
            self.longest = self.longest.max(version.sectors);
            let here = self.versions.entry(first).or_default();
            here.push(Version { number, ..version });
        }
    }

    /// The data behind the tokens of the sectors from `offset` on; zeros where nothing was written.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&self, offset: u64, tokens: &[Token]) -> io::Result<Vec<u8>> {
        let mut data = vec![0; tokens.len() * SECTOR as usize];
        let sectors = data.chunks_mut(SECTOR as usize).zip(offset / SECTOR..);
        for (&token, (bytes, sector)) in tokens.iter().zip(sectors) {
            if let Some(place) = self.find(token, sector) {
                self.file.read_exact_at(bytes, place)?;
            }
        }
        Ok(data)
    }

    /// Where the data of a sector's token are in the file.
    fn find(&self, token: Token, sector: u64) -> Option<u64> {
        let nearest = (sector + 1).saturating_sub(self.longest)..=sector;
        self.versions.range(nearest).rev().find_map(|(first, all)| {
            let is_it = |version: &&Version| {
                sector - first < version.sectors && Token::written(version.number, sector) == token
            };
            let found = all.iter().rev().find(is_it)?;
            Some(found.place + (sector - first) * SECTOR)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_gives_the_data_of_its_write_whatever_was_written_later() {
        let mut content = Content::new().unwrap();
        content.submitted(5, 1024, &[1; 1024]).unwrap();
        content.begun(5, 77);
        content.submitted(5, 1536, &[2; 512]).unwrap();
        content.begun(5, 78);
        content.submitted(6, 1024, &[3; 1024]).unwrap();
        content.begun(6, 79);
        let written = Token::written;
        let firsts = |tokens: &[Token]| -> Vec<u8> {
            let data = content.read(1024, tokens).unwrap();
            data.iter().step_by(512).copied().collect()
        };
        assert_eq!(firsts(&[written(77, 2), written(78, 3)]), [1, 2]);
        assert_eq!(firsts(&[written(79, 2), written(77, 3)]), [3, 1]);
        assert_eq!(
            firsts(&[Token::UNWRITTEN, written(79, 3), written(77, 4)]),
            [0, 3, 0]
        );
    }
}
