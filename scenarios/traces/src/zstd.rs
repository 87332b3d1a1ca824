//! Zstandard, frame after frame: a file may hold several, and frames to be skipped.

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{BufRead, Error, Read, Result, copy, sink};

/// Decompresses all frames of `source`.
pub(crate) struct ZstdReader<R> {
    source: R,
    decoder: FrameDecoder,
    within: bool,
}

impl<R: BufRead> ZstdReader<R> {
    pub(crate) fn new(source: R) -> ZstdReader<R> {
        ZstdReader {
            source,
            decoder: FrameDecoder::new(),
            within: false,
        }
    }

    /// Begins the next frame that has content; false at the end of the file.
    fn begin(&mut self) -> Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let skipped = (&mut self.source).take(length.into());
                    copy(&mut { skipped }, &mut sink())?;
                }
                Err(error) => return Err(Error::other(error)),
            }
        }
        Ok(false)
    }

    fn end(&self) -> Result<()> {
        let stated = self.decoder.get_checksum_from_data();
        if stated.is_some() && stated != self.decoder.get_calculated_checksum() {
            return Err(Error::other("its checksum differs"));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        loop {
            if !self.within && !self.begin()? {
                return Ok(0);
            }
            self.within = true;
            while self.decoder.can_collect() < into.len() && !self.decoder.is_finished() {
                let wanted = BlockDecodingStrategy::UptoBytes(into.len());
                let decoded = self.decoder.decode_blocks(&mut self.source, wanted);
                decoded.map_err(Error::other)?;
            }
            let taken = self.decoder.read(into)?;
            if taken > 0 || into.is_empty() {
                return Ok(taken);
            }
            self.end()?;
            self.within = false;
        }
    }
}
