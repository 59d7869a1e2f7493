//! Recognizes flags among the arguments of a program, in the spellings that programs accept.

/// Returns whether an argument is a flag. `-` means standard input, and `--` ends the flags, so neither is one.
pub(super) fn is_flag(argument: &str) -> bool {
    argument.starts_with('-') && argument != "-" && argument != "--"
}

/// Returns whether an argument has this letter after a single dash, alone or among other letters.
pub(super) fn has_letter(argument: &str, letter: char) -> bool {
    argument.strip_prefix('-').is_some_and(|it| !it.starts_with('-') && it.contains(letter))
}

/// Returns whether an argument is this flag: alone, with a value after `=`, abbreviated (`--forc`), or as a letter
/// among others (`-uf`). After a letter that takes a value, the rest of the argument is the value.
pub(super) fn is_meant(argument: &str, flag: &str, value_flags: &[String]) -> bool {
    let (name, _value) = argument.split_once('=').unwrap_or((argument, ""));
    if argument == flag || name == flag {
        return true;
    }
    if flag.starts_with("--") {
        // Programs accept abbreviated long flags.
        return name.len() > 3 && name.starts_with("--") && flag.starts_with(name);
    }
    let Some(letter) = flag.strip_prefix('-').filter(|it| it.chars().count() == 1) else {
        return false;
    };
    let Some(letters) = argument.strip_prefix('-').filter(|it| !it.starts_with('-')) else {
        return false;
    };
    for given in letters.chars() {
        if letter.starts_with(given) {
            return true;
        }
        let takes_value = |it: &String| {
            it.strip_prefix('-').is_some_and(|it| it.len() == 1 && it.starts_with(given))
        };
        if !given.is_ascii_alphanumeric() || value_flags.iter().any(takes_value) {
            return false;
        }
    }
    false
}

/// Returns the values of a flag. A value follows `=` or the flag's letter, or is the next argument. Other letters may
/// precede the flag's letter: `-sSLo FILE`.
pub(super) fn values<'c>(
    arguments: &[Option<&'c str>],
    flag: &str,
    value_flags: &[String],
) -> Vec<&'c str> {
    let mut values = Vec::new();
    for (at, argument) in arguments.iter().enumerate() {
        let Some(argument) = argument.filter(|it| is_meant(it, flag, value_flags)) else {
            continue;
        };
        let letter = flag.strip_prefix('-').and_then(|it| it.chars().next());
        let behind = match (flag.starts_with("--"), argument.split_once('=')) {
            (true, Some((_, value))) => value,
            (true, None) => "",
            (false, _) if argument.starts_with(flag) => {
                let rest = &argument[flag.len()..];
                rest.strip_prefix('=').unwrap_or(rest)
            }
            (false, _) => {
                letter.and_then(|letter| argument.split_once(letter)).map_or("", |(_, value)| value)
            }
        };
        match behind {
            "" => values.extend(arguments.get(at + 1).copied().flatten()),
            value => values.push(value),
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_found_in_each_spelling_and_not_in_the_value_of_another() {
        let values = ["-n".to_owned()];
        for there in ["-i", "-i.bak", "-ni", "-Ei"] {
            let expected = there != "-ni";
            assert_eq!(is_meant(there, "-i", &values), expected, "{there}");
        }
        assert!(is_meant("--in-place=.bak", "--in-place", &values));
        assert!(is_meant("--in-pl", "--in-place", &values));
        assert!(!is_meant("--i", "--in-place", &values));
        assert!(!is_meant("-delete", "-delegate", &values));
        assert!(is_meant("-delete", "-delete", &values));
    }

    #[test]
    fn the_value_of_a_flag_stands_in_each_place_that_programs_take_it_from() {
        for line in
            ["-o x", "-ox", "-o=x", "-sSo x", "-sSox", "--output x", "--output=x", "--out x"]
        {
            let arguments: Vec<_> = line.split(' ').map(Some).collect();
            let all = ["-o", "--output"].map(|flag| values(&arguments, flag, &[]));
            assert_eq!(all.concat(), ["x"], "{line}");
        }
    }
}
