//! `--window`: the coder under a small window ends as it does with a whole one, and writes how large its requests are.

use crate::{Ran, coder, run};

fn offline(window: Option<&str>) -> Ran {
    let words = ["run", "make the tests pass", "--offline"];
    let window = window.map_or_else(Vec::new, |window| vec!["--window", window]);
    run(coder(&[&words[..], &window].concat()))
}

/// The sizes of the requests, by turn.
fn sizes(ran: &Ran) -> Vec<(u64, u64)> {
    let lines = ran.err.lines().filter_map(|line| line.strip_prefix("request: turn "));
    let numbers = lines.map(|line| {
        let (turn, rest) = line.split_once(": ").unwrap();
        let bytes = rest.split(' ').next().unwrap();
        (turn.parse().unwrap(), bytes.parse().unwrap())
    });
    numbers.collect()
}

#[test]
fn a_run_under_a_small_window_ends_as_one_under_a_whole_one_and_writes_the_sizes_of_its_requests() {
    let whole = offline(None);
    assert_eq!(sizes(&whole), []);
    let wide = offline(Some("16000"));
    let narrow = offline(Some(NARROW));
    for ran in [&wide, &narrow] {
        assert_eq!(ran.code, 0, "{}", ran.err);
        for key in ["ended", "tool", "text", "turns"] {
            assert_eq!(ran.end()[key], whole.end()[key], "{}", ran.err);
        }
        let turns: Vec<u64> = sizes(ran).iter().map(|it| it.0).collect();
        assert_eq!(turns, [1, 2, 3, 4, 5, 6], "{}", ran.err);
    }
    assert!(!wide.err.contains("window: "), "{}", wide.err);
    assert!(narrow.err.contains("window: the history of turn "), "{}", narrow.err);
    let last = |ran: &Ran| sizes(ran)[5].1;
    assert!(last(&narrow) < last(&wide), "{}\n{}", narrow.err, wide.err);
}

/// So small that the history of the recorded run outgrows it.
const NARROW: &str = "6000";
