//! Passes the arguments to the program and sets the exit code.

fn main() -> std::process::ExitCode {
    mailmill::app::run(mailmill::surfaces::cli::parse(mailmill::operations::OPERATIONS))
}
