//! Tools written in Rust, in every dialect: taken by the vendor or refused with reasons.

use std::fmt::Write;

use oracles::document;
use oracles::verdict::{Court, Verdict};
use serde_json::Value;
use toolwright::dialect::{Dialect, Severity};

use crate::tools::{described, registry};

fn verdicts(dialect: Dialect) -> Vec<(String, Verdict)> {
    let court = Court::of(dialect).unwrap();
    let judge = |tool: &toolwright::Definition| {
        (tool.name.clone(), described(tool, |described| court.judge(described)))
    };
    registry().catalog().definitions().map(judge).collect()
}

#[test]
fn no_vendor_is_sent_a_tool_that_it_would_refuse() {
    let mut wrong = String::new();
    for dialect in Dialect::ALL {
        for (name, verdict) in verdicts(dialect) {
            if matches!(verdict, Verdict::Wrong { .. }) {
                let _ = writeln!(wrong, "\n{dialect}: tool `{name}`\n{verdict}");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_accepted_tools_together_make_a_list_that_the_vendor_takes() {
    for dialect in Dialect::ALL {
        let sent: Vec<Value> = verdicts(dialect)
            .into_iter()
            .filter_map(|(_, verdict)| match verdict {
                Verdict::Accepted { tool, .. } => Some(tool),
                _ => None,
            })
            .collect();
        assert!(!sent.is_empty(), "{dialect} takes no tool at all");
        let (document, definition, list) = document::of_all_tools(dialect, &sent);
        let objections = document.definition(definition).unwrap().objections(&list);
        assert!(objections.is_empty(), "{dialect}: {objections:#?}");
    }
}

/// What is refused, and what is told in words instead of keywords.
#[test]
fn what_is_refused_or_told_in_words_has_a_reason_that_a_person_agrees_with() {
    let mut found = String::new();
    for dialect in Dialect::ALL {
        let _ = writeln!(found, "# {dialect}\n");
        for (name, verdict) in verdicts(dialect) {
            let (word, findings) = match verdict {
                Verdict::Accepted { notes, .. } if notes.is_empty() => continue,
                Verdict::Accepted { notes, .. } => ("accepted", notes),
                Verdict::Refused(findings) => ("refused", findings),
                // Another test fails over it.
                Verdict::Wrong { .. } => continue,
            };
            let _ = writeln!(found, "{name}: {word}");
            for finding in findings {
                let grave = if finding.severity == Severity::Error { "error" } else { "note" };
                let _ = writeln!(found, "  {grave} {}: {finding}", finding.rule);
            }
        }
        found.push('\n');
    }
    insta::assert_snapshot!(found);
}

/// The two shapes that peers lose parts of: each property and each variant with its words is still there.
#[test]
fn a_recursive_type_and_an_untagged_enum_lose_nothing_in_any_dialect() {
    let parts: [(&str, &[&str]); 2] = [
        ("walk", &["Its root.", "Its name.", "The first below it."]),
        ("filter", &["By what.", "A number.", "A text.", "A range.", "The least.", "The most."]),
    ];
    let mut shown = String::new();
    for dialect in Dialect::ALL {
        for (name, verdict) in verdicts(dialect) {
            let Some((_, parts)) = parts.iter().find(|(wanted, _)| *wanted == name) else {
                continue;
            };
            let _ = match &verdict {
                Verdict::Accepted { tool, .. } => {
                    let text = tool.to_string();
                    for part in *parts {
                        assert!(text.contains(part), "{dialect}: {name} lost `{part}`: {text}");
                    }
                    writeln!(shown, "# {dialect}: {name}\n{tool:#}\n")
                }
                other => writeln!(shown, "# {dialect}: {name}\n{other}\n"),
            };
        }
    }
    insta::assert_snapshot!(shown);
}
