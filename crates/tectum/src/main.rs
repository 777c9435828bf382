//! The command line: parse, run one command, end with its exit code.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run(std::env::args_os())
}
