//! The toolbox as an application uses it: its tools in a registry, called through an executor.
#![cfg(test)]
#![cfg(unix)]

mod apply_patch;
mod bad_input;
mod bash;
mod changes;
mod coding;
mod commands;
mod container;
mod containment;
#[cfg(feature = "context-store")]
mod context;
#[cfg(feature = "context-store")]
mod context_embedder;
#[cfg(feature = "context")]
mod context_foreign;
#[cfg(feature = "context-store")]
mod context_pipe;
#[cfg(feature = "context")]
mod context_query;
mod cut_short;
mod edit_file;
mod executors;
mod faults;
mod folders;
mod groups;
// Landlock is Linux's, and so is the folder of processes.
#[cfg(target_os = "linux")]
mod hostile;
mod killed;
#[cfg(target_os = "linux")]
mod landlock;
mod links;
mod loopback;
mod odd_files;
mod patch_against_git;
mod patch_lines;
mod read_file;
mod repaired_patches;
mod run_command;
mod search;
mod settings;
mod support;
mod tasks;
mod understood;
mod wall;
mod web;
mod write_file;
