//! The tools of the crate as a command line.
toolwright::link!(first_hour);

fn main() -> std::process::ExitCode {
    toolwright::cli::main()
}
