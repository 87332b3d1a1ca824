//! Rows of JSON: flat objects of a text and plain numbers.

use super::{Run, Table, number};

/// The flat objects of a block that begin with the key `first`, whose value is the name, and whose
/// other values are plain numbers: `"disk_device": "sda", "r/s": 1.00, ...}`. Objects with nothing
/// but a comma between them are one run, from the first key to the brace of the last one. What
/// stands between runs is a run without columns.
///
/// An object is read only if the same key comes once more behind it: so what follows is whole.
///
/// # Errors
///
/// The place of an object of another form.
pub fn objects(block: &[u8], first: &[u8]) -> Result<Table, usize> {
    let mut table = Table::default();
    let mut marks = Marks {
        block,
        first,
        at: 0,
    };
    let Some(mut from) = marks.next() else {
        return Ok(table);
    };
    gap(&mut table, 0, from);
    for next in marks {
        let to = object(block, from, first.len(), &mut table).ok_or(from)?;
        if to > next {
            return Err(from);
        }
        let between = &block[to..next];
        let alike = between
            .iter()
            .all(|byte| matches!(byte, b',' | b'{') || byte.is_ascii_whitespace());
        if !alike || between.iter().filter(|&&byte| byte == b',').count() != 1 {
            gap(&mut table, to, next);
        }
        table.taken = next;
        from = next;
    }
    Ok(table)
}

fn gap(table: &mut Table, from: usize, to: usize) {
    let (row, prefix) = (table.name.len(), (from, from));
    table.runs.push(Run {
        from,
        to,
        row,
        prefix,
        ..Run::default()
    });
    table.taken = to;
}

/// Where a text stands, one after the other.
struct Marks<'a> {
    block: &'a [u8],
    first: &'a [u8],
    at: usize,
}

impl Iterator for Marks<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let rest = &self.block[self.at..];
        let mut from = 0;
        loop {
            // Keys begin with a quotation mark, which is rare enough to look for.
            from += rest[from..]
                .iter()
                .position(|&byte| byte == self.first[0])?;
            if rest[from..].starts_with(self.first) {
                let found = self.at + from;
                self.at = found + self.first.len();
                return Some(found);
            }
            from += 1;
        }
    }
}

struct Cursor<'a> {
    block: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn spaces(&mut self) {
        while self.block.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// A byte behind blanks.
    fn byte(&mut self) -> Option<u8> {
        self.spaces();
        self.at += 1;
        self.block.get(self.at - 1).copied()
    }

    fn colon(&mut self) -> Option<()> {
        (self.byte()? == b':').then_some(())
    }

    /// A text without escapes.
    fn text(&mut self) -> Option<&'a [u8]> {
        if self.byte()? != b'"' {
            return None;
        }
        let rest = &self.block[self.at..];
        let length = rest
            .iter()
            .position(|&byte| matches!(byte, b'"' | b'\\' | b'\n'))?;
        self.at += length + 1;
        (rest[length] == b'"').then_some(&rest[..length])
    }
}

/// Reads an object behind its first key; gives the first byte behind its brace.
fn object(block: &[u8], from: usize, key: usize, table: &mut Table) -> Option<usize> {
    let mut cursor = Cursor {
        block,
        at: from + key,
    };
    cursor.colon()?;
    let name = cursor.text()?;
    let known = table
        .runs
        .last()
        .filter(|run| run.columns > 0)
        .map_or(0, |run| run.keys);
    let mut alike = known < table.keys.len();
    let (mut columns, mut keys) = (0, Vec::new());
    let to = loop {
        match cursor.byte()? {
            b'}' => break cursor.at,
            b',' => {}
            _ => return None,
        }
        let text = cursor.text()?;
        if alike
            && table.keys[known]
                .get(columns)
                .is_none_or(|known| known.as_bytes() != text)
        {
            alike = false;
            keys.extend_from_slice(&table.keys[known][..columns]);
        }
        if !alike {
            let text = std::str::from_utf8(text).ok()?.to_owned();
            if keys.contains(&text) {
                return None;
            }
            keys.push(text);
        }
        cursor.colon()?;
        cursor.spaces();
        let (value, length) = number(&block[cursor.at..], false)?;
        cursor.at += length;
        table.numbers.push(value);
        columns += 1;
    };
    if columns == 0 {
        return None;
    }
    if alike && columns < table.keys[known].len() {
        alike = false;
        keys.extend_from_slice(&table.keys[known][..columns]);
    }
    let which = if alike {
        known
    } else if let Some(found) = table.keys.iter().position(|each| *each == keys) {
        found
    } else {
        table.keys.push(keys);
        table.keys.len() - 1
    };
    let number = table.name(name);
    table.name.push(number);
    match table.runs.last_mut() {
        Some(run) if run.columns == columns && run.keys == which => {
            run.to = to;
            run.rows += 1;
        }
        _ => table.runs.push(Run {
            from,
            to,
            columns,
            row: table.name.len() - 1,
            rows: 1,
            prefix: (from, from),
            keys: which,
        }),
    }
    Some(to)
}
