//! Finds known names that are similar to a misspelt name.

/// The maximum length in bytes of a name that is compared, because each comparison takes time quadratic in the lengths.
const LONGEST: usize = 200;

/// Returns up to three names that are similar to `written`, the most similar name first. A very long name is similar to
/// none.
pub fn near<'a>(written: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    if written.len() > LONGEST {
        return Vec::new();
    }
    let written = written.to_lowercase();
    let mut close: Vec<(f64, &str)> = names
        .filter(|name| name.len() <= LONGEST)
        .map(|name| (strsim::jaro_winkler(&written, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .collect();
    close.sort_by(|(one, first), (other, second)| {
        other.total_cmp(one).then_with(|| first.cmp(second))
    });
    close.into_iter().take(3).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_megabytes_is_compared_with_no_name() {
        let long = "p".repeat(16 << 20);
        let names = std::iter::repeat_n("properties", 1_000).chain([long.as_str()]);
        assert!(near(&long, names.clone()).is_empty());
        assert_eq!(near("propertes", names).first(), Some(&"properties"));
    }
}
