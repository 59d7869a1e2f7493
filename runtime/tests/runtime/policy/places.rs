//! Problems of what stands in several places are told at the one that is wrong.

use toolwright::policy::{Policy, PolicyBuilder};

use super::scene::refused;

fn told(builder: PolicyBuilder) -> Vec<String> {
    refused(builder).problems().iter().map(ToString::to_string).collect()
}

fn in_file(text: &str) -> Vec<String> {
    told(Policy::builder().text("p", &format!("version = 1\n{text}")))
}

#[test]
fn a_root_that_nobody_can_find_is_told_where_it_stands() {
    let problems = in_file("roots = [\"/data\", \"~/notes\"]\n");
    let [problem] = problems.as_slice() else { panic!("one problem: {problems:?}") };
    assert!(problem.starts_with("p:2:19: rule `workspace-bounds`: `~/notes`"), "{problem}");
}

#[test]
fn a_limit_that_is_no_number_is_told_once() {
    let rule = "[[deny]]\nreason = \"r\"\ntool = \"send_mail\"\n";
    let problems = in_file(&format!("{rule}arguments = {{ \"/copies\" = {{ at_most = inf }} }}\n"));
    assert_eq!(problems, ["p:5:39: `inf` is no number that arguments can have"]);
}

#[test]
fn arguments_of_an_example_that_are_no_table_are_told_where_they_stand() {
    let rule = "[[deny]]\nreason = \"r\"\ntool = \"send_mail\"\n";
    let example = "matches = [{ tool = \"send_mail\", arguments = 3 }]\n";
    let problems = in_file(&format!("{rule}{example}"));
    assert_eq!(problems, ["p:5:46: `arguments` is a value of the kind integer; expected a table"]);
}
