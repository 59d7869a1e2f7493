//! Supervises one command of an application that does not supervise by itself.

fn main() {
    #[cfg(unix)]
    toolwright_toolbox::Supervisor::supervise_if_asked();
    eprintln!(
        "error: this program is started by `toolwright_toolbox::Supervisor`, not by a person"
    );
    std::process::exit(2);
}
