//! Mistakes in using the macros, and what the compiler says about them. `TRYBUILD=overwrite` rewrites the answers.

#[test]
fn mistakes_are_explained_where_they_are_made() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
