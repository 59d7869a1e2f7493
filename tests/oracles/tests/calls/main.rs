//! What becomes of the calls of real models: as they stand, and damaged as models damage them.
//!
//! Needs what `tests/oracles/fetch` fetches; without it every test fails and says so.
#![cfg(test)]

mod damage;
mod damaged;
mod rates;
