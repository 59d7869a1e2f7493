//! Each rule of the strict reader by hand.

mod numbers;
mod shapes;
mod texts;

use serde::de::DeserializeOwned;
use toolwright::__private0::{Fault, Reader, Rule};

fn read<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    let mut reader = Reader::new(text);
    let value = reader.read()?;
    reader.finish()?;
    Ok(value)
}

#[track_caller]
fn refused<T: DeserializeOwned + std::fmt::Debug>(text: &str, rule: Rule, message: &str) {
    let fault = read::<T>(text).expect_err(text);
    assert_eq!((fault.problem().rule, fault.to_string().as_str()), (rule, message), "{text}");
}
