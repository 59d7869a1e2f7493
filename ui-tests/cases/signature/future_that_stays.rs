// A call may move between threads, so nothing that stays on one lives across an `await`.
use std::rc::Rc;
use toolwright::tool;

/// Waits.
#[tool]
async fn wait() -> u32 {
    let count = Rc::new(1);
    std::future::ready(()).await;
    *count
}

fn main() {}
