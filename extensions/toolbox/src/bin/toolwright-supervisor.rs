//! Supervises one command for an application that does not contain the supervisor itself.

fn main() {
    #[cfg(unix)]
    toolwright_toolbox::Supervisor::supervise_if_asked();
    eprintln!(
        "error: this program is started by `toolwright_toolbox::Supervisor`, not by a person"
    );
    std::process::exit(2);
}
