//! How tables name the kinds of I/O.

use crate::fields::op;
use raidlab_io::Op;

/// How a table names the kinds of I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpWords {
    /// By words.
    Names,
    /// 0 is a read, 1 a write.
    Digit,
    /// 1 is a read, 0 a write.
    IsRead,
    /// By words, or the operation code of a SCSI command.
    Scsi,
}

impl OpWords {
    pub(crate) fn op(self, text: &str) -> Result<Op, String> {
        match (self, text) {
            (OpWords::Digit, "0") => Ok(Op::Read),
            (OpWords::Digit, "1") => Ok(Op::Write),
            (OpWords::Digit, _) => Err("0 for a read or 1 for a write".into()),
            (OpWords::IsRead, "1") => Ok(Op::Read),
            (OpWords::IsRead, "0") => Ok(Op::Write),
            (OpWords::IsRead, _) => Err("1 for a read or 0 for a write".into()),
            (OpWords::Names, _) => op(text),
            (OpWords::Scsi, _) => op(text).or_else(|_| scsi(text)),
        }
    }

    /// True if a text names an operation.
    pub(crate) fn names(self, text: &str) -> bool {
        self.op(text).is_ok() || self == OpWords::Scsi && scsi_code(text).is_some()
    }
}

/// The kind of I/O of a SCSI operation code, decimal or with 0x (SBC-3, SPC-4).
fn scsi(text: &str) -> Result<Op, String> {
    match scsi_code(text) {
        Some(0x08 | 0x28 | 0xa8 | 0x88) => Ok(Op::Read),
        Some(0x0a | 0x2a | 0xaa | 0x8a) => Ok(Op::Write),
        Some(0x42) => Ok(Op::Trim),
        Some(0x35 | 0x91) => Ok(Op::Flush),
        _ => Err("read, write, or the operation code of one: 40 or 0x28, 42 or 0x2a".into()),
    }
}

/// An operation code, decimal or with 0x.
fn scsi_code(text: &str) -> Option<u8> {
    match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
