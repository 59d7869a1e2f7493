//! What an exploration of every order of steps found, and what looking for its like found beside it.

mod begun;
mod dead_letters;
mod ended;
mod office;
mod owners;
mod words;
