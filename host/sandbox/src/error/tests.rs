//! What suggestions look like.

use super::*;

#[test]
fn a_raised_size_is_the_next_power_of_two() {
    assert_eq!(raised(1), "1KiB");
    assert_eq!(raised(1024 * 1024), "1MiB");
    assert_eq!(raised(1024 * 1024 + 1), "2MiB");
    assert_eq!(raised(3 << 30), "4GiB");
}

#[test]
fn a_name_that_is_no_bare_key_is_quoted() {
    let plugin = |name: &str| name.parse().expect("a name");
    assert!(raise_with(&plugin("web-fetch"), "cpu = \"20s\"").contains("`[grants.web-fetch]`"));
    assert!(raise_with(&plugin("my plugin"), "cpu = \"20s\"").contains("`[grants.\"my plugin\"]`"));
}
