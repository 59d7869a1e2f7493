//! The tools, one a file.

pub mod delete_account;
pub mod look_up_order;
pub mod refund;
pub mod send_parcel;
pub mod send_receipt;

use toolwright::{Registry, RegistryError};

/// Builds the registry of all tools.
pub fn registry() -> Result<Registry, RegistryError> {
    Registry::of([
        look_up_order::LOOK_UP_ORDER,
        refund::REFUND,
        send_parcel::SEND_PARCEL,
        send_receipt::SEND_RECEIPT,
        delete_account::DELETE_ACCOUNT,
    ])
}
