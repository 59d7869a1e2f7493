//! The application as its users run it: its tools through an executor, and its commands.
#![cfg(test)]
#![cfg(unix)]

mod capabilities;
mod chat;
mod commands;
mod edits;
mod names;
mod support;
mod work;
