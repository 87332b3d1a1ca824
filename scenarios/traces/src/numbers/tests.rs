use super::{lines, number, objects};

#[test]
fn numbers_are_those_of_the_standard_library() {
    for text in [
        "0.00",
        "12",
        "123.45",
        "-1.5",
        "999999999999.999",
        "0.1",
        "3.14159",
    ] {
        let (value, length) = number(text.as_bytes(), false).unwrap();
        assert_eq!((value, length), (text.parse().unwrap(), text.len()));
    }
    assert_eq!(number(b"1,25", true), Some((1.25, 4)));
    assert_eq!(number(b"1,25", false), Some((1.0, 1)));
    for text in ["", "-", ".5", "5.", "nan", "1234567890123456"] {
        assert_eq!(number(text.as_bytes(), true), None, "{text}");
    }
}

#[test]
fn rows_are_a_name_and_numbers() {
    let block = b"Device r/s w/s\nsda  1.00 2.5\nsdb 3 4,25\r\n\n10:00:01 sda 7\ncut 1";
    let table = lines(block);
    let runs: Vec<_> = table
        .runs
        .iter()
        .map(|run| (run.columns, run.row, run.rows))
        .collect();
    assert_eq!(runs, [(0, 0, 0), (2, 0, 2), (0, 2, 0), (1, 2, 1)]);
    assert_eq!(table.numbers, [1.0, 2.5, 3.0, 4.25, 7.0]);
    assert_eq!(table.names, [b"sda".to_vec(), b"sdb".to_vec()]);
    assert_eq!(table.name, [0, 1, 0]);
    let last = &table.runs[3];
    assert_eq!(&block[last.prefix.0..last.prefix.1], b"10:00:01 ");
    assert_eq!(&block[table.taken..], b"cut 1");
}

#[test]
fn what_is_no_row_is_left() {
    // A word behind numbers, one number alone, a unit, a return inside of the line.
    let table = lines(b"sda 1 2 x\n1\nsda 1k\nsda 1\rsdb 2\n");
    assert!(table.runs.iter().all(|run| run.columns == 0));
    assert!(table.numbers.is_empty());
}

#[test]
fn objects_of_one_report_are_one_run() {
    let block = br#"{"t": "x", "disk": [
        {"d": "sda", "r/s": 1.5, "w/s": 2},
        {"d": "sdb", "r/s": 3, "w/s": 4}]},
        {"disk": [{"d": "sda", "tps": 5}]}"#;
    let mut whole = block.to_vec();
    whole.extend_from_slice(b"\"d\"");
    let table = objects(&whole, b"\"d\"").unwrap();
    let runs: Vec<_> = table
        .runs
        .iter()
        .map(|run| (run.columns, run.rows, run.keys))
        .collect();
    assert_eq!(
        runs,
        [(0, 0, 0), (2, 2, 0), (0, 0, 0), (1, 1, 1), (0, 0, 0)]
    );
    assert_eq!(table.numbers, [1.5, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(table.keys, [vec!["r/s", "w/s"], vec!["tps"]]);
    let between = &table.runs[2];
    assert!(whole[between.from..between.to].starts_with(b"]},"));
    assert_eq!(table.taken, block.len());
    // Without a key behind it the last object may be cut.
    assert!(objects(block, b"\"d\"").unwrap().taken < block.len());
}

#[test]
fn objects_of_another_form_are_refused_by_place() {
    for text in [
        r#""d": "a", "x": "1"}"d""#,
        r#""d": "a", "x": 1, "x": 2}"d""#,
        r#""d": "a", "x": 1e5}"d""#,
    ] {
        assert_eq!(objects(text.as_bytes(), b"\"d\""), Err(0), "{text}");
    }
}
