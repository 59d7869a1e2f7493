//! Toolwright: the registry's listing, which the request embeds as text.

use anyhow::Result;
use toolwright::Registry;
use toolwright::dialect::Dialect;

use super::{TOOLS, write_request};
use crate::thousand;

pub struct Ours {
    registry: Registry,
}

impl Ours {
    /// Makes a registry that has no listing yet.
    pub fn new() -> Result<Self> {
        Ok(Self { registry: Registry::of(thousand::handles(TOOLS))? })
    }

    pub fn write(&self, buffer: &mut Vec<u8>) -> Result<()> {
        write_request(self.registry.listing(Dialect::Anthropic)?.tools(), buffer)
    }
}
