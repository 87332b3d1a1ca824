//! `raidlab-collect`: see `raidlab-collect --help` and `docs/collector.md`.

use std::process::ExitCode;

fn main() -> ExitCode {
    raidlab_collect::cli::main()
}
