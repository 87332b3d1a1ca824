//! What was written, by version: so that a read shows the version that the simulated system gives.
//!
//! The engine follows a token for each sector: it stands for one write's data of one sector. The
//! data themselves go to a file without a name, once a write; a token says where.

use raidlab_engine::version_of;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes that a token stands for.
pub const SECTOR: u64 = 512;

/// All versions of all sectors that were written.
#[derive(Debug)]
pub struct Content {
    file: File,
    bytes: u64,
    /// Where a token's data begin in the file.
    places: HashMap<u64, u64>,
    /// Writes that the engine has not begun: first byte of the array and place in the file, by mark.
    waiting: HashMap<u32, (u64, u64, u64)>,
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
            places: HashMap::new(),
            waiting: HashMap::new(),
        })
    }

    /// A write of whole sectors from `offset` on is handed in.
    ///
    /// # Errors
    /// There is no room for its data.
    pub fn submitted(&mut self, mark: u32, offset: u64, data: &[u8]) -> io::Result<()> {
        self.file.write_all_at(data, self.bytes)?;
        let range = (offset, self.bytes, data.len() as u64);
        self.waiting.insert(mark, range);
        self.bytes += data.len() as u64;
        Ok(())
    }

    /// The engine begins the write of a mark under a number of its own.
    pub fn begun(&mut self, mark: u32, number: u64) {
        let Some((offset, place, bytes)) = self.waiting.remove(&mark) else {
            return;
        };
        for at in (0..bytes / SECTOR).map(|nth| nth * SECTOR) {
            let token = version_of(number, (offset + at) / SECTOR);
            self.places.insert(token, place + at);
        }
    }

    /// The data behind tokens, a sector each; zeros where nothing was ever written.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&self, tokens: &[u64]) -> io::Result<Vec<u8>> {
        let mut data = vec![0; tokens.len() * SECTOR as usize];
        for (token, sector) in tokens.iter().zip(data.chunks_mut(SECTOR as usize)) {
            if let Some(&place) = self.places.get(token) {
                self.file.read_exact_at(sector, place)?;
            }
        }
        Ok(data)
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
        content.submitted(5, 1024, &[2; 512]).unwrap();
        content.begun(5, 78);
        let tokens = [version_of(78, 2), version_of(77, 2), version_of(77, 3), 0];
        let data = content.read(&tokens).unwrap();
        let firsts: Vec<u8> = data.iter().step_by(512).copied().collect();
        assert_eq!(firsts, [2, 1, 1, 0]);
    }
}
