//! The program as its callers start it. Cargo builds it together with the tests of the workspace.

use std::process::Command;

#[test]
fn a_kind_that_is_none_is_refused_with_how_to_call_it() {
    let done = Command::new(env!("CARGO_BIN_EXE_raidlab-fuzz"))
        .args(["zz", "1", "1", "/nowhere"])
        .output()
        .expect("the program starts");
    let text = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success());
    assert!(text.contains("plans"), "{text}");
}
