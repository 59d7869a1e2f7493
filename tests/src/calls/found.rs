//! What an exploration of every order of steps found, and what looking for its like found beside it.

mod begun;
mod ended;
mod letters;
mod office;
mod owners;
mod words;
