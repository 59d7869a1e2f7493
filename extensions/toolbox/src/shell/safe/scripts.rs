//! Recognizes scripts of sed, awk and jq in arguments that only print.

use std::iter::Peekable;
use std::str::Chars;

/// Returns whether a script of sed only prints, replaces and deletes lines.
///
/// It recognizes addresses, blocks, the commands `p P d D q Q = n N g G h H x l`, `s/…/…/` with plain flags, `y/…/…/`,
/// and commands that add text.
pub(in crate::shell) fn is_plain_sed(script: &str) -> bool {
    let mut rest = script.chars().peekable();
    loop {
        while rest.next_if(|it| it.is_whitespace() || matches!(it, ';' | '{' | '}' | '!')).is_some()
        {
        }
        let Some(first) = rest.next() else { return true };
        match first {
            '0'..='9' | '$' | ',' | '~' | '+' => {}
            '/' => {
                if !skip_to(&mut rest, '/') {
                    return false;
                }
                while rest.next_if(|it| matches!(it, 'I' | 'M')).is_some() {}
            }
            'p' | 'd' | 'q' | 'Q' | '=' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'P' | 'D'
            | 'l' => {}
            's' | 'y' => {
                let Some(limit) = rest
                    .next()
                    .filter(|it| !it.is_alphanumeric() && !matches!(it, '\\' | '\n' | '['))
                else {
                    return false;
                };
                if !skip_to(&mut rest, limit) || !skip_to(&mut rest, limit) {
                    return false;
                }
                while rest
                    .next_if(|it| matches!(it, 'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9'))
                    .is_some()
                {}
                if rest.peek().is_some_and(|it| !it.is_whitespace() && !matches!(it, ';' | '}')) {
                    return false;
                }
            }
            // The text that such a command adds extends to the end of the line. A backslash at that end joins the next
            // line.
            'a' | 'i' | 'c' => {
                let mut last = first;
                while let Some(letter) = rest.next_if(|it| *it != '\n' || last == '\\') {
                    last = letter;
                }
            }
            _ => return false,
        }
    }
}

/// Skips the text before a delimiter. Programs differ on whether a delimiter in a character list (`[^/]`) ends the
/// text, so such a script is refused.
fn skip_to(rest: &mut Peekable<Chars<'_>>, limit: char) -> bool {
    while let Some(letter) = rest.next() {
        match letter {
            _ if letter == limit => return true,
            '\n' => return false,
            '\\' => {
                rest.next();
            }
            '[' if !skip_list(rest, limit) => return false,
            _ => {}
        }
    }
    false
}

/// Skips a character list after its `[`.
fn skip_list(rest: &mut Peekable<Chars<'_>>, limit: char) -> bool {
    rest.next_if_eq(&'^');
    let mut is_first = true;
    while let Some(letter) = rest.next() {
        match letter {
            '\n' | '\\' => return false,
            _ if letter == limit => return false,
            ']' if !is_first => return true,
            // This is a character class, such as `[:space:]`.
            '[' => {
                let kind = rest.next_if(|it| matches!(it, ':' | '.' | '='));
                let Some(kind) = kind else { continue };
                let mut last = ' ';
                for letter in rest.by_ref() {
                    if letter == limit {
                        return false;
                    }
                    if last == kind && letter == ']' {
                        break;
                    }
                    last = letter;
                }
            }
            _ => {}
        }
        is_first = false;
    }
    false
}

/// Returns whether an awk script only computes and prints. It must not call a function that runs a program, opens a
/// file or takes the name of a function from a text. After the first `print` it must not have a `>`, which would write
/// a file.
pub(in crate::shell) fn is_plain_awk(script: &str) -> bool {
    const OTHER: [&str; 14] = [
        "system",
        "getline",
        "close",
        "fflush",
        "ARGV",
        "ARGC",
        "ARGIND",
        "ENVIRON",
        "PROCINFO",
        "SYMTAB",
        "FUNCTAB",
        "include",
        "load",
        "extension",
    ];
    let single = script.replace("||", "  ");
    let printed = script.find("print").map_or("", |at| &script[at..]);
    !single.contains(['|', '@', '`'])
        && is_escaped_plainly(script)
        && !OTHER.iter().any(|it| script.contains(it))
        && !printed.contains('>')
}

/// Returns whether every backslash begins an escape, and none joins two lines.
fn is_escaped_plainly(script: &str) -> bool {
    let mut letters = script.chars();
    while let Some(letter) = letters.next() {
        if letter == '\\' && !letters.next().is_some_and(|it| it.is_ascii() && !it.is_whitespace())
        {
            return false;
        }
    }
    true
}

/// Returns whether a jq filter uses neither modules nor environment variables.
pub(in crate::shell) fn is_plain_jq(filter: &str) -> bool {
    const OTHER: [&str; 8] = [
        "import",
        "include",
        "env",
        "ENV",
        "modulemeta",
        "input_filename",
        "get_search_list",
        "$__prog",
    ];
    !OTHER.iter().any(|it| filter.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_may_run_or_write_is_not_plain() {
        for script in
            ["p", "1,5p", "/a/,/b/p", "s/a/b/g", "s|[0-9]*|N|;y/a/b/", "$!d", "/^$/d;s/x/y/2p"]
        {
            assert!(is_plain_sed(script), "{script}");
        }
        for script in [
            "w out",
            "e id",
            "s/a/b/e",
            "s/a/b/w x",
            "r .env",
            "1{e",
            "s/[/]/x/;w x/",
            "F",
            "W x",
            "v;e",
            "R x",
            "s/[a/]/x/w y",
            "s/[[:a:]/]/p;s/w f/g/",
            "s/[]/]/p;s/w f/g/",
        ] {
            assert!(!is_plain_sed(script), "{script}");
        }
        for script in [
            "{print $1}",
            "NR > 1",
            "$3 > 5 {print}",
            "{s+=$1} END {print s}",
            "/a|b/ == 0 || 1 {print}",
        ] {
            assert_eq!(is_plain_awk(script), !script.contains("a|b"), "{script}");
        }
        for script in [
            "{print \"}\" > \"f\"}",
            "BEGIN{system(\"id\")}",
            "{print | \"sh\"}",
            "{\"id\" |& getline}",
            "@load \"x\"",
            "BEGIN{ARGV[1]=\".env\"}",
            "{printf(\"x\") >> \"f\"}",
            "{print\n> \"f\"}",
        ] {
            assert!(!is_plain_awk(script), "{script}");
        }
        assert!(
            is_plain_jq(".a | keys")
                && !is_plain_jq("$ENV.PATH")
                && !is_plain_jq("import \"a\" as b; 1")
        );
    }
}
