//! The tools, one a file. Adding one is a new file and its line here.

mod complete_task;
mod list_files;
mod read_file;
mod run_command;
mod search_files;
mod write_file;
