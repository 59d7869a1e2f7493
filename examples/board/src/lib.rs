pub mod assembly;
pub mod board;
pub mod executables;
pub mod git;
pub mod ticket;
pub mod tools;
pub use board::{Board, BoardError};
