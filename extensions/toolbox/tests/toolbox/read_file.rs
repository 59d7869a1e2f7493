//! `read_file`: lines with their numbers, and what is left out.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::support::Box;

#[test]
fn a_file_is_answered_with_its_lines_and_their_numbers() {
    let tools = Box::files();
    tools.put("src/a.rs", "fn a() {\n    b();\n}\n");
    let whole = tools.ok("read_file", json!({"path": "src/a.rs"}));
    assert_eq!(whole, "`src/a.rs`: 3 lines\n1\tfn a() {\n2\t    b();\n3\t}");
}

/// S1.25, S2.37, S2.62, S4.5: a file is read whole or from a line on, each line with its number before it.
#[test]
fn a_part_says_where_the_rest_is() {
    let tools = Box::files();
    let lines: String = (1..=120).map(|number| format!("line {number}\n")).collect();
    tools.put("a", lines);
    let read = |offset: usize, limit: usize| {
        tools.ok("read_file", json!({"path": "a", "offset": offset, "limit": limit}))
    };
    assert_eq!(
        read(9, 2),
        "`a`: lines 9 to 10 of 120\n 9\tline 9\n10\tline 10\n[110 more lines: go on with offset 11]"
    );
    assert_eq!(read(120, 5), "`a`: lines 120 to 120 of 120\n120\tline 120");
    assert!(read(1, 100_000).starts_with("`a`: 120 lines\n"));
    let (kind, message) = tools.refused("read_file", json!({"path": "a", "offset": 121}));
    assert_eq!(kind, "invalid_input");
    assert_eq!(message, "`a` has 120 lines, so no line has the number 121");
}

#[test]
fn line_ends_are_reported_where_an_edit_depends_on_them() {
    let tools = Box::files();
    for (text, answer) in [
        ("", "`a` is empty"),
        ("one", "`a`: 1 line\n1\tone\n[the last line has no line end]"),
        ("\n", "`a`: 1 line\n1\t"),
        ("a\r\nb\r\n", "`a`: 2 lines, which end with CR LF\n1\ta\n2\tb"),
        ("a\r\nb\n", "`a`: 2 lines, some of which end with CR LF and some with LF\n1\ta\n2\tb"),
        ("\u{feff}a\n", "`a`: 1 line, in UTF-8 with a byte order mark\n1\ta"),
    ] {
        tools.put("a", text);
        assert_eq!(tools.ok("read_file", json!({"path": "a"})), answer, "{text:?}");
    }
}

#[test]
fn a_long_line_and_a_long_file_are_cut_and_the_answer_says_so() {
    let tools = Box::files();
    tools.put("line", format!("{}\n", "ü".repeat(2003)));
    let line = tools.ok("read_file", json!({"path": "line"}));
    assert!(line.ends_with("ü… [3 characters more]"), "{line}");

    let lines: String = (0..2000).map(|_| format!("{}\n", "x".repeat(999))).collect();
    tools.put("file", lines);
    let first = tools.ok("read_file", json!({"path": "file"}));
    assert!(first.len() < 110_000, "{} bytes", first.len());
    let offset = first.rsplit(' ').next().unwrap().trim_end_matches(']');
    assert_eq!(offset, "100");
    let second = tools.ok("read_file", json!({"path": "file", "offset": 100}));
    assert!(second.starts_with("`file`: lines 100 to "), "{}", &second[..60]);
}

#[test]
fn what_is_no_text_is_refused_with_its_reason() {
    let tools = Box::files();
    tools.put("binary", b"\x1f\x8b\x08\0\0\0");
    tools.put("latin", b"caf\xe9\n");
    tools.put("zero", b"a\0");
    tools.put("control", b"\xe9\x01");
    fs::create_dir(tools.path("folder")).unwrap();
    fs::File::create(tools.path("large")).unwrap().set_len(10 * 1024 * 1024 + 1).unwrap();
    for (path, kind, message) in [
        ("binary", "binary_file", "`binary` is binary, application/gzip, expected text"),
        ("zero", "binary_file", "`zero` is binary, with a zero byte at position 1, expected text"),
        (
            "control",
            "binary_file",
            "`control` is binary, not UTF-8, and with byte 0x01 at position 1, expected text",
        ),
        ("folder", "is_a_directory", "`folder` is a folder, expected a file"),
        ("large", "file_too_large", "`large` has 10485761 bytes, expected at most 10485760"),
        ("none", "not_found", "`none`: no such file or folder"),
        (
            "latin/none",
            "not_a_directory",
            "`latin/none`: a part of the path is a file, not a folder",
        ),
    ] {
        let refused = tools.refused("read_file", json!({"path": path}));
        assert_eq!(refused, (kind.to_owned(), message.to_owned()));
    }
}

#[test]
fn an_encoding_that_is_not_utf_8_is_reported() {
    let tools = Box::files();
    for (bytes, answer) in [
        (&b"caf\xe9\n"[..], "`a`: 1 line, in Latin-1\n1\tcafé"),
        (
            b"\xff\xfea\0\r\0\n\0",
            "`a`: 1 line, which end with CR LF, in UTF-16, little-endian\n1\ta",
        ),
        (b"\xfe\xff\0a\0\n", "`a`: 1 line, in UTF-16, big-endian\n1\ta"),
        (b"\xef\xbb\xbfa\n", "`a`: 1 line, in UTF-8 with a byte order mark\n1\ta"),
    ] {
        tools.put("a", bytes);
        assert_eq!(tools.ok("read_file", json!({"path": "a"})), answer);
    }
    tools.put("a", b"\xff\xfea\0\x00\xd8");
    let (kind, message) = tools.refused("read_file", json!({"path": "a"}));
    assert_eq!(kind, "broken_text");
    assert_eq!(message, "`a` begins as UTF-16, little-endian, and is broken");
}

#[test]
fn a_picture_is_answered_as_one_up_to_a_limit() {
    let tools = Box::files();
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    tools.put("a.png", &png);
    let answer = tools.call("read_file", json!({"path": "a.png"}));
    let content = answer.content();
    let [toolwright::Content::Text(words), toolwright::Content::Image { media_type, data }] =
        content.as_slice()
    else {
        panic!("{content:?}")
    };
    assert!(words.starts_with("`a.png`: image/png, 16 bytes; hash "), "{words}");
    assert_eq!((media_type.as_ref(), data.as_ref()), ("image/png", "iVBORw0KGgoAAAANSUhEUg=="));
    png.resize((3 << 20) + 1, 0);
    tools.put("a.png", &png);
    let (kind, message) = tools.refused("read_file", json!({"path": "a.png"}));
    assert_eq!(kind, "file_too_large");
    assert_eq!(
        message,
        "`a.png` is a picture, image/png, of 3145729 bytes, expected at most 3145728"
    );
}

#[test]
fn a_pdf_is_answered_as_a_document_with_its_name() {
    let tools = Box::files();
    tools.put("plan.pdf", b"%PDF-1.7");
    let answer = tools.call("read_file", json!({"path": "plan.pdf"}));
    let content = answer.content();
    let [
        toolwright::Content::Text(words),
        toolwright::Content::Document { name, media_type, data },
    ] = content.as_slice()
    else {
        panic!("{content:?}")
    };
    assert!(words.starts_with("`plan.pdf`: application/pdf, 8 bytes; hash "), "{words}");
    assert_eq!((name.as_deref(), media_type.as_ref()), (Some("plan.pdf"), "application/pdf"));
    assert_eq!(data, "JVBERi0xLjc=");
}

#[test]
fn a_text_about_pictures_and_documents_is_answered_as_a_text() {
    let tools = Box::files();
    for text in [
        "fn is_pdf(b: &[u8]) -> bool { b.starts_with(b\"%PDF-\") }\n",
        "GIF notes\n",
        "Convert WEBP to PNG\n",
        "%PDF is the signature of a PDF.\n",
    ] {
        tools.put("a", text);
        assert_eq!(
            tools.ok("read_file", json!({"path": "a"})),
            format!("`a`: 1 line\n1\t{}", text.trim_end())
        );
    }
}

#[test]
fn a_file_that_may_not_be_read_is_refused_by_its_name() {
    let tools = Box::files();
    tools.put("a", "x");
    fs::set_permissions(tools.path("a"), fs::Permissions::from_mode(0o000)).unwrap();
    // Who may read everything cannot be refused.
    if fs::read(tools.path("a")).is_err() {
        let refused = tools.refused("read_file", json!({"path": "a"}));
        assert_eq!(refused, ("permission_denied".to_owned(), "`a`: permission denied".to_owned()));
    }
}
