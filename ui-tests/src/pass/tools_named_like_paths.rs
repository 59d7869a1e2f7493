// A tool may be called like a crate, a type or a module that generated code uses.
#![deny(warnings, dead_code)]
#![allow(non_snake_case, reason = "the names are the point")]
use toolwright::{Registry, tool};

macro_rules! tools {
    ($($name:ident $handle:ident),* $(,)?) => {
        $(
            /// Does something.
            #[tool(handle = $handle)]
            async fn $name(
                /// With what.
                what: String,
                /// How often.
                often: Option<u8>,
            ) -> String {
                format!("{what}{often:?}")
            }
        )*

        pub(super) fn main() {
            Registry::of([$($handle),*]).expect("sound tools");
        }
    };
}

tools! {
    tokio TOKIO, std STD, core CORE, str STR, String STRING, Box BOX, Option OPTION, serde SERDE,
    toolwright TOOLWRIGHT, linkme LINKME, drop DROP, start START, r#async ASYNC, x X_HANDLE, usize USIZE,
}
