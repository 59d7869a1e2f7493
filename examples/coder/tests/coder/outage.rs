//! `through-an-outage` in its short form.

use std::process::{Command, Stdio};

use crate::run;

/// The long form is `examples/coder/through-an-outage`.
#[test]
fn runs_end_by_themselves_after_an_outage_though_one_of_them_kills_its_process() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_through-an-outage"));
    command.args(["--outage", "3", "--runs", "20"]).stdin(Stdio::null());
    let ran = run(command);
    assert_eq!(ran.code, 0, "{}{}", ran.err, ran.out);
    let ended = ran.out.lines().filter(|line| line.split_whitespace().nth(1) == Some("text"));
    assert_eq!(ended.count(), 19, "{}", ran.out);
    assert!(!ran.out.contains("FAILS"), "{}", ran.out);
}
