//! The carrier of the parcels: another company's server, which is busy at first and then loses a connection. It
//! accepts a parcel once for each idempotency key.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Simulates a carrier. Counts the requests for each order, because the answer depends on their number.
#[derive(Default)]
pub struct Carrier(Mutex<HashMap<String, u32>>);

/// The answer of the carrier.
pub enum Reply {
    Taken,
    /// The carrier has not processed the request, and asks to wait this long.
    Busy(Duration),
    /// The connection was lost, so it is unknown whether the parcel was accepted.
    Lost,
    /// The carrier does not deliver to this country.
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
