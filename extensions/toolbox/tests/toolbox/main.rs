//! The toolbox as an application uses it: its tools in a registry, called through an executor.
#![cfg(test)]
#![cfg(unix)]

#[cfg(feature = "files")]
mod apply_patch;
#[cfg(all(feature = "shell", feature = "process"))]
mod bad_input;
#[cfg(all(feature = "shell", feature = "process"))]
mod bash;
#[cfg(all(
    feature = "changes",
    feature = "files",
    feature = "process",
    feature = "syntax-json",
    feature = "syntax-rust",
    feature = "syntax-toml"
))]
mod changes;
#[cfg(feature = "shell")]
mod commands;
#[cfg(all(feature = "files", feature = "process", unix))]
mod container;
#[cfg(feature = "files")]
mod containment;
#[cfg(feature = "changes")]
mod cut_short;
#[cfg(feature = "files")]
mod edit_file;
#[cfg(all(feature = "shell", feature = "process"))]
mod executors;
#[cfg(feature = "files")]
mod faults;
#[cfg(all(feature = "files", feature = "shell", feature = "process"))]
mod folders;
#[cfg(all(feature = "files", feature = "process"))]
mod groups;
// Landlock is Linux's, and so is the folder of processes.
#[cfg(all(feature = "landlock", feature = "shell", feature = "process", target_os = "linux"))]
mod hostile;
#[cfg(feature = "files")]
mod killed;
#[cfg(all(feature = "landlock", feature = "shell", feature = "process", target_os = "linux"))]
mod landlock;
#[cfg(feature = "files")]
mod links;
#[cfg(feature = "files")]
mod odd_files;
#[cfg(feature = "files")]
mod patch_against_git;
#[cfg(feature = "files")]
mod patch_lines;
#[cfg(feature = "files")]
mod read_file;
#[cfg(feature = "files")]
mod repaired_patches;
#[cfg(feature = "process")]
mod run_command;
#[cfg(feature = "files")]
mod search;
#[cfg(all(feature = "shell", feature = "process"))]
mod settings;
mod support;
#[cfg(feature = "shell")]
mod understood;
#[cfg(all(feature = "shell", feature = "process"))]
mod wall;
#[cfg(feature = "files")]
mod write_file;
