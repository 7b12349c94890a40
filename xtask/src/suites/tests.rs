//! The closing lines of libtest, libtest-mimic and cargo, as they print them.

use super::{Tally, runner_named};

#[test]
fn closing_lines_are_counted() {
    let line = "test result: FAILED. 12 passed; 1 failed; 2 ignored; 0 measured; 3 filtered out; finished in 0.02s\n";
    assert_eq!(Tally::read(line), Some(Tally { passed: 12, failed: 1, ignored: 2 }));
    assert_eq!(Tally::read("test result: ok. 1 passed; 0 failed\n"), Some(Tally { passed: 1, failed: 0, ignored: 0 }));
    assert_eq!(Tally::read("test a::result: ok ... ok"), None);
}

#[test]
fn runners_are_named_by_crate_and_source() {
    let named = |line| runner_named(line).unwrap();
    assert_eq!(
        named("     Running unittests src/lib.rs (target/debug/deps/elysia_types-0a1b)"),
        "elysia_types src/lib.rs"
    );
    assert_eq!(named("     Running suite/main.rs (target/debug/deps/suite-77aa)\n"), "suite suite/main.rs");
    assert_eq!(named("   Doc-tests elysia_host"), "elysia_host doc tests");
    assert_eq!(runner_named("running 3 tests"), None);
}
