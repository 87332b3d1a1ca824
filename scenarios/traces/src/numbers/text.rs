//! Rows of text: words before the numbers, the last of them the name.

use super::{Run, Table, number};

/// The rows of whole lines: a name, perhaps text in front of it, and nothing but plain numbers
/// behind. Lines of another form, blank ones too, are runs of one line without columns.
#[must_use]
pub fn lines(block: &[u8]) -> Table {
    let mut table = Table::default();
    let mut at = 0;
    while let Some(length) = block[at..].iter().position(|&byte| byte == b'\n') {
        let to = at + length + 1;
        line(block, at, to, &mut table);
        at = to;
    }
    table.taken = at;
    table
}

fn line(block: &[u8], from: usize, to: usize, table: &mut Table) {
    let text = &block[from..to];
    let before = table.numbers.len();
    let Some((name, columns)) = row(text, &mut table.numbers) else {
        table.numbers.truncate(before);
        let (row, prefix) = (table.name.len(), (from, from));
        table.runs.push(Run {
            from,
            to,
            row,
            prefix,
            ..Run::default()
        });
        return;
    };
    let number = table.name(&text[name.0..name.1]);
    table.name.push(number);
    let prefix = &text[..name.0];
    if let Some(run) = table.runs.last_mut() {
        if run.columns == columns && &block[run.prefix.0..run.prefix.1] == prefix {
            run.to = to;
            run.rows += 1;
            return;
        }
    }
    table.runs.push(Run {
        from,
        to,
        columns,
        row: table.name.len() - 1,
        rows: 1,
        prefix: (from, from + name.0),
        keys: 0,
    });
}

/// Where the name of a row stands and how many numbers follow, which go to the list.
fn row(text: &[u8], numbers: &mut Vec<f64>) -> Option<((usize, usize), usize)> {
    let (mut at, mut name, mut columns) = (0, None, 0);
    loop {
        while matches!(text.get(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        match text.get(at) {
            None | Some(b'\n') => break,
            Some(b'\r') if text.get(at + 1) == Some(&b'\n') => break,
            Some(b'\r') => return None,
            Some(_) => {}
        }
        let ends = |byte: Option<&u8>| matches!(byte, None | Some(b' ' | b'\t' | b'\r' | b'\n'));
        match number(&text[at..], true) {
            Some((value, length)) if name.is_some() && ends(text.get(at + length)) => {
                numbers.push(value);
                columns += 1;
                at += length;
            }
            // A word behind numbers belongs to another form.
            _ if columns > 0 => return None,
            _ => {
                let from = at;
                while !ends(text.get(at)) {
                    at += 1;
                }
                name = Some((from, at));
            }
        }
    }
    name.filter(|_| columns > 0).map(|name| (name, columns))
}
