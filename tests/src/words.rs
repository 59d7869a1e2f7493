//! Counts what makes product code hard to read at the first reading. Each figure has a limit, which only falls: who improves
//! one lowers its limit here.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Ident, Item, Lit, Meta, Signature, Type, Visibility};

/// The folders of product code.
const PRODUCT: [&str; 4] = ["macros", "runtime", "command", "extensions"];

/// Words that name no actor or no action.
const VAGUE: [&str; 5] = ["nobody", "somebody", "whoever", "told", "stands"];

/// How docs begin that have no verb, and docs that are about a thing and not about an act.
const WITHOUT_VERB: [&str; 31] = [
    "What",
    "Whether",
    "How",
    "Where",
    "Of",
    "When",
    "Who",
    "Which",
    "Why",
    "That",
    "If",
    "As",
    "So",
    "In",
    "On",
    "By",
    "For",
    "With",
    "To",
    "From",
    "One",
    "Nothing",
    "Nobody",
    "Everything",
    "More",
    "Not",
    "Every",
    "Each",
    "At",
    "Until",
    "Than",
];
const NOUN: [&str; 9] = ["The", "A", "An", "Its", "Their", "All", "This", "These", "Those"];

/// Participles that do not end in `ed`.
const PARTICIPLES: [&str; 38] = [
    "told", "kept", "said", "made", "begun", "spoken", "taken", "driven", "held", "found", "left",
    "gone", "given", "known", "shown", "seen", "written", "read", "sent", "built", "brought",
    "thrown", "chosen", "broken", "heard", "met", "run", "put", "set", "done", "won", "lost",
    "meant", "drawn", "paid", "sought", "bound", "spent",
];

/// Participles that are the imperative of their verb as well.
const IMPERATIVES: [&str; 4] = ["read", "run", "put", "set"];

/// Functions that act and may be called by a participle: tokio has `cancelled`, and `happened` states a fact as `did_not_happen`
/// does.
const ALLOWED: [&str; 2] = ["cancelled", "happened"];

/// The limits, in tenths of a percent; the last two are counts. Each is a little above what was reached last.
const LIMITS: [(&str, u32); 6] = [
    ("docs of public functions that open without a verb", 10),
    ("docs of public functions that open with a noun", 10),
    ("functions that are called by a lone participle", 64),
    ("types that are called by a lone participle", 13),
    ("vague words", 1),
    ("functions that are async or take `&mut self`, called by a lone participle", 0),
];

/// How far a figure may fall before its limit has to follow: a twentieth of the limit and this.
const SLACK: u32 = 10;

/// What was counted in the files of one crate.
#[derive(Default)]
struct Count {
    documented: u32,
    without_verb: u32,
    noun: u32,
    functions: u32,
    participle_functions: u32,
    types: u32,
    participle_types: u32,
    vague: u32,
    acting: Vec<String>,
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.documented += other.documented;
        self.without_verb += other.without_verb;
        self.noun += other.noun;
        self.functions += other.functions;
        self.participle_functions += other.participle_functions;
        self.types += other.types;
        self.participle_types += other.participle_types;
        self.vague += other.vague;
        self.acting.extend_from_slice(&other.acting);
    }

    /// The figures in the order of [`LIMITS`].
    fn figures(&self) -> [u32; 6] {
        let share = |part: u32, whole: u32| part * 1000 / whole.max(1);
        [
            share(self.without_verb, self.documented),
            share(self.noun, self.documented),
            share(self.participle_functions, self.functions),
            share(self.participle_types, self.types),
            self.vague,
            self.acting.len().try_into().unwrap(),
        ]
    }

    fn function(&mut self, public: bool, attributes: &[Attribute], signature: &Signature) {
        self.functions += 1;
        self.participle_functions += u32::from(is_participle(&signature.ident));
        let Some(docs) = first_line(attributes).filter(|_| public) else { return };
        let first = docs.split(|it: char| !it.is_alphabetic()).next().unwrap_or_default();
        self.documented += 1;
        self.without_verb += u32::from(WITHOUT_VERB.contains(&first));
        self.noun += u32::from(NOUN.contains(&first));
    }

    /// Notes a function whose name says that something was done and that does it. An implementation has the name of its trait.
    fn note_acting(&mut self, signature: &Signature) {
        let name = signature.ident.to_string();
        let changes = signature
            .receiver()
            .is_some_and(|it| matches!(it.kind, syn::ReceiverKind::Reference(_, _, Some(_))));
        let may = IMPERATIVES.contains(&&*name) || ALLOWED.contains(&&*name);
        if (changes || signature.asyncness.is_some()) && is_participle(&signature.ident) && !may {
            self.acting.push(name);
        }
    }

    fn declare(&mut self, name: &Ident) {
        self.types += 1;
        self.participle_types += u32::from(is_participle(name));
    }
}

impl<'ast> Visit<'ast> for Count {
    fn visit_item_mod(&mut self, it: &'ast syn::ItemMod) {
        if !is_test(&it.attrs) {
            visit::visit_item_mod(self, it);
        }
    }

    fn visit_item_impl(&mut self, it: &'ast syn::ItemImpl) {
        if it.trait_.is_none() {
            let functions = it.items.iter().filter_map(|item| match item {
                syn::ImplItem::Fn(function) => Some(&function.sig),
                _ => None,
            });
            functions.for_each(|signature| self.note_acting(signature));
        }
        visit::visit_item_impl(self, it);
    }

    fn visit_item_fn(&mut self, it: &'ast syn::ItemFn) {
        self.note_acting(&it.sig);
        self.function(is_public(&it.vis), &it.attrs, &it.sig);
        visit::visit_item_fn(self, it);
    }

    fn visit_impl_item_fn(&mut self, it: &'ast syn::ImplItemFn) {
        self.function(is_public(&it.vis), &it.attrs, &it.sig);
        visit::visit_impl_item_fn(self, it);
    }

    fn visit_trait_item_fn(&mut self, it: &'ast syn::TraitItemFn) {
        self.note_acting(&it.sig);
        self.function(false, &it.attrs, &it.sig);
        visit::visit_trait_item_fn(self, it);
    }

    fn visit_item_struct(&mut self, it: &'ast syn::ItemStruct) {
        self.declare(&it.ident);
    }

    fn visit_item_enum(&mut self, it: &'ast syn::ItemEnum) {
        self.declare(&it.ident);
    }

    fn visit_item_trait(&mut self, it: &'ast syn::ItemTrait) {
        self.declare(&it.ident);
        visit::visit_item_trait(self, it);
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|it| {
        matches!(&it.meta, Meta::List(list) if list.path.is_ident("cfg")
            && list.tokens.to_string().contains("test"))
    })
}

/// Whether the whole name is a participle: `taken`, `Asked`, but not `AskedTwice`.
fn is_participle(name: &Ident) -> bool {
    let name = name.to_string();
    let one_word = !name.contains('_') && !name.chars().skip(1).any(char::is_uppercase);
    let name = name.to_lowercase();
    // The verb `embed` is no participle.
    let is_verb = name == "embed";
    one_word
        && !is_verb
        && (PARTICIPLES.contains(&name.as_str()) || name.len() > 4 && name.ends_with("ed"))
}

fn first_line(attributes: &[Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| {
        let Meta::NameValue(meta) = &attribute.meta else { return None };
        let Expr::Lit(literal) = &meta.value else { return None };
        match &literal.lit {
            Lit::Str(text) if meta.path.is_ident("doc") => Some(text.value().trim().to_owned()),
            _ => None,
        }
    })
}

fn count(text: &str) -> Count {
    let mut count = Count::default();
    count.visit_file(&syn::parse_file(text).unwrap());
    let product = text.split("#[cfg(test)]").next().unwrap_or_default();
    let words = product.split(|it: char| !it.is_alphanumeric() && it != '_');
    count.vague = words.filter(|word| VAGUE.contains(word)).count().try_into().unwrap();
    count
}

/// The Rust files below a folder of product code, without tests and examples.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy();
        if path.is_dir() && !["tests", "examples", "snapshots", "target"].contains(&&*name) {
            files(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

#[test]
fn product_code_gets_no_harder_to_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let mut found = Vec::new();
    PRODUCT.iter().for_each(|folder| files(&root.join(folder), &mut found));
    let (mut crates, mut all) = (BTreeMap::<PathBuf, Count>::new(), Count::default());
    for file in found {
        let text = fs::read_to_string(&file).unwrap();
        let counted = count(&text);
        all.add(&counted);
        let file = file.strip_prefix(&root).unwrap();
        for name in &counted.acting {
            let line = text.lines().position(|line| line.contains(&format!("fn {name}")));
            println!("{}:{}: `{name}` acts", file.display(), line.map_or(0, |it| it + 1));
        }
        let name = file.ancestors().find(|it| it.ends_with("src")).and_then(Path::parent);
        crates.entry(name.unwrap().to_owned()).or_default().add(&counted);
    }
    for (name, counted) in &crates {
        println!("{}: {:?}", name.display(), counted.figures());
    }
    let mut problems = Vec::new();
    for ((name, limit), figure) in LIMITS.into_iter().zip(all.figures()) {
        println!("{name}: {figure}, at most {limit}");
        if figure > limit {
            problems.push(format!("{name}: {figure}, more than {limit}: say it in plain words"));
        } else if figure + limit / 20 + SLACK < limit {
            problems.push(format!("{name}: {figure}, far below {limit}: lower the limit to it"));
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

/// Names the error types of a file whose `Debug` is derived: returned from `main`, they print fields and no sentence.
fn fields_printed(text: &str) -> Vec<String> {
    #[derive(Default)]
    struct Errors {
        /// The types of the file that implement `Error`.
        implementing: Vec<String>,
        printed: Vec<String>,
    }
    impl Errors {
        fn look(&mut self, name: &Ident, visibility: &Visibility, attributes: &[Attribute]) {
            let derives = |trait_name: &str| {
                attributes.iter().any(|it| {
                    matches!(&it.meta, Meta::List(list) if list.path.is_ident("derive")
                        && list.tokens.to_string().split(',').any(|it| it.trim() == trait_name))
                })
            };
            let name = name.to_string();
            let is_error = name.ends_with("Error")
                || derives("thiserror :: Error")
                || self.implementing.contains(&name);
            // What is serialised is a part of a record, which no `main` returns.
            let is_record = derives("Serialize");
            if is_public(visibility) && is_error && !is_record && derives("Debug") {
                self.printed.push(name);
            }
        }
    }
    impl<'ast> Visit<'ast> for Errors {
        fn visit_item_struct(&mut self, it: &'ast syn::ItemStruct) {
            self.look(&it.ident, &it.vis, &it.attrs);
        }
        fn visit_item_enum(&mut self, it: &'ast syn::ItemEnum) {
            self.look(&it.ident, &it.vis, &it.attrs);
        }
    }
    let file = syn::parse_file(text).unwrap();
    let mut errors = Errors::default();
    for item in &file.items {
        if let Item::Impl(it) = item
            && it
                .trait_
                .as_ref()
                .is_some_and(|(path, _)| path.segments.last().is_some_and(|it| it.ident == "Error"))
            && let Type::Path(implementing) = &*it.self_ty
        {
            errors.implementing.extend(implementing.path.get_ident().map(Ident::to_string));
        }
    }
    errors.visit_file(&file);
    errors.printed
}

#[test]
fn an_error_that_main_returns_is_printed_as_a_sentence() {
    assert_eq!(
        fields_printed("#[derive(Clone, Debug)] pub struct OrderError(u8);"),
        ["OrderError"]
    );
    assert_eq!(
        fields_printed("#[derive(Debug, thiserror::Error)] pub enum Stopped { Away }"),
        ["Stopped"]
    );
    assert_eq!(
        fields_printed(
            "#[derive(Debug)] pub struct Refused; impl std::error::Error for Refused {}"
        ),
        ["Refused"]
    );
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let mut found = Vec::new();
    PRODUCT.iter().for_each(|folder| files(&root.join(folder), &mut found));
    let printed = |file: PathBuf| {
        let errors = fields_printed(&fs::read_to_string(&file).unwrap());
        (!errors.is_empty()).then(|| format!("{}: {errors:?}", file.display()))
    };
    let printed: Vec<String> = found.into_iter().filter_map(printed).collect();
    assert!(printed.is_empty(), "use `debug_as_sentence!`: {printed:#?}");
}

#[test]
fn each_measure_sees_what_it_is_for_and_nothing_else() {
    let counted = count(
        "/// What it is.\npub fn taken() {}\n/// The name.\npub fn name() {}\n/// Returns it.\npub fn get() {}\n\
        /// What is private.\nfn inner() {}\nstruct Asked; struct AskedTwice; // nobody\n\
        impl Asked { fn sent(&mut self) {} fn read(&mut self) {} fn held(&self) {} async fn found() {} }\n\
        impl Trait for Asked { fn told(&mut self) {} }\n\
        #[cfg(test)]\nmod tests { fn told() {} struct Kept; }",
    );
    assert_eq!(counted.documented, 3);
    assert_eq!((counted.without_verb, counted.noun), (1, 1));
    assert_eq!((counted.functions, counted.participle_functions), (9, 6));
    assert_eq!((counted.types, counted.participle_types), (2, 1));
    assert_eq!(counted.vague, 2);
    assert_eq!(counted.acting, ["sent", "found"]);
}
