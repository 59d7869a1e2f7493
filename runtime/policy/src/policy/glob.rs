//! Turns patterns with `*`, `?`, `[…]`, `{…}` and `**` into regular expressions over characters. (Crates for globs
//! match bytes, so that a `?` would match half of some letters.) In a pattern for files, `*` does not match a slash. In
//! a pattern for names of tools it does, because there a slash separates nothing.

use regex::Regex;

/// Compiles a pattern for files. `/**` at its end also matches the folder itself.
pub(super) fn compile(pattern: &str) -> Result<Regex, String> {
    regex_of(pattern, true)
}

/// Compiles a pattern for names of tools. `*` matches any characters, so that `*` alone matches every name.
pub(super) fn compile_name(pattern: &str) -> Result<Regex, String> {
    regex_of(pattern, false)
}

fn regex_of(pattern: &str, is_path: bool) -> Result<Regex, String> {
    let (left, out) = (pattern.chars().peekable(), "(?s)^".to_owned());
    let mut writer = Writer { left, out, depth: 0, is_path };
    let no_pattern = |why: &str| format!("`{pattern}` is no pattern: {why}");
    writer.write().map_err(no_pattern)?;
    writer.out.push('$');
    Regex::new(&writer.out).map_err(|_| no_pattern("it is too long, or a range in it is backwards"))
}

/// Escapes the special characters of a text, so that the pattern matches only this text.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        if SPECIAL.contains(&it) {
            out.push('\\');
        }
        out.push(it);
    }
    out
}

/// Characters with a meaning in patterns.
pub(super) const SPECIAL: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];

struct Writer<'p> {
    left: std::iter::Peekable<std::str::Chars<'p>>,
    out: String,
    /// The number of braces that are open at this place of the pattern.
    depth: usize,
    /// Whether the pattern is for paths, in which a slash separates folders.
    is_path: bool,
}

impl Writer<'_> {
    fn write(&mut self) -> Result<(), &'static str> {
        let mut is_start = true;
        while let Some(it) = self.left.next() {
            let was_start = std::mem::replace(&mut is_start, it == '/');
            match it {
                '*' if !self.is_path => self.out.push_str(".*"),
                '?' if !self.is_path => self.out.push('.'),
                '*' if self.left.next_if_eq(&'*').is_some() => {
                    is_start = self.folders(was_start)?;
                }
                '*' => self.out.push_str("[^/]*"),
                '?' => self.out.push_str("[^/]"),
                '[' => self.class()?,
                '{' => {
                    self.depth += 1;
                    self.out.push_str("(?:");
                }
                '}' if self.depth == 0 => return Err("it closes a brace that is not open"),
                '}' => {
                    self.depth -= 1;
                    self.out.push(')');
                }
                ',' if self.depth > 0 => self.out.push('|'),
                '\\' => {
                    let literal = self.left.next().ok_or("it ends with `\\`")?;
                    self.literal(literal);
                }
                literal => self.literal(literal),
            }
        }
        if self.depth > 0 { Err("a brace is not closed") } else { Ok(()) }
    }

    /// Writes the regular expression of `**`, which matches any number of folders. Returns whether the next part
    /// begins a segment.
    fn folders(&mut self, was_start: bool) -> Result<bool, &'static str> {
        let alone = "`**` must be alone between slashes, and outside braces";
        if !was_start || self.depth > 0 {
            return Err(alone);
        }
        match self.left.next() {
            Some('/') => self.out.push_str("(?:.*/)?"),
            None => match self.out.strip_suffix('/') {
                // The pattern `/**` is handled below, because nothing comes before its slash.
                Some(before) if !before.ends_with('^') => {
                    self.out.truncate(before.len());
                    self.out.push_str("(?:/.*)?");
                }
                _ => self.out.push_str(".*"),
            },
            Some(_) => return Err(alone),
        }
        Ok(true)
    }

    fn class(&mut self) -> Result<(), &'static str> {
        const OPEN: &str = "a bracket is not closed";
        self.out.push('[');
        let is_negated = self.left.next_if(|it| matches!(it, '!' | '^')).is_some();
        if is_negated {
            self.out.push_str(if self.is_path { "^/" } else { "^" });
        }
        let mut is_first = true;
        loop {
            match self.left.next().ok_or(OPEN)? {
                ']' if !is_first => break,
                '-' if !is_first && self.left.peek().is_some_and(|it| *it != ']') => {
                    self.out.push('-');
                    // The end of a range is taken as a character even if it is another `-`, because `--` in a regular
                    // expression would subtract characters.
                    let end = self.left.next().ok_or(OPEN)?;
                    self.member(end)?;
                }
                start => self.member(start)?,
            }
            is_first = false;
        }
        // A range such as `+-9` includes `/`, which a character class of a path must not match.
        self.out.push_str(if is_negated || !self.is_path { "]" } else { "&&[^/]]" });
        Ok(())
    }

    /// Writes a character of a set in brackets.
    fn member(&mut self, written: char) -> Result<(), &'static str> {
        let literal = match written {
            '\\' => self.left.next().ok_or("a bracket is not closed")?,
            literal => literal,
        };
        if literal == '/' && self.is_path {
            return Err("brackets hold no `/`");
        }
        self.literal(literal);
        Ok(())
    }

    fn literal(&mut self, literal: char) {
        if literal.is_ascii_punctuation() && literal != '/' && literal != '<' && literal != '>' {
            self.out.push('\\');
        }
        self.out.push(literal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_what_they_say() {
        let cases: [(&str, &[&str], &[&str]); 18] = [
            (
                "**/.git/**",
                &[".git", ".git/a", "x/.git", "/x/y/.git/a/b"],
                &["git", ".gitx", "a.git/b"],
            ),
            ("src/**", &["src", "src/a", "src/a/b"], &["srcx", "a/src", ""]),
            ("src/**/a", &["src/a", "src/b/c/a"], &["src/ba", "a"]),
            ("**", &["", "a", "/a/b", "a\nb"], &[]),
            ("/**", &["/", "/a/b"], &["a", ""]),
            ("a?c", &["abc", "aäc", "a図c", "a\nc"], &["ac", "a/c", "abbc"]),
            ("[!a-c]x", &["dx", "äx", "-x"], &["ax", "bx", "/x", "x"]),
            ("[ä-ü]", &["ö"], &["a", "ÿ"]),
            ("[]-]", &["]", "-"], &["["]),
            ("[a&&b~~c]", &["&", "~", "a", "b"], &["x"]),
            ("[a-]", &["a", "-"], &["b"]),
            ("[--0]", &["-", ".", "0"], &["/", "1"]),
            ("a[+-9]b", &["a+b", "a.b", "a9b"], &["a/b", "a:b"]),
            ("a[!+-9]b", &["a:b"], &["a/b", "a.b"]),
            ("[a-\\c]", &["a", "b", "c"], &["\\", "d"]),
            ("*.{rs,to{m,y}l}", &["a.rs", ".toml", "b.toyl"], &["a.r", "a/b.rs", "a.rs,toml"]),
            ("a,b.+(c)|^$", &["a,b.+(c)|^$"], &["a,bx+(c)|^$"]),
            ("\\*\\[a\\]", &["*[a]"], &["x[a]", "*a"]),
        ];
        for (pattern, fits, others) in cases {
            let compiled = compile(pattern).unwrap_or_else(|error| panic!("{error}"));
            for name in fits {
                assert!(compiled.is_match(name), "{pattern} and {name}");
            }
            for name in others {
                assert!(!compiled.is_match(name), "{pattern} and {name}");
            }
        }
    }

    #[test]
    fn in_names_of_tools_a_slash_is_a_character_like_any_other() {
        let cases: [(&str, &[&str], &[&str]); 7] = [
            ("*", &["bash", "github/delete_repo", "/", "a/b/c"], &[]),
            ("github*", &["github", "github/delete_repo", "github_x/y"], &["gitlab/a", "x/github"]),
            ("*_repo", &["delete_repo", "github/delete_repo"], &["repo"]),
            ("**", &["a", "a/b"], &[]),
            ("a?b", &["a/b", "a_b"], &["ab"]),
            ("a[!x]b", &["a/b", "a_b"], &["axb"]),
            ("{a/*,b}", &["a/b", "a/b/c", "b"], &["a", "c/b"]),
        ];
        for (pattern, fits, others) in cases {
            let compiled = compile_name(pattern).unwrap_or_else(|error| panic!("{error}"));
            assert!(fits.iter().all(|it| compiled.is_match(it)), "{pattern}");
            assert!(!others.iter().any(|it| compiled.is_match(it)), "{pattern}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_told() {
        for pattern in ["a**", "**a/b", "{**}", "{a", "a}", "[a", "[", "[a/b]", "[b-a]", "a\\"] {
            let error = compile(pattern).err();
            assert!(
                error.is_some_and(|it| it.starts_with(&format!("`{pattern}` is no pattern: "))),
                "{pattern}"
            );
        }
    }

    #[test]
    fn what_is_wrong_with_a_pattern_is_said() {
        let alone = "`**` must be alone between slashes, and outside braces";
        let backwards = "it is too long, or a range in it is backwards";
        let cases = [
            ("{a", "a brace is not closed"),
            ("a}", "it closes a brace that is not open"),
            ("{a/**/b,c}", alone),
            ("{a/**", alone),
            ("[c--d]", backwards),
            ("[a-/]", "brackets hold no `/`"),
            ("[\\/]", "brackets hold no `/`"),
            ("[a-", "a bracket is not closed"),
        ];
        for (pattern, why) in cases {
            let error = compile(pattern).expect_err(pattern);
            assert_eq!(error, format!("`{pattern}` is no pattern: {why}"));
        }
    }

    #[test]
    fn an_escaped_text_fits_itself_alone() {
        for text in ["a[1]{b,c}*?\\d", "-!,^$.|()+", "größe"] {
            let compiled = compile(&escape(text)).unwrap_or_else(|error| panic!("{error}"));
            assert!(compiled.is_match(text) && !compiled.is_match("a1b"), "{text}");
        }
    }
}
