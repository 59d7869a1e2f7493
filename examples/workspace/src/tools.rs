//! The tools, one in each file. A new tool needs a new file and a line here.

mod complete_task;
mod list_files;
mod read_file;
mod run_command;
mod search_files;
mod write_file;
