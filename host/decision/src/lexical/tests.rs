//! Small claims about choosing, filling and composing, one each; none from the sets `cargo xtask eval` measures with.

use serde_json::{Map, Value, json};

use super::*;

const NOW: &str = "2026-03-04T10:00:00Z";

/// Inputs for a tool whose parameters are given as `{name: schema}`; names ending in `*` are required.
fn inputs(query: &str, tool: &str, params: Value) -> Value {
    Value::Object(filled(query, tool, params).inputs)
}

fn filled(query: &str, tool: &str, params: Value) -> Filled {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, schema) in params.as_object().unwrap() {
        let bare = name.trim_end_matches('*');
        if bare.len() < name.len() {
            required.push(Value::from(bare));
        }
        properties.insert(bare.to_owned(), schema.clone());
    }
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let (name, description) = tool.split_once(": ").unwrap();
    let candidate = Candidate { name, title: None, description, examples: &[], input_schema: &schema };
    fill(query, &candidate, Some(NOW))
}

macro_rules! fills {
    ($($claim:ident: $query:expr, $tool:expr, $params:tt => $wanted:tt;)*) => {$(
        #[test]
        fn $claim() {
            assert_eq!(inputs($query, $tool, json!($params)), json!($wanted));
        }
    )*};
}

const TWO: &str = "calculate_two_numbers: Adds two numbers";
const CUBOID: &str = "box_volume: Volume of a box";
const TRIP: &str = "plan_trip: Plans a trip between two towns";
const SEARCH: &str = "search_documents: Searches documents";
const TABLE: &str = "aggregate: Aggregates a table";

fills! {
    numbers_fill_in_order: "add 3 and 4", TWO, {"x1*": {"type": "integer"}, "x2*": {"type": "integer"}} => {"x1": 3, "x2": 4};
    a_minus_sign_counts: "add -3 and 4", TWO, {"x1*": {"type": "integer"}, "x2*": {"type": "integer"}} => {"x1": -3, "x2": 4};
    number_words_count: "add seven and twenty-one", TWO, {"x1*": {"type": "integer"}, "x2*": {"type": "integer"}} => {"x1": 7, "x2": 21};
    names_beat_order: "a box with height 2, width 3 and depth 4", CUBOID,
        {"width*": {"type": "number"}, "depth*": {"type": "number"}, "height*": {"type": "number"}} => {"width": 3, "depth": 4, "height": 2};
    names_behind_count: "a box of 2 cm height and 3 cm width", CUBOID,
        {"width*": {"type": "number"}, "height*": {"type": "number"}} => {"width": 3, "height": 2};
    equals_signs_bind: "solve it with b=5 and a = 2", "solve: Solves", {"a*": {"type": "integer"}, "b*": {"type": "integer"}} => {"a": 2, "b": 5};
    thousands_separators: "deposit 1,250,000 dollars", "deposit: Deposits money", {"amount*": {"type": "integer"}} => {"amount": 1_250_000};
    magnitudes: "deposit $2.5 million", "deposit: Deposits money", {"amount*": {"type": "integer"}} => {"amount": 2_500_000};
    percent_is_a_share: "a loan at 5%", "loan: Plans a loan", {"interest_rate*": {"type": "number", "description": "Interest rate as a decimal"}} => {"interest_rate": 0.05};
    percent_stays_where_asked: "a loan at 5%", "loan: Plans a loan", {"interest_rate*": {"type": "number", "description": "Interest rate in percent"}} => {"interest_rate": 5};
    scientific_notation: "a charge of 1.5e-9", "field: Electric field", {"charge*": {"type": "number"}} => {"charge": 1.5e-9};
    units_convert: "a person 180 cm tall", "bmi: Body mass index", {"height*": {"type": "number", "description": "Height in meters"}} => {"height": 1.8};
    units_part_numbers: "70 kg and 1.8 m", "bmi: Body mass index",
        {"height*": {"type": "number", "description": "Height in meters"}, "weight*": {"type": "number", "description": "Weight in kilograms"}} => {"height": 1.8, "weight": 70};
    between_fills_a_pair: "events between 1900 and 1950", "events: Finds events", {"end_year*": {"type": "integer"}, "start_year*": {"type": "integer"}} => {"end_year": 1950, "start_year": 1900};
    bounds_are_kept: "roll 7 dice", "roll: Rolls dice", {"dice": {"type": "integer", "maximum": 6}} => {};
    a_fraction_is_no_integer: "wait 2.5 hours", "wait: Waits", {"hours": {"type": "integer", "description": "Hours to wait"}} => {};
    lists_of_numbers: "the mean of 3, 4 and 5", "mean: Mean of numbers", {"numbers*": {"type": "array", "items": {"type": "number"}}} => {"numbers": [3, 4, 5]};
    bracketed_lists: "sort [3, 1, 2]", "sort: Sorts numbers", {"numbers*": {"type": "array", "items": {"type": "integer"}}} => {"numbers": [3, 1, 2]};
    matrices: "invert [[1, 2], [3, 4]]", "invert: Inverts a matrix",
        {"matrix*": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}} => {"matrix": [[1, 2], [3, 4]]};
    lists_of_quotes: "tag it with 'a b', 'c' and 'd'", "tag: Tags a note", {"tags*": {"type": "array", "items": {"type": "string"}}} => {"tags": ["a b", "c", "d"]};
    enums_by_word: "show the mean price", "stat: Statistics", {"metric*": {"type": "string", "enum": ["count", "mean"]}} => {"metric": "mean"};
    enums_by_synonym: "show the average price", "stat: Statistics", {"metric*": {"type": "string", "enum": ["count", "mean"]}} => {"metric": "mean"};
    enums_in_lists: "with pool and gym", "hotel: Finds hotels", {"amenities": {"type": "array", "items": {"type": "string", "enum": ["gym", "pool", "bar"]}}} => {"amenities": ["pool", "gym"]};
    unsaid_defaults_stay_out: "list the files", "list: Lists files", {"limit": {"type": "integer", "default": 10}} => {};
    flags_are_set: "list them recursively", "list: Lists files", {"recursive": {"type": "boolean"}} => {"recursive": true};
    flags_are_negated: "list them without hidden files", "list: Lists things", {"show_hidden": {"type": "boolean"}} => {"show_hidden": false};
    iso_dates: "weather on 2026-05-06", "weather: Weather", {"date*": {"type": "string", "format": "date"}} => {"date": "2026-05-06"};
    spoken_dates: "weather on May 6th, 2026", "weather: Weather", {"date*": {"type": "string", "format": "date"}} => {"date": "2026-05-06"};
    day_first_dates: "weather on 6 May 2026", "weather: Weather", {"date*": {"type": "string", "format": "date"}} => {"date": "2026-05-06"};
    dates_in_the_wanted_form: "weather on 6 May 2026", "weather: Weather", {"date*": {"type": "string", "description": "MM/DD/YYYY"}} => {"date": "05/06/2026"};
    tomorrow_is_resolved: "weather tomorrow", "weather: Weather", {"date*": {"type": "string", "format": "date"}} => {"date": "2026-03-05"};
    places_follow_prepositions: "the weather in New York", "weather: Weather", {"city*": {"type": "string"}} => {"city": "New York"};
    from_and_to: "a trip to Bonn from Jena", TRIP, {"from*": {"type": "string", "description": "Town to start in"}, "to*": {"type": "string", "description": "Town to arrive in"}} => {"from": "Jena", "to": "Bonn"};
    quotes_are_taken_whole: "translate 'good morning' to French", "translate: Translates text",
        {"text*": {"type": "string"}, "language*": {"type": "string"}} => {"text": "good morning", "language": "French"};
    emails_and_urls: "send https://a.example/x to bob@example.org", "share: Shares a link",
        {"email*": {"type": "string"}, "url*": {"type": "string"}} => {"email": "bob@example.org", "url": "https://a.example/x"};
    ids: "status of order AB-1234", "status: Order status", {"order_id*": {"type": "string"}} => {"order_id": "AB-1234"};
    expressions: "what is 12*(3+4)-5?", "evaluate: Evaluates an expression", {"expression*": {"type": "string"}} => {"expression": "12*(3+4)-5"};
    spoken_expressions: "what is 7 plus 5?", "evaluate: Evaluates an expression", {"expression*": {"type": "string"}} => {"expression": "7 + 5"};
    polynomials: "differentiate 3x^2 + 2x - 1", "derive: Derivative", {"formula*": {"type": "string"}} => {"formula": "3x^2 + 2x - 1"};
    search_texts: "find 5 documents about solar panels", SEARCH, {"query*": {"type": "string"}, "limit": {"type": "integer"}} => {"query": "solar panels", "limit": 5};
    groups_and_fields: "what is the mean price by category in products.csv?", TABLE,
        {"source*": {"type": "string"}, "group_by": {"type": "string"}, "metric*": {"type": "string", "enum": ["count", "sum", "mean"]}, "field": {"type": "string"}}
        => {"source": "products.csv", "group_by": "category", "metric": "mean", "field": "price"};
    which_names_the_group: "which store sold the most?", TABLE,
        {"group_by": {"type": "string"}, "metric*": {"type": "string", "enum": ["count", "sum", "mean"]}} => {"group_by": "store", "metric": "sum"};
    conditions: "rows where age is greater than 25 and job is 'nurse'", "select: Selects rows",
        {"filters*": {"type": "array", "items": {"type": "object", "properties": {"field": {"type": "string"}, "op": {"type": "string", "enum": ["=", ">"]}, "value": {"type": "string"}}}}}
        => {"filters": [{"field": "age", "op": ">", "value": "25"}, {"field": "job", "op": "=", "value": "nurse"}]};
    nested_objects: "a wall of width 4 and height 3", "paint: Paints a wall",
        {"wall*": {"type": "object", "properties": {"width": {"type": "integer"}, "height": {"type": "integer"}}, "required": ["width", "height"]}} => {"wall": {"width": 4, "height": 3}};
    unit_enums_have_sides: "convert 5 miles to km", "convert: Converts a length",
        {"value*": {"type": "number"}, "from*": {"type": "string", "enum": ["km", "mi"]}, "to*": {"type": "string", "enum": ["km", "mi"]}} => {"value": 5, "from": "mi", "to": "km"};
    optional_inputs_take_no_stray_quote: "look up 'rate limits'", SEARCH, {"query*": {"type": "string"}, "collection": {"type": "string"}} => {"query": "rate limits"};
    currencies: "how much is 20 euros in dollars?", "exchange: Converts money",
        {"amount*": {"type": "number"}, "from_currency*": {"type": "string"}, "to_currency*": {"type": "string"}} => {"amount": 20, "from_currency": "EUR", "to_currency": "USD"};
    described_values: "a blitz game", "rating: Player rating", {"variant": {"type": "string", "description": "One of 'classical', 'blitz'"}} => {"variant": "blitz"};
}

#[test]
fn what_is_not_said_is_missing() {
    let found = filled(
        "the weather, please",
        "weather: Weather",
        json!({"city*": {"type": "string"}, "days": {"type": "integer"}}),
    );
    assert_eq!((found.missing, found.inputs.len()), (vec!["city".to_owned()], 0));
}

#[test]
fn nested_missing_fields_have_dots() {
    let wall = json!({"wall*": {"type": "object", "properties": {"width": {"type": "integer"}, "height": {"type": "integer"}}, "required": ["width", "height"]}});
    assert_eq!(filled("a wall of width 4", "paint: Paints a wall", wall).missing, ["wall.height"]);
}

#[test]
fn odd_queries_do_no_harm() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}, "c": {"type": "array", "items": {"type": "number"}}}, "required": ["a", "b", "c"]});
    let tool = Candidate { name: "t", title: None, description: "", examples: &[], input_schema: &schema };
    for query in [
        "",
        " ",
        "'",
        "[",
        "((((",
        "]}",
        "é’s “",
        "1e999",
        "-",
        "$",
        "- 5 -",
        "9999999999999999999999",
        "🦀🦀 'x",
        "a'b'c",
        "of of of",
        "1/0 2:99",
    ] {
        let _ = (fill(query, &tool, None), choose(query, &[tool], &Thresholds::default()));
    }
    let _ = fill(&"7 and ".repeat(5_000), &tool, Some("not a time"));
}

fn tools() -> Vec<(&'static str, &'static str, Value)> {
    let text = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    vec![
        ("getWeather", "Current weather and temperature of a city", text("city")),
        ("convert_currency", "Converts an amount of money from one currency to another", text("amount")),
        ("search_documents", "Searches the document collection", text("query")),
    ]
}

fn decide(query: &str) -> Choice {
    let tools = tools();
    let offers: Vec<Candidate<'_>> = tools
        .iter()
        .map(|t| Candidate { name: t.0, title: None, description: t.1, examples: &[], input_schema: &t.2 })
        .collect();
    choose(query, &offers, &Thresholds::default())
}

fn picked(query: &str) -> Option<usize> {
    match decide(query) {
        Choice::Pick { index, .. } => Some(index),
        _ => None,
    }
}

#[test]
fn the_tool_meant_is_picked() {
    assert_eq!(picked("what is the weather in Paris?"), Some(0));
    assert_eq!(picked("search the documents for solar panels"), Some(2));
}

#[test]
fn sums_without_words_find_their_tool() {
    let number = json!({"type": "integer"});
    let schema = json!({"type": "object", "properties": {"x1": number, "x2": number}, "required": ["x1", "x2"]});
    let tool = Candidate {
        name: "calculate_two_numbers",
        title: None,
        description: "Adds two numbers",
        examples: &[],
        input_schema: &schema,
    };
    for query in ["what is 3 + 4?", "3 and 4", "What is the sum of 3 and 4?"] {
        assert!(matches!(choose(query, &[tool], &Thresholds::default()), Choice::Pick { index: 0, .. }), "{query}");
    }
}

#[test]
fn nothing_fitting_is_impossible() {
    assert_eq!(decide("who painted this ceiling?"), Choice::Impossible);
    assert_eq!(choose("anything", &[], &Thresholds::default()), Choice::Impossible);
}

#[test]
fn twins_are_ambiguous() {
    let schema = json!({"type": "object", "properties": {}});
    let twin =
        Candidate { name: "list_files", title: None, description: "Lists files", examples: &[], input_schema: &schema };
    assert_eq!(choose("list the files", &[twin, twin], &Thresholds::default()), Choice::Ambiguous(vec![0, 1]));
}

#[test]
fn examples_count() {
    let schema = json!({"type": "object", "properties": {}});
    let example = ["is it going to rain".to_owned()];
    let with = Candidate { name: "b", title: None, description: "Second", examples: &example, input_schema: &schema };
    let without = Candidate { name: "a", title: None, description: "First", examples: &[], input_schema: &schema };
    assert_eq!(rank("will it rain?", &[without, with]).first().map(|r| r.index), Some(1));
}

fn answer(objects: Value, total: usize) -> String {
    let objects: Vec<Map<String, Value>> =
        objects.as_array().unwrap().iter().map(|o| o.as_object().unwrap().clone()).collect();
    compose(&[ResultView { tool: "aggregate", name: "default", objects: &objects, total }], &[])
}

#[test]
fn one_number_has_its_label() {
    assert_eq!(answer(json!([{"sum": 42, "_REF_ID": "x"}]), 1), "aggregate: sum 42");
    assert_eq!(answer(json!([{"tool_result": 2.5}]), 1), "aggregate: 2.5");
}

#[test]
fn one_object_is_lines() {
    assert_eq!(answer(json!([{"name": "Ann", "age": 3}]), 1), "aggregate:\nname: Ann\nage: 3");
}

#[test]
fn many_objects_are_counted() {
    let many: Vec<Value> = (0..40).map(|i| json!({"store": format!("s{i}"), "sum": i})).collect();
    assert_eq!(answer(Value::from(many), 40), "aggregate: 40 found.\n- s0: sum 0\n- s1: sum 1\n- s2: sum 2\n… 37 more");
}

#[test]
fn documents_are_title_and_snippet() {
    let text = answer(json!([{"title": "Sun", "content": "light ".repeat(100)}]), 1);
    assert!(text.starts_with("aggregate: Sun: light light") && text.ends_with('…') && text.len() < 300, "{text}");
}

#[test]
fn nothing_found_and_errors_are_said() {
    assert_eq!(answer(json!([]), 0), "aggregate: nothing was found.");
    assert_eq!(compose(&[], &["no such file".to_owned()]), "This did not work: no such file");
}

#[test]
fn a_condition_needs_a_column_and_a_value() {
    let schema = serde_json::json!({"type": "object", "properties": {
        "where_field": {"type": "string", "description": "Column of the condition, such as `price`"},
        "where_value": {"type": "string", "description": "Value the column must have"}}});
    let tool = Candidate {
        name: "aggregate",
        title: None,
        description: "Averages of a column such as price.",
        examples: &[],
        input_schema: &schema,
    };
    let filled = fill("What is the average price by category?", &tool, None);
    assert!(filled.inputs.get("where_field").is_none(), "{:?}", filled.inputs);
}
