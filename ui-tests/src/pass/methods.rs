// Methods may be conditional, public or not, take nothing, and stand beside what is no tool.
#![deny(warnings, dead_code)]
#![expect(clippy::non_minimal_cfg, reason = "a condition that always holds is the point")]
use toolwright::{Closing, Danger, Handle, Registry, Resource, ToolError, tools};

pub struct Tickets;

impl Resource for Tickets {
    async fn close(self, _: Closing) -> Result<(), ToolError> {
        Ok(())
    }
}

#[tools(group = "ticket", tags("office"))]
impl Tickets {
    /// Counts.
    #[tool(effect = read)]
    pub async fn count(&self) -> usize {
        Self::helper()
    }

    /// Is never there.
    #[cfg(any())]
    #[tool]
    async fn gone(&self, missing: NoSuchType) {}

    /// Is always there.
    #[cfg(all())]
    #[tool(tags("quick"), danger = Self::grade(id), preview = Self::shown)]
    async fn there(
        &self,
        /// Which.
        #[arg(default = Self::FIRST, minimum = Self::FIRST, example = vec![Self::FIRST][0])]
        id: u64,
    ) -> u64 {
        id + Self::FIRST
    }

    /// Closes.
    #[tool]
    async fn close_one(&mut self) {}

    /// Has no service.
    #[tool(blocking)]
    fn version() -> &'static str {
        "1"
    }

    const FIRST: u64 = 1;

    fn helper() -> usize {
        2
    }

    async fn shown(&self, id: u64) -> String {
        format!("{id}")
    }

    fn grade(id: u64) -> Danger {
        if id > Self::FIRST { Danger::Moderate } else { Danger::Safe }
    }
}

pub struct Shelf<T>(T);

// With arguments, too, it is one type.
#[tools]
impl Shelf<u8> {
    /// Takes one.
    #[tool(effect = read)]
    async fn take(
        &self,
        /// Which.
        #[arg(default = Self::FIRST.0)]
        which: u8,
    ) -> u8 {
        which + self.0
    }

    const FIRST: Self = Shelf(1);
}

pub(super) fn main() {
    Registry::of([Tickets::COUNT, Tickets::THERE, Tickets::CLOSE_ONE, Tickets::VERSION])
        .expect("sound tools");
    Registry::of([Shelf::<u8>::TAKE]).expect("a sound tool");
    let is_linked = |name| Handle::linked().any(|tool| tool.name() == name);
    assert!(is_linked("count") && !is_linked("gone"));
}
