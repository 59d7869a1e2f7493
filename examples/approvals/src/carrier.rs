//! Who carries parcels: somebody else's server, which is busy at first and then loses a connection. It takes a parcel
//! once for each idempotency key.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Counts how often it was asked about each order.
#[derive(Default)]
pub struct Carrier(Mutex<HashMap<String, u32>>);

/// What it answers.
pub enum Reply {
    Taken,
    /// It has not looked at it.
    Busy(Duration),
    /// Nobody knows whether it was taken.
    Lost,
    /// It does not go there.
    NoSuchCountry,
}

impl Carrier {
    pub fn send(&self, order: &str, country: &str) -> Reply {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let times = asked.entry(order.to_owned()).or_default();
        *times += 1;
        match (country, order, *times) {
            ("Atlantis", ..) => Reply::NoSuchCountry,
            (_, "A-2001", 1) => Reply::Busy(Duration::from_secs(1)),
            (_, "A-2001", 2) => Reply::Lost,
            _ => Reply::Taken,
        }
    }
}
