//! Kinds and failures: after each, the file is what it was, byte for byte.

use serde_json::{Value, json};
use toolwright::Call;

use crate::support::{Shelf, patch};

/// Tool, file and content of each kind of file. The third line of each may be changed.
const KINDS: [(&str, &str, &str); 4] = [
    (
        "skill_edit",
        "skills/brew.md",
        "---\nname: brew\ndescription: Makes tea\n---\nBoil water.\nWait.\n",
    ),
    (
        "schedule_edit",
        "schedules/daily.md",
        "---\nid: s1\ncron: 0 9 * * 1-5\n---\nLook at the mails.\nAnswer.\n",
    ),
    ("task_edit", "tasks/report.md", "---\nid: t1\nstatus: pending\n---\nWrite it.\nSend it.\n"),
    (
        "prompt_edit",
        "prompts/style.md",
        "---\ntitle: Style\nloading: always\nagent-modification: true\n---\nBe brief.\n",
    ),
];

fn name_of(file: &str) -> &str {
    file.split_once('/').unwrap().1.strip_suffix(".md").unwrap()
}

/// An edit that fails with this kind of error, says that nothing was applied and what the file has, and leaves it alone.
async fn fails(shelf: &Shelf, (tool, file): (&str, &str), patches: Value, kind: &str) {
    let before = shelf.bytes(file);
    let answer = shelf.call(tool, json!({"name": name_of(file), "patches": patches})).await;
    assert_eq!(answer["error_type"], kind, "{tool}: {patches}: {answer}");
    assert_eq!(answer["details"]["applied"], 0, "{tool}: {answer}");
    assert_eq!(answer["details"]["content"], String::from_utf8(before.clone()).unwrap());
    assert_eq!(shelf.bytes(file), before, "{tool}: {patches}");
}

/// S0.49
#[tokio::test]
async fn lines_that_do_not_fit_change_no_file_of_any_kind() {
    let shelf = Shelf::new();
    let table = [
        json!([patch(99, 0, "D")]),
        json!([patch(99, 99, "D")]),
        json!([patch(3, 1, "Q")]),
        json!([patch(0, 0, "Q")]),
        json!([patch(0, 1, "Q")]),
        json!([patch(-1, 1, "Q")]),
        json!([patch(1, -1, "Q")]),
        json!([patch(1, 2, "X"), patch(2, 3, "Y")]),
        json!([patch(1, 0, "")]),
        // One that fits does not help one that does not.
        json!([patch(6, 6, "fits"), patch(50, 50, "does not")]),
    ];
    for (tool, file, content) in KINDS {
        for ends in ["\n", "\r\n"] {
            for tail in ["", "no line end"] {
                shelf.put(file, content.replace('\n', ends) + tail);
                for patches in &table {
                    fails(&shelf, (tool, file), patches.clone(), "invalid_patch").await;
                }
            }
        }
        for wrong in [
            json!([patch(1, 1, "x"), {"start_line": 1}]),
            json!([{"start_line": 1.5, "end_line": 2, "content": ""}]),
        ] {
            let before = shelf.bytes(file);
            let answer = shelf.call(tool, json!({"name": name_of(file), "patches": wrong})).await;
            assert_eq!(answer["error_type"], "invalid_input", "{answer}");
            assert_eq!(shelf.bytes(file), before);
        }
    }
}

/// S0.49
#[tokio::test]
async fn front_matter_that_would_be_broken_is_not_written_by_any_kind() {
    let shelf = Shelf::new();
    for (tool, file, content) in KINDS {
        shelf.put(file, content);
        let kind = match tool {
            "prompt_edit" => "invalid_frontmatter".to_owned(),
            tool => format!("invalid_{}", tool.strip_suffix("_edit").unwrap()),
        };
        let end =
            i64::try_from(content.lines().skip(1).position(|it| it == "---").unwrap() + 2).unwrap();
        let second = content.lines().nth(1).unwrap();
        let bomb = format!(
            "a: &a [x,x,x,x,x,x,x,x,x]\n{}",
            (0..9).map(|n| format!("b{n}: &b{n} [*a,*a,*a,*a,*a,*a,*a,*a]\n")).collect::<String>()
        );
        let table = [
            patch(1, 1, ""),
            patch(end, end, ""),
            patch(2, 2, ""),
            // Doubled, unknown, indented by a tab, no YAML, more than any kind has, and aliases of aliases.
            patch(3, 0, second),
            patch(2, 0, "surprise: 1"),
            patch(2, 0, "x:\n\ty: 1"),
            patch(2, 0, ": : ["),
            patch(2, 0, &"# a comment\n".repeat(2000)),
            patch(2, 0, &bomb),
        ];
        for patch in table {
            fails(&shelf, (tool, file), json!([patch]), &kind).await;
        }
    }
}

#[tokio::test]
async fn each_kind_refuses_what_it_would_not_be_any_more() {
    let shelf = Shelf::new();
    for (_, file, content) in KINDS {
        shelf.put(file, content);
    }
    let other = "---\nid: t2\nstatus: pending\nblocked_by: [t1]\n---\n";
    shelf.put("tasks/other.md", other);
    let table = [
        (0, patch(2, 2, "name: stew"), "invalid_skill"),
        (1, patch(2, 2, "id: s2"), "id_mismatch"),
        (1, patch(3, 3, "cron: whenever"), "invalid_schedule"),
        (1, patch(3, 3, "cron: 0 0 31 2 *"), "invalid_schedule"),
        (2, patch(2, 2, "id: t9"), "id_mismatch"),
        (2, patch(3, 3, "status: complete"), "status_change_forbidden"),
        (2, patch(3, 3, "status: done"), "invalid_task"),
        (2, patch(4, 0, "claimed_by: me"), "worker_field_change_forbidden"),
        (2, patch(4, 0, "output: done"), "worker_field_change_forbidden"),
        (2, patch(4, 0, "blocked_by: [t2]"), "circular_dependency"),
        (2, patch(4, 0, "blocked_by: [t1]"), "circular_dependency"),
        (3, patch(4, 4, "agent-modification: false"), "agent_modification_disabled"),
        (3, patch(3, 3, "loading: sometimes"), "invalid_frontmatter"),
    ];
    for (kind, patch, error) in table {
        let (tool, file, _) = KINDS[kind];
        fails(&shelf, (tool, file), json!([patch]), error).await;
    }
    // What is not to be edited as it is.
    shelf.put("tasks/report.md", KINDS[2].2.replace("pending", "in_progress"));
    fails(&shelf, ("task_edit", "tasks/report.md"), json!([patch(6, 6, "x")]), "not_pending").await;
    shelf.put("prompts/style.md", KINDS[3].2.replace("true", "false"));
    fails(
        &shelf,
        ("prompt_edit", "prompts/style.md"),
        json!([patch(6, 6, "x")]),
        "agent_modification_disabled",
    )
    .await;
    shelf.put("skills/brew.md", "no front matter\n");
    fails(&shelf, ("skill_edit", "skills/brew.md"), json!([patch(1, 1, "x")]), "invalid_skill")
        .await;
}

#[tokio::test]
async fn an_edit_that_fits_is_written_and_the_rest_stays_as_it_is() {
    let shelf = Shelf::new();
    for (tool, file, content) in KINDS {
        let content = content.replace('\n', "\r\n");
        shelf.put(file, &content);
        let lines = i64::try_from(content.lines().count()).unwrap();
        let patches = json!([patch(lines + 1, 0, "one more"), patch(lines, lines, "changed")]);
        let answer = shelf.call(tool, json!({"name": name_of(file), "patches": patches})).await;
        assert_eq!(answer["applied"], 2, "{tool}: {answer}");
        let kept =
            content.lines().take(content.lines().count() - 1).map(|line| format!("{line}\r\n"));
        let expected = kept.collect::<String>() + "changed\r\none more\r\n";
        assert_eq!(String::from_utf8(shelf.bytes(file)).unwrap(), expected);
        assert_eq!(answer["content"], expected);
        // The hash of the answer is that of the file, and an older one is refused.
        let hash = &answer["hash"];
        let none = shelf
            .call(tool, json!({"name": name_of(file), "patches": [], "expected_hash": hash}))
            .await;
        assert_eq!((&none["applied"], &none["hash"]), (&json!(0), hash));
        shelf.put(file, expected.replace("changed", "changed again"));
        let late = shelf
            .call(tool, json!({"name": name_of(file), "patches": [], "expected_hash": hash}))
            .await;
        assert_eq!(late["error_type"], "file_changed", "{late}");
    }
}

#[tokio::test]
async fn sixteen_edits_of_one_file_at_once_lose_nothing() {
    let shelf = Shelf::new();
    let (tool, file, content) = KINDS[2];
    shelf.put(file, content);
    let edits = (0..16).map(|number| {
        shelf.call(
            tool,
            json!({"name": "report", "patches": [patch(5, 0, &format!("line {number}"))]}),
        )
    });
    let mut open: Vec<_> = edits.map(Box::pin).collect();
    let mut answers = Vec::new();
    std::future::poll_fn(|context| {
        open.retain_mut(|edit| match edit.as_mut().poll(context) {
            std::task::Poll::Ready(answer) => {
                answers.push(answer);
                false
            }
            std::task::Poll::Pending => true,
        });
        if open.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    assert!(answers.iter().all(|answer| answer["applied"] == 1), "{answers:?}");
    let text = String::from_utf8(shelf.bytes(file)).unwrap();
    assert_eq!(text.lines().count(), content.lines().count() + 16, "{text}");
}

#[tokio::test]
async fn a_name_leads_nowhere_else_and_a_file_that_is_none_is_refused() {
    let shelf = Shelf::new();
    for (tool, file, content) in KINDS {
        shelf.put(file, content);
        for name in ["", "../tasks/report", "a/b", "..", "a\0b", "ä", "a b"] {
            let answer = shelf.call(tool, json!({"name": name, "patches": []})).await;
            assert_eq!(answer["error_type"], "invalid_name", "{tool} {name:?}: {answer}");
        }
        let answer = shelf.call(tool, json!({"name": "missing", "patches": []})).await;
        assert_eq!(answer["error_type"], "not_found", "{answer}");
        for (bytes, kind) in
            [(vec![0xff, b'\n'], "not_utf8"), (vec![b'a'; 50 << 20], "file_too_large")]
        {
            shelf.put(file, &bytes);
            let answer = shelf
                .call(tool, json!({"name": name_of(file), "patches": [patch(1, 1, "x")]}))
                .await;
            assert_eq!(answer["error_type"], kind, "{answer}");
            assert!(shelf.bytes(file) == bytes);
        }
    }
    // Skills are named in small letters, however they are called.
    shelf.put("skills/brew.md", KINDS[0].2);
    let answer = shelf.call("skill_edit", json!({"name": "Brew.md", "patches": []})).await;
    assert_eq!(answer["applied"], 0, "{answer}");
}

#[tokio::test]
async fn the_file_that_an_edit_declares_is_the_one_that_it_writes() {
    let shelf = Shelf::new();
    for (tool, file, content) in KINDS {
        let name = name_of(file);
        for name in [name.to_owned(), format!("{name}.md"), name.to_uppercase()] {
            shelf.put(file, content);
            let end = i64::try_from(content.lines().count() + 1).unwrap();
            let input = json!({"name": name, "patches": [patch(end, 0, "one more line")]});
            let facts = shelf.executor.examine(&Call::new(tool, input.to_string())).unwrap();
            let declared: Vec<_> = facts.touches().unwrap().writes_named().unwrap().collect();
            let answer = shelf.call(tool, input).await;
            // Where capitals are another name, there is no file of it.
            if answer["error_type"] == "not_found" {
                assert_eq!(shelf.bytes(file), content.as_bytes());
                continue;
            }
            assert_eq!(answer["applied"], 1, "{answer}");
            assert_ne!(shelf.bytes(file), content.as_bytes(), "{tool} {name}");
            assert_eq!(declared, [("file", Some(file))], "{tool} {name}");
        }
    }
}
