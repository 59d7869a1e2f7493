// `Self` has no meaning where the tool's input is described.
use toolwright::{data, tools};

#[data]
struct Clock;

#[tools]
impl Clock {
    /// Waits.
    #[tool]
    async fn wait(
        /// What for.
        other: Self,
    ) {
        let _ = other;
    }
}

fn main() {}
