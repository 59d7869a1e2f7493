// What means nothing without a journal is said of a journal.
use toolwright::{Executor, OnNoApprover, Registry};

fn main() {
    let _ = Executor::builder(Registry::empty()).on_no_approver(OnNoApprover::Park).build();
}
