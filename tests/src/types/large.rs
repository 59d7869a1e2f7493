//! Types that are too large to be found out about in full: they make a registry soon, and are held to
//! their schema at each call where not all of them was looked at.

use std::time::{Duration, Instant};

use toolwright::{Call, Executor, Handle, Registry, data, tool};

fn executor(handle: Handle) -> Executor {
    Executor::builder(Registry::of([handle]).unwrap())
        .unrestricted()
        .repair(toolwright::Repair::Off)
        .build()
        .unwrap()
}

macro_rules! choices {
    ($($name:ident)*) => {
        /// More choices than are tried.
        #[data]
        pub enum Choices {
            $($name { x: u32 },)*
            Last {
                #[serde(alias = "nm")]
                name: String,
            },
        }
    };
}

choices!(A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 B0 B1 B2 B3 B4 B5 B6 B7 B8 B9 C0 C1 C2 C3 C4 C5 C6 C7 C8 C9
    D0 D1 D2 D3 D4 D5 D6 D7 D8 D9 E0 E1 E2 E3 E4 E5 E6 E7 E8 E9 F0 F1 F2 F3 F4 F5 F6 F7 F8 F9
    G0 G1 G2 G3 G4 G5 G6 G7 G8 G9 H0 H1 H2 H3 H4 H5 H6 H7 H8 H9 I0 I1 I2 I3 I4 I5 I6 I7 I8 I9
    J0 J1 J2 J3 J4 J5 J6 J7 J8 J9);

/// Takes one of many.
#[tool(effect = read)]
async fn pick_of_many(
    /// One of many.
    it: Choices,
) {
    let _ = it;
}

#[test]
fn an_alias_past_the_choices_that_are_tried_is_not_taken() {
    let executor = executor(PICK_OF_MANY);
    let reads = |input: &str| executor.examine(&Call::new("pick_of_many", input)).is_ok();
    assert!(reads(r#"{"it": {"Last": {"name": "x"}}}"#));
    assert!(!reads(r#"{"it": {"Last": {"nm": "x"}}}"#));
}

/// A type that is only read inside itself.
#[data]
pub enum Formula {
    Number(f64),
    Sum {
        left: Box<Formula>,
        #[serde(alias = "with")]
        right: Box<Formula>,
    },
}

/// Computes.
#[tool(effect = read)]
async fn solve_formula(
    /// What to compute.
    it: Formula,
) {
    let _ = it;
}

#[test]
fn an_alias_beside_what_refers_to_its_own_type_is_not_taken() {
    let executor = executor(SOLVE_FORMULA);
    let reads = |input: &str| executor.examine(&Call::new("solve_formula", input)).is_ok();
    assert!(reads(r#"{"it": {"Sum": {"left": {"Number": 1}, "right": {"Number": 2}}}}"#));
    assert!(!reads(r#"{"it": {"Sum": {"left": {"Number": 1}, "with": {"Number": 2}}}}"#));
}

macro_rules! wide {
    ($($struct:ident of $type:ty: $($name:ident)*;)*) => {$(
        #[data]
        pub struct $struct {
            $($name: $type,)*
        }
    )*};
}

wide! {
    Twenty of u32: a b c d e f g h i j k l m n o p q r s t;
    Hundreds of Twenty: a b c d e f g h i j k l m n o p q r s t;
    Thousands of Hundreds: a b c d e f g h i j;
}

/// Takes 400 numbers.
#[tool(effect = read)]
async fn take_hundreds(
    /// The numbers.
    it: Hundreds,
) {
    let _ = it;
}

/// Takes 4,000 numbers.
#[tool(effect = read)]
async fn take_thousands(
    /// The numbers.
    it: Box<Thousands>,
) {
    let _ = it;
}

#[test]
fn a_large_type_costs_in_proportion_to_its_size() {
    let took = |handle: Handle| {
        let start = Instant::now();
        Registry::of([handle]).unwrap();
        start.elapsed()
    };
    let (hundreds, thousands) = (took(TAKE_HUNDREDS), took(TAKE_THOUSANDS));
    println!("400 leaves took {hundreds:?}, 4,000 took {thousands:?}");
    // With the square of its size, this would take many minutes.
    assert!(thousands < Duration::from_secs(30), "{hundreds:?} and {thousands:?}");
}
