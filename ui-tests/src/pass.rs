//! Compiles what is legal as modules of this one program, because a program of its own for each costs 50 MB and several seconds.

/// Declares each case as a module, and the test that runs its `main`.
macro_rules! legal {
    ($($case:ident,)*) => {
        $(mod $case;)*

        $(#[test]
        fn $case() {
            $case::main();
        })*

        #[test]
        fn every_case_of_the_folder_is_listed() {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/pass");
            let listed = [$(concat!(stringify!($case), ".rs")),*];
            for file in std::fs::read_dir(folder).unwrap() {
                let name = file.unwrap().file_name().into_string().unwrap();
                assert!(listed.contains(&name.as_str()), "{name} is missing in the list of src/pass.rs");
            }
        }
    };
}

legal! {
    borrowed_with_lifetimes,
    by_macro,
    companions,
    data_fields,
    deprecated,
    expressions,
    external,
    lifetimes,
    methods,
    parameters,
    places,
    results,
    results_beside_containers,
    shadowed_names,
    strict_lints,
    tools_named_like_paths,
    traits_behind_services,
    unlinked,
    whole_input,
}
