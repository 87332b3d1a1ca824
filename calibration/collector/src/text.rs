//! Text of others as text: nothing in it acts on a terminal or feigns a line.
//!
//! Names of plans and files, and what fio says, may hold control sequences or turn lines around.
//! Such characters are written out, as raidlab's Python part writes them.

use std::fmt::Write;

/// A text whose characters only show themselves; ends of lines stay.
pub fn printable_lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        if char == '\n' || !acts(char) {
            shown.push(char);
        } else if u32::from(char) < 0x100 {
            write!(shown, "\\x{:02x}", u32::from(char)).expect("writing to a string");
        } else {
            write!(shown, "\\u{:04x}", u32::from(char)).expect("writing to a string");
        }
    }
    shown
}

/// One message: lines after its first are indented, so that none looks like another message.
pub fn message(text: &str) -> String {
    printable_lines(text.trim_end()).replace('\n', "\n  ")
}

/// True for what a terminal obeys, and for what turns the direction of a line.
pub fn acts(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        )
        || matches!(char, '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_written_out() {
        assert_eq!(printable_lines("µs, 東京\n"), "µs, 東京\n");
        assert_eq!(
            printable_lines("a\x1b[31m\u{9b}\r\u{202e}"),
            "a\\x1b[31m\\x9b\\x0d\\u202e"
        );
        assert_eq!(
            message("first\nerror: feigned\n"),
            "first\n  error: feigned"
        );
    }
}
