//! A language model, but scripted: whatever it is answered, it asks for the same.

use toolwright::Call;

/// What it asks for in a turn, counted from 1; nothing once it has finished.
pub fn turn(number: u64) -> Vec<Call<'static>> {
    match number {
        1 => vec![
            Call::new("look_up_order", r#"{"order":"A-1001"}"#),
            Call::new("refund", r#"{"order":"A-1001","cents":4200}"#),
            Call::new("send_receipt", r#"{"order":"A-1001","to":"bob@example.org"}"#),
        ],
        2 => vec![Call::new("delete_account", r#"{"account":"bob"}"#)],
        _ => Vec::new(),
    }
}
