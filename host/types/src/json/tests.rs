//! Both sides of each bound.

use super::*;

const POLICY: JsonPolicy = JsonPolicy { max_bytes: 1 << 20, max_depth: 64 };

#[test]
fn integers_keep_their_digits_or_are_refused() {
    for good in ["-9223372036854775808", "18446744073709551615", "0", "-0", "1.8446744073709552e19", "1e308"] {
        assert!(parse_json(good, POLICY).is_ok(), "{good}");
    }
    for bad in
        ["18446744073709551616", "-9223372036854775809", "123456789012345678901234567890", "1e999", "NaN", "01", "+1"]
    {
        assert!(parse_json(bad, POLICY).is_err(), "{bad}");
    }
    assert_eq!(parse_json("\"18446744073709551616\"", POLICY).unwrap(), "18446744073709551616");
}

#[test]
fn depth_is_bounded_from_both_sides() {
    let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert!(parse_json(&nested(64), POLICY).is_ok());
    assert_eq!(parse_json(&nested(65), POLICY), Err(JsonError::TooDeep { limit: 64, observed: 65 }));
    assert!(parse_json(&nested(200_000), POLICY).is_err());
    assert!(parse_json("\"[[[[\\\"[[\"", JsonPolicy { max_depth: 0, ..POLICY }).is_ok());
}

#[test]
fn duplicate_keys_are_refused_at_any_depth() {
    assert!(parse_json(r#"{"a":1,"a":2}"#, POLICY).is_err());
    assert!(parse_json(r#"[{"b":{"a":1,"\u0061":2}}]"#, POLICY).is_err());
    assert!(parse_json(r#"{"a":{"a":1},"b":{"a":1}}"#, POLICY).is_ok());
}

#[test]
fn broken_texts_are_refused() {
    for bad in ["", "{", "[1,]", "{\"a\" 1}", "\"\\ud800\"", "1 2", "\"a", "tru", "\u{feff}1"] {
        assert!(parse_json(bad, POLICY).is_err(), "{bad}");
    }
    assert!(matches!(parse_json("1234", JsonPolicy { max_bytes: 3, ..POLICY }), Err(JsonError::TooLarge { .. })));
}
