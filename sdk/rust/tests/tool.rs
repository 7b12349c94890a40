//! What `#[tool]` makes of a function: descriptor, inputs, yields, returned values, errors.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail that way")]

use std::collections::HashMap;

use elysia_plugin::testing::{Scenario, Yield, describe, run};
use elysia_plugin::{
    Availability, CitedText, Effects, Object, Output, Tool, ToolError, ToolErrorKind, ToolInput, ToolResult, Value,
    environment, http, json, log, model, object, state, tool,
};

/// How to add.
#[derive(ToolInput, PartialEq, Debug)]
enum Mode {
    /// Exactly.
    Exact,
    #[input(name = "about")]
    Rounded,
}

#[derive(ToolInput, PartialEq, Debug)]
struct Point {
    /// To the right.
    x: f64,
    #[default(1.5)]
    y: f64,
}

/// Adds things up,
/// in one go.
///
/// - first point
/// - second point
#[tool(
    name = "adder",
    title = "Adder",
    effects = "reads",
    idempotent,
    may_end = true,
    status = "Adding…",
    branch = "math",
    after = ["one", "two"],
    examples = ["add it up"],
    annotations("a.b" = { "c": [1] }),
    output_schema = Point::schema()
)]
fn add(
    /// How often.
    #[range(1..=9)]
    count: u8,
    r#type: Mode,
    points: Option<Vec<Point>>,
    #[default("metre")] unit: String,
    weights: Option<HashMap<String, f32>>,
    extra: Option<Value>,
) -> Object {
    object! {
        "count": count, "exact": r#type == Mode::Exact, "unit": unit, "points": points.map(|p| p.len()),
        "weights": weights.map(|w| w.len()), "extra": extra,
    }
}

#[test]
fn the_descriptor_says_what_the_function_says() {
    let descriptor = describe::<add>();
    assert_eq!(descriptor.name, "adder");
    assert_eq!(descriptor.description, "Adds things up, in one go.\n\n- first point\n- second point");
    assert_eq!(descriptor.effects, Effects::Reads);
    assert!(descriptor.idempotent && descriptor.may_end && !descriptor.checks_availability);
    assert_eq!(
        descriptor.placement.map(|p| (p.branch, p.after)),
        Some((Some("math".into()), vec!["one".into(), "two".into()]))
    );
    assert_eq!(descriptor.annotations, [("a.b".to_owned(), json!({"c": [1]}))]);
    let schema = descriptor.input_schema;
    assert_eq!(schema["required"], json!(["count", "type"]));
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(
        schema["properties"]["count"],
        json!({"type": "integer", "minimum": 1, "maximum": 9, "description": "How often."})
    );
    assert_eq!(
        schema["properties"]["type"],
        json!({"type": "string", "enum": ["exact", "about"], "description": "How to add. `exact`: Exactly."})
    );
    assert_eq!(schema["properties"]["unit"], json!({"type": "string", "default": "metre"}));
    assert_eq!(schema["properties"]["points"]["type"], json!(["array", "null"]));
    assert_eq!(schema["properties"]["points"]["items"]["properties"]["y"]["default"], 1.5);
}

#[test]
fn inputs_are_read_with_defaults() {
    let run =
        run::<add>(json!({"count": 2.0, "type": "about", "points": [{"x": 1}], "weights": {"a": 1}, "extra": [null]}));
    let wanted = json!({"count": 2, "exact": false, "unit": "metre", "points": 1, "weights": 1, "extra": [null]});
    assert_eq!(run.values(), [wanted]);
    assert_eq!(run.results()[0].metadata["tool_name"], "adder");
}

#[test]
fn wrong_inputs_are_told_where() {
    let cases = [
        (json!({}), "inputs/count: required and missing"),
        (json!({"count": 10, "type": "exact"}), "inputs/count: want a number from 1 to 9, got 10"),
        (json!({"count": 1, "type": "no"}), "inputs/type: want one of `exact`, `about`, got \"no\""),
        (json!({"count": 1, "type": "exact", "points": [{"y": 1}]}), "inputs/points/0/x: required and missing"),
        (
            json!({"count": 1, "type": "exact", "nope": 1}),
            "inputs/nope: unknown, there are `count`, `type`, `points`, `unit`, `weights`, `extra`",
        ),
        (json!([1]), "want an object, got a list of 1"),
    ];
    for (inputs, wanted) in cases {
        let run = run::<add>(inputs);
        let error = run.error().unwrap();
        assert_eq!((error.kind, error.feedback.as_str()), (ToolErrorKind::InvalidInputs, wanted));
    }
}

#[test]
fn the_function_can_still_be_called() {
    assert_eq!(add(1, Mode::Exact, None, "m".into(), None, None)["count"], 1);
}

/// Says everything.
#[tool]
fn everything(out: &mut Output) -> Result<(), ToolError> {
    out.status("s");
    out.progress(1, 2);
    out.warning("w");
    let references =
        out.result(ToolResult::new([object! { "a": 1 }]).name("n").payload_type("p").map("f", "a").display(false))?;
    let read: Option<Object> = environment::object(&references[0])?;
    out.cited_text("", [CitedText::new(format!("{}", read.unwrap()["a"]), references)]);
    log::info!("{} line", 1);
    Ok(())
}

#[test]
fn yields_arrive_in_order() {
    let run = run::<everything>(json!({}));
    assert_eq!(run.returned, Ok(None));
    assert!(matches!(&run.yields[0], Yield::Status(text) if text == "s"));
    assert!(matches!(&run.yields[1], Yield::Progress(1, 2)));
    assert_eq!(run.warnings(), ["w"]);
    let result = run.results()[0];
    assert_eq!((result.name.as_str(), result.payload_type.as_str(), result.display), ("n", "p", false));
    assert_eq!(result.objects[0]["_REF_ID"], "everything_n_0_0");
    let Yield::CitedText { title, paragraphs } = &run.yields[4] else { panic!("{:?}", run.yields) };
    assert_eq!((title, paragraphs[0].ref_ids[0].as_str()), (&None, "everything_n_0_0"));
    assert_eq!(run.log[0].1, "1 line");
}

macro_rules! returning {
    ($($name:ident: $ty:ty = $value:expr => $json:expr;)*) => {
        $(
            /// Returns.
            #[tool]
            fn $name() -> $ty {
                $value
            }
        )*

        #[test]
        fn returned_values_become_json() {
            $(assert_eq!(run::<$name>(json!({})).returned, Ok($json), stringify!($name));)*
        }
    };
}

returning! {
    returns_str: &'static str = "x" => Some(json!("x"));
    returns_unit: () = () => None;
    returns_number: f64 = 1.5 => Some(json!(1.5));
    returns_none: Option<i64> = None => None;
    returns_some: Option<Vec<Object>> = Some(vec![]) => Some(json!([]));
    returns_ok: Result<bool, ToolError> = Ok(true) => Some(json!(true));
    returns_text_error: Result<u8, String> = Ok(3) => Some(json!(3));
}

/// Fails on its way.
#[tool]
fn parses(text: String) -> Result<i64, ToolError> {
    Ok(text.parse::<i64>()?)
}

/// Refuses to be yielded.
#[tool]
fn yields_numbers(out: &mut Output) -> Result<(), ToolError> {
    out.result(ToolResult::new([1, 2])).map(drop)
}

#[test]
fn errors_keep_their_kind() {
    assert_eq!(run::<parses>(json!({"text": "x"})).error().map(|e| e.kind), Some(ToolErrorKind::InvalidInputs));
    let run = run::<yields_numbers>(json!({}));
    assert_eq!(run.error().unwrap().feedback, "object 0 of a result must be a JSON object, not 1");
    assert!(run.yields.is_empty());
}

fn is_open() -> Result<(), String> {
    match state::get::<bool>("open").map_err(|e| e.to_string())? {
        Some(true) => Ok(()),
        _ => Err("open it".to_owned()),
    }
}

fn wants() -> Option<Value> {
    elysia_plugin::conversation::prompt().contains("now").then(|| json!({"n": 1}))
}

/// Guarded.
#[tool(available = is_open, run_if_true = wants)]
fn guarded(n: i64) -> Result<i64, ToolError> {
    state::set("n", &n)?;
    Ok(n)
}

#[test]
fn availability_and_state_follow_the_scenario() {
    let mut closed = Scenario::new();
    assert_eq!(closed.available::<guarded>(), Availability::no("open it"));
    assert_eq!(closed.run_if_true::<guarded>(), None);
    let mut open = Scenario::new().state("open", &json!(true)).prompt("now");
    assert_eq!(open.available::<guarded>(), Availability::yes());
    let inputs = open.run_if_true::<guarded>().unwrap();
    open.run::<guarded>(inputs);
    assert_eq!(open.kept("n"), Some(json!(1)));
    assert!(guarded {}.descriptor().runs_unchosen);
}

/// Reaches out.
#[tool]
fn reaches() -> Result<String, ToolError> {
    let page = http::fetch(http::Request::get("https://example.com"))?.success()?;
    let reply = model::complete(model::Request::new(page.text()?))?;
    Ok(reply.text)
}

#[test]
fn servers_and_models_can_be_played() {
    assert_eq!(run::<reaches>(json!({})).error().map(|e| e.kind), Some(ToolErrorKind::Denied));
    let run = Scenario::new()
        .server(|_| Ok(http::Response { status: 200, headers: vec![], body: b"page".to_vec() }))
        .model(|request| {
            Ok(model::Reply { text: request.messages[0].text.to_uppercase(), input_tokens: 1, output_tokens: 1 })
        })
        .run::<reaches>(json!({}));
    assert_eq!(run.text(), "PAGE");
}
