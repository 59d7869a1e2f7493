//! A scripted language model: it requests the same calls whatever their answers are.

use toolwright::Call;

/// The task that the model works on.
#[derive(Debug, Clone, Copy)]
pub enum Task {
    /// Compensate a customer for a broken kettle.
    Refund,
    /// Refund an order that does not exist, so that the tool refuses the call.
    Mistaken,
    /// Send three parcels, each of which fails in its own way.
    Parcels,
}

/// Returns the calls of a turn, counted from 1. A turn without calls ends the run.
pub fn turn(task: Task, number: u64) -> Vec<Call<'static>> {
    match (task, number) {
        (Task::Refund, 1) => vec![
            Call::new("look_up_order", r#"{"order":"A-1001"}"#),
            Call::new("refund", r#"{"order":"A-1001","cents":4200}"#),
            Call::new("send_receipt", r#"{"order":"A-1001","to":"bob@example.org"}"#),
        ],
        (Task::Refund, 2) => vec![Call::new("delete_account", r#"{"account":"bob"}"#)],
        (Task::Mistaken, 1) => vec![Call::new("refund", r#"{"order":"A-9999","cents":100}"#)],
        (Task::Parcels, 1) => vec![
            Call::new("send_parcel", r#"{"order":"A-2001","country":"Iceland","grams":900}"#),
            Call::new("send_parcel", r#"{"order":"A-2002","country":"Atlantis","grams":900}"#),
            Call::new("send_parcel", r#"{"order":"A-2003","country":"Iceland","grams":120}"#),
        ],
        _ => Vec::new(),
    }
}
