//! The tool that the visitor's browser carries out.

use toolwright::{data, tool};

/// A colour that there is paint of.
#[data]
pub enum Colour {
    Red,
    Green,
    Blue,
}

impl Colour {
    /// All colours: each as it is in JSON, and as the page shows it.
    pub const ALL: [(&str, &str); 3] = [("Red", "red"), ("Green", "green"), ("Blue", "blue")];
}

/// Let the visitor pick a colour.
#[tool(external, effect = read, timeout = "10m", unlinked)]
pub async fn pick_colour(
    /// What the colour is for, as the visitor reads it.
    prompt: String,
) -> Colour;
