//! `judge-recordings [--requests] FILE…` holds recordings against the vendors' documents. Exit code 1: a body is not valid.

use std::error::Error;
use std::process::ExitCode;

use oracles::recorded::{Judged, verdict};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let (flags, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word == "--requests");
    let judged = if flags.is_empty() { Judged::Both } else { Judged::Requests };
    let (mut valid, mut wrong) = (0, 0);
    for file in &files {
        let found = verdict(&std::fs::read_to_string(file)?, judged)?;
        valid += found.valid;
        wrong += found.objections.len();
        for objection in found.objections {
            eprintln!("{file}: {objection}");
        }
    }
    let whose = if judged == Judged::Requests { " requests" } else { "" };
    println!("{} recordings: {valid}{whose} valid, {wrong} objections", files.len());
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
