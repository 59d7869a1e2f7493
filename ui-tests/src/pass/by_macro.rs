// `macro_rules!` may produce tools, with names, types, docs, options and bodies from fragments.
#![deny(warnings, dead_code)]
use toolwright::{Danger, Registry, ResourceKind, ToolError, data, tool, tools};

macro_rules! getter {
    ($(#[$doc:meta])* $name:ident($service:ty, $key:ident: $input:ty = $default:expr) -> $output:ty $body:block) => {
        $(#[$doc])*
        #[tool(effect = read, danger = grade(&$key), reads(Shelf = $key))]
        async fn $name(
            service: &$service,
            /// Which.
            #[arg(default = $default, example = $default)]
            $key: $input,
            /// How many.
            #[arg(minimum = FEW, maximum = 9)]
            many: u8,
        ) -> $output {
            let _ = (service, many, $key);
            $body
        }
    };
}

macro_rules! plain {
    ($($name:ident: $doc:expr, $why:expr, $length:expr, $example:expr);*) => {$(
        #[doc = $doc]
        #[tool(danger = grade(&what), preview = shown, approval = $why)]
        async fn $name(
            #[doc = $doc]
            #[arg(example = $example, default = $example, length = $length)]
            what: String,
        ) -> Result<String, ToolError> {
            Ok(what)
        }
    )*};
}

macro_rules! service {
    ($type:ident, $method:ident) => {
        #[tools]
        impl $type {
            /// Does it.
            #[tool(danger = grade(&what))]
            async fn $method(
                &self,
                /// What.
                what: String,
            ) -> String {
                what
            }
        }
    };
}

const FEW: u8 = 1;
const MOST: usize = 9;

struct Shelf;

impl ResourceKind for Shelf {
    const LABEL: &'static str = "shelf";
}

#[data]
struct Found;

fn grade(_: &str) -> Danger {
    Danger::Safe
}

fn reason(most: usize) -> Option<&'static str> {
    (most > 9).then_some("It is much.")
}

async fn shown(what: String) -> String {
    what
}

getter! {
    /// Gets a book.
    get_book(Shelf, title: String = String::from("Emma")) -> Option<Found> { Some(Found) }
}
plain! {
    one: "Does one.", "It is one.", 1..=9, "it";
    two: concat!("Does ", "two."), reason(MOST), ..=MOST, String::from("it")
}
service!(Shelf, fetch);

pub(super) fn main() {
    Registry::of([GET_BOOK, ONE, TWO, Shelf::FETCH]).expect("sound tools");
}
