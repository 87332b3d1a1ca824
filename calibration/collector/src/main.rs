//! `raidlab-collect`: see `raidlab-collect --help` and `docs/how-to/measure.md`.

use std::process::ExitCode;

fn main() -> ExitCode {
    raidlab_collect::cli::main()
}
