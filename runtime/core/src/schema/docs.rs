//! Turns doc comments into descriptions for a schema.

/// Converts a doc comment to one text. Joins the lines of each paragraph, but not the lines of lists, tables and code.
pub fn unwrap_docs(docs: &str) -> String {
    let mut text = String::with_capacity(docs.len());
    let mut in_code = false;
    let mut joins = false;
    for line in docs.lines() {
        let line = line.strip_prefix(' ').unwrap_or(line).trim_end();
        let bare = line.trim_start();
        let fence = bare.starts_with("```");
        let own_line = in_code
            || fence
            || starts_an_item(bare)
            || bare.starts_with('#')
            || bare.starts_with('|');
        match (bare.is_empty(), own_line || !joins) {
            (true, _) if in_code => text.push('\n'),
            (true, _) => {
                if !text.is_empty() && !text.ends_with("\n\n") {
                    text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
                }
            }
            (false, true) => {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                text.push_str(if in_code || fence { line } else { line.trim_end() });
            }
            (false, false) => {
                text.push(' ');
                text.push_str(bare);
            }
        }
        in_code ^= fence;
        joins = !bare.is_empty()
            && !in_code
            && !fence
            && !bare.starts_with('#')
            && !bare.starts_with('|');
    }
    text.truncate(text.trim_end().len());
    text
}

fn starts_an_item(line: &str) -> bool {
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    ["- ", "* ", "+ "].iter().any(|bullet| line.starts_with(bullet))
        || (digits > 0 && [". ", ") "].iter().any(|end| line[digits..].starts_with(end)))
}
