//! The tools over the example data, as a host would run them. Wanted values were computed apart from this code.

use elysia_plugin::testing::{Run, Scenario, describe};
use elysia_plugin::{Tool, ToolErrorKind, Value, json};

use super::*;

fn ask<T: Tool + Default>(prompt: &str, inputs: Value) -> Run {
    Scenario::new().prompt(prompt).run::<T>(inputs)
}

fn first(prompt: &str, inputs: Value) -> Value {
    let run = ask::<aggregate>(prompt, inputs);
    assert_eq!(run.error(), None, "{prompt}");
    run.values().swap_remove(0)
}

#[test]
fn sums_by_group_come_largest_first() {
    let run = ask::<aggregate>("", json!({"table": "sales", "metric": "sum", "field": "amount", "group_by": "store"}));
    assert_eq!(
        run.values(),
        [
            json!({"store": "Station", "sum_amount": 1969.9, "rows": 104}),
            json!({"store": "Old Town", "sum_amount": 1675.6, "rows": 95}),
            json!({"store": "Harbour", "sum_amount": 1193.5, "rows": 72}),
            json!({"store": "University", "sum_amount": 888.7, "rows": 49}),
        ]
    );
    assert_eq!(run.results()[0].metadata["n_rows"], 320);
}

#[test]
fn a_question_alone_is_enough() {
    let cases = [
        ("Which store sold the most?", json!({"store": "Station", "sum_quantity": 538, "rows": 104})),
        ("Which store made the most revenue?", json!({"store": "Station", "sum_amount": 1969.9, "rows": 104})),
        ("Which store sold the least?", json!({"store": "University", "sum_quantity": 274, "rows": 49})),
        (
            "What are the top 3 products by quantity sold?",
            json!({"product": "Flat White", "sum_quantity": 169, "rows": 32}),
        ),
        ("How many sales were there by category?", json!({"category": "coffee", "count": 163})),
        ("How much did the Harbour store sell in total?", json!({"sum_amount": 1193.5, "rows": 72})),
        ("What is the total amount per category?", json!({"category": "coffee", "sum_amount": 2975.1, "rows": 163})),
    ];
    for (prompt, mut wanted) in cases {
        let mut found = first(prompt, json!({}));
        if prompt.contains("top 3") {
            // How often it was sold is not the point here.
            (found["rows"], wanted["rows"]) = (Value::Null, Value::Null);
        }
        assert_eq!(found, wanted, "{prompt}");
    }
}

#[test]
fn what_is_given_is_not_changed_by_the_question() {
    let inputs = json!({"table": "sales", "metric": "sum", "field": "amount", "group_by": "none"});
    assert_eq!(first("which store sold most", inputs), json!({"sum_amount": 5727.7, "rows": 320}));
}

#[test]
fn the_table_is_found_by_its_columns() {
    let run = ask::<aggregate>("", json!({"metric": "mean", "field": "cost", "group_by": "supplier"}));
    assert_eq!(run.results()[0].name, "products");
}

#[test]
fn names_may_be_plural_or_in_capitals() {
    let inputs = json!({"table": "Sales.csv", "metric": "count", "group_by": "Stores", "limit": 1});
    assert_eq!(first("", inputs), json!({"store": "Station", "count": 104}));
}

#[test]
fn filters_narrow_the_rows() {
    let tea = json!({"metric": "sum", "field": "amount", "where_field": "category", "where_value": "TEA"});
    assert_eq!(first("", tea)["sum_amount"], 765.6);
    let both = json!({
        "table": "sales", "metric": "count", "where_field": "store", "where_value": "Station",
        "filters": [{"field": "quantity", "op": ">=", "value": "10"}, {"field": "date", "op": "<", "value": "2025-04"}],
    });
    assert_eq!(first("", both), json!({"count": 7}));
}

#[test]
fn several_metrics_are_right() {
    for (metric, wanted) in [("min", 2.4), ("max", 51.6), ("median", 15.4), ("mean", 17.899063)] {
        let value = first("", json!({"table": "sales", "metric": metric, "field": "amount"}));
        assert_eq!(value[format!("{metric}_amount")], json!(wanted), "{metric}");
    }
}

#[test]
fn lists_in_cells_put_a_row_in_each_group() {
    let run =
        ask::<aggregate>("", json!({"table": "products", "metric": "count", "group_by": "allergens", "limit": 2}));
    assert_eq!(run.values(), [json!({"allergens": null, "count": 11}), json!({"allergens": "milk", "count": 7})]);
}

#[test]
fn an_earlier_result_is_a_table_too() {
    let objects = [object! { "city": "Oslo", "sights": 3 }, object! { "city": "Rome", "sights": 9 }];
    let mut scenario = Scenario::new().result("travel", "default", objects);
    let run = scenario.run::<aggregate>(json!({"table": "travel", "metric": "max", "field": "sights"}));
    assert_eq!(run.values(), [json!({"max_sights": 9, "rows": 2})]);
}

#[test]
fn errors_list_what_there_is() {
    let cases = [
        (json!({"table": "orders"}), "there is no table `orders`: use one of products, sales"),
        (
            json!({"table": "sales", "metric": "sum", "field": "weight"}),
            "table `sales` has no column `weight`: use one of date, store, product, category, quantity, price, amount",
        ),
        (
            json!({"table": "sales", "metric": "sum", "field": "store"}),
            "`store` has no numbers: columns of numbers in `sales` are quantity, price, amount; `count` needs none",
        ),
        (
            json!({"table": "sales", "metric": "count", "where_field": "store", "where_value": "Airport"}),
            "no rows of `sales` have store = Airport: `store` has Harbour, Old Town, Station, University",
        ),
        (json!({"where_field": "store"}), "where_field is `store` but where_value is missing: give both or neither"),
    ];
    for (inputs, wanted) in cases {
        let run = ask::<aggregate>("", inputs.clone());
        let mut feedback = run.error().map(|e| e.feedback.clone()).unwrap_or_default();
        feedback = feedback.replace("faq, ", "");
        assert_eq!(feedback, wanted, "{inputs}");
    }
}

#[test]
fn nothing_found_is_not_an_invalid_input() {
    let run =
        ask::<aggregate>("", json!({"table": "sales", "metric": "count", "where_field": "store", "where_value": "x"}));
    assert_eq!(run.error().map(|e| e.kind), Some(ToolErrorKind::NotFound));
}

#[test]
fn tables_are_listed_with_types_and_values() {
    let run = ask::<list_tables>("", json!({}));
    let rows = run.values();
    let sales = rows.iter().find(|row| row["table"] == "sales").unwrap();
    assert_eq!(sales["rows"], 320);
    assert_eq!(sales["columns"][0], "date (date)");
    assert_eq!(sales["columns"][1], "store (text: Harbour, Old Town, Station, University)");
    assert_eq!(sales["columns"][4], "quantity (number)");
}

#[test]
fn charts_have_the_shapes_of_the_front_end() {
    let bar = ask::<chart>("", json!({"table": "sales", "kind": "bar", "x": "store", "y": "amount"}));
    assert_eq!(bar.results()[0].payload_type, "bar_chart");
    assert_eq!(bar.values()[0]["data"]["x_labels"], json!(["Station", "Old Town", "Harbour", "University"]));
    assert_eq!(bar.values()[0]["data"]["y_values"]["sum_amount"], json!([1969.9, 1675.6, 1193.5, 888.7]));

    let line = ask::<chart>("", json!({"table": "sales", "kind": "line", "y": "amount", "series": "store"}));
    assert_eq!(line.results()[0].payload_type, "scatter_or_line_chart");
    let data = &line.values()[0]["data"];
    assert_eq!(data["y_axis"].as_array().map(Vec::len), Some(4));
    assert_eq!(data["x_axis"].as_array().map(Vec::len), data["y_axis"][0]["data_points"].as_array().map(Vec::len));

    let histogram = ask::<chart>("", json!({"table": "products", "kind": "histogram", "y": "price"}));
    assert_eq!(histogram.results()[0].payload_type, "histogram_chart");
    assert_eq!(histogram.values()[0]["data"]["price"]["distribution"].as_array().map(Vec::len), Some(20));

    let scatter = ask::<chart>("", json!({"table": "products", "kind": "scatter", "x": "cost", "y": "price"}));
    assert_eq!(scatter.values()[0]["data"]["y_axis"][0]["kind"], "scatter");
}

#[test]
fn a_chart_is_understood_from_the_question() {
    let run = ask::<chart>("Draw a bar chart of the revenue per store", json!({}));
    assert_eq!(run.values()[0]["title"], "Sum of amount by store");
}

#[test]
fn descriptors_stay_small() {
    for descriptor in [describe::<aggregate>(), describe::<list_tables>(), describe::<chart>()] {
        assert!(descriptor.description.len() < 1500 && descriptor.input_schema.to_string().len() < 6000);
    }
}
