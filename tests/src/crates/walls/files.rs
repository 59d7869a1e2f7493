//! Which file of a crate uses which, read off the paths in them. What a file only passes on (`mod`, `pub use`) is no use
//! of its own: a path through a re-export leads to the file where the item is defined.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{File, Item, UseTree, Visibility};

/// The place of a module below the root of its crate.
type Module = Vec<String>;

/// The files of one crate.
pub struct Files {
    uses: BTreeMap<Module, BTreeSet<Module>>,
    /// Each file with a name that it has from the root of the crate.
    through_root: Vec<(Module, String)>,
}

/// What is read of one file.
#[derive(Default)]
struct Read {
    /// Paths as written, from the module itself or from `crate`.
    paths: Vec<Vec<String>>,
    /// Names that are passed on, and what they stand for.
    passed_on: BTreeMap<String, Vec<String>>,
}

impl Files {
    pub fn of(root: &Path) -> Self {
        let mut texts = Vec::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|it| it == "rs") {
                    let name = path.strip_prefix(root).expect("below the root").with_extension("");
                    let text = std::fs::read_to_string(&path).expect("text");
                    texts.push((name.to_str().expect("a name").to_owned(), text));
                }
            }
        }
        let texts: Vec<_> =
            texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        Self::of_texts(&texts)
    }

    pub fn of_texts(texts: &[(&str, &str)]) -> Self {
        let read: BTreeMap<Module, Read> = texts
            .iter()
            .map(|(name, text)| {
                let module = match *name {
                    "lib" => Vec::new(),
                    name => name.split('/').map(str::to_owned).collect(),
                };
                let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{name}: {error}"));
                (module, Read::of(&file))
            })
            .collect();
        let uses = read
            .iter()
            .map(|(module, file)| {
                let targets = file.paths.iter().filter_map(|path| {
                    let target = defining(&read, &absolute(&read, module, path)?, 0)?;
                    (target != *module).then_some(target)
                });
                (module.clone(), targets.collect())
            })
            .collect();
        let through_root = read
            .iter()
            .filter(|(module, _)| !module.is_empty())
            .flat_map(|(module, file)| {
                let names = file.paths.iter().filter_map(|path| absolute(&read, module, path));
                let names = names.filter_map(|path| path.first().cloned());
                let is_passed_on = |it: &String| !read.contains_key(std::slice::from_ref(it));
                names.filter(is_passed_on).map(|name| (module.clone(), name)).collect::<Vec<_>>()
            })
            .collect();
        Self { uses, through_root }
    }

    /// Which file uses which, from a file to one that it uses. The root of the crate is the empty name.
    pub fn arrows(&self) -> impl Iterator<Item = (String, String)> {
        self.uses
            .iter()
            .flat_map(|(from, targets)| targets.iter().map(|to| (from.join("/"), to.join("/"))))
    }

    /// The files with a path that leads through what the root of the crate passes on.
    pub fn through_root(&self) -> impl Iterator<Item = (String, String)> {
        self.through_root.iter().map(|(from, name)| (from.join("/"), name.clone()))
    }

    /// Every set of files each of which leads to every other, the largest first.
    pub fn cycles(&self) -> Vec<Vec<String>> {
        let reached: BTreeMap<&Module, BTreeSet<&Module>> =
            self.uses.keys().map(|module| (module, self.reached_from(module))).collect();
        let mut cycles: BTreeSet<Vec<String>> = BTreeSet::new();
        for (module, below) in &reached {
            let cycle: Vec<String> = below
                .iter()
                .filter(|other| reached.get(**other).is_some_and(|back| back.contains(*module)))
                .map(|module| module.join("/"))
                .collect();
            if cycle.len() > 1 {
                cycles.insert(cycle);
            }
        }
        let mut cycles: Vec<Vec<String>> = cycles.into_iter().collect();
        cycles.sort_by_key(|cycle| std::cmp::Reverse(cycle.len()));
        cycles
    }

    fn reached_from<'a>(&'a self, module: &'a Module) -> BTreeSet<&'a Module> {
        let mut reached = BTreeSet::new();
        let mut open = vec![module];
        while let Some(next) = open.pop() {
            for target in self.uses.get(next).into_iter().flatten() {
                if reached.insert(target) {
                    open.push(target);
                }
            }
        }
        reached
    }
}

/// A path from the root of the crate, where it is one into this crate.
fn absolute(read: &BTreeMap<Module, Read>, module: &Module, path: &[String]) -> Option<Module> {
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some([module, rest].concat()),
        "super" => {
            let (_, above) = module.split_last()?;
            absolute(read, &above.to_vec(), &[&["self".to_owned()], rest].concat())
                .and_then(|path| flattened(&path))
        }
        _ => {
            let below = [module, &path[..1]].concat();
            read.contains_key(&below).then(|| [module, path].concat())
        }
    }
}

/// The path without `super` inside it.
fn flattened(path: &[String]) -> Option<Module> {
    let mut flat: Module = Vec::new();
    for segment in path {
        match segment.as_str() {
            "super" => drop(flat.pop()?),
            _ => flat.push(segment.clone()),
        }
    }
    Some(flat)
}

/// The file in which what a path names is defined.
fn defining(read: &BTreeMap<Module, Read>, path: &[String], depth: usize) -> Option<Module> {
    if depth > 12 {
        return None;
    }
    let length = (0..=path.len()).rev().find(|length| read.contains_key(&path[..*length]))?;
    let module = path[..length].to_vec();
    let passed_on = path.get(length).and_then(|name| read[&module].passed_on.get(name));
    let further = passed_on.and_then(|target| {
        let target = absolute(read, &module, target)?;
        defining(read, &[&target, &path[length + 1..]].concat(), depth + 1)
    });
    Some(further.unwrap_or(module))
}

impl Read {
    fn of(file: &File) -> Self {
        let mut read = Self::default();
        for item in &file.items {
            read.item(item);
        }
        read
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Use(used) => {
                let passes_on = !matches!(used.vis, Visibility::Inherited);
                self.tree(&used.tree, &mut Vec::new(), passes_on);
            }
            // Tests may use everything.
            Item::Mod(module) if module.ident == "tests" => {}
            other => {
                let mut paths = Paths(Vec::new());
                paths.visit_item(other);
                self.paths.append(&mut paths.0);
            }
        }
    }

    fn tree(&mut self, tree: &UseTree, before: &mut Vec<String>, passes_on: bool) {
        let (name, alias) = match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.tree(&path.tree, before, passes_on);
                before.pop();
                return;
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.tree(tree, before, passes_on));
                return;
            }
            UseTree::Name(name) => (name.ident.to_string(), name.ident.to_string()),
            UseTree::Rename(rename) => (rename.ident.to_string(), rename.rename.to_string()),
            UseTree::Glob(_) => ("*".to_owned(), "*".to_owned()),
        };
        let mut path = before.clone();
        if name != "self" && name != "*" {
            path.push(name);
        }
        if passes_on {
            self.passed_on.insert(alias, path);
        } else {
            self.paths.push(path);
        }
    }
}

/// Paths inside items: calls, types, patterns.
struct Paths(Vec<Vec<String>>);

impl<'ast> Visit<'ast> for Paths {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|it| it.ident.to_string()).collect();
        if segments.len() > 1 {
            self.0.push(segments);
        }
        visit::visit_path(self, path);
    }
}
