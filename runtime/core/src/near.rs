//! Finds known names that are similar to a misspelt name.

/// Returns up to three names that are similar to `written`, the most similar name first.
pub fn near<'a>(written: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut close: Vec<(f64, &str)> = names
        .map(|name| (strsim::jaro_winkler(&written.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .collect();
    close.sort_by(|(one, first), (other, second)| {
        other.total_cmp(one).then_with(|| first.cmp(second))
    });
    close.into_iter().take(3).map(|(_, name)| name).collect()
}
