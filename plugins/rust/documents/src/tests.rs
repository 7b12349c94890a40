//! The tools over the example data, as a host would run them.

use elysia_plugin::testing::{describe, run};
use elysia_plugin::{ToolErrorKind, json};

use super::*;

fn best(query: &str) -> String {
    let run = run::<search_documents>(json!({"query": query}));
    assert_eq!(run.error(), None, "{query}");
    run.values().first().map(|hit| hit["title"].as_str().unwrap_or_default().to_owned()).unwrap_or_default()
}

#[test]
fn questions_find_their_page() {
    let cases = [
        ("What is our refund policy?", "Refunds and returns"),
        ("When does the Station store open on Sunday?", "Opening hours"),
        ("litres of cold brew in one batch", "Cold brew"),
        ("How many days of holiday do employees get?", "Holidays and sick leave"),
        ("Are dogs allowed?", "Can I bring my dog?"),
        ("staff discount", "Staff discount"),
        ("deposit for cups", "Cups, waste and sustainability"),
        ("till difference in cash", "Cash handling"),
        ("which milk alternatives are there", "Milk and alternatives"),
        ("barista course price", "How do I book a barista course?"),
    ];
    for (query, title) in cases {
        assert_eq!(best(query), title, "{query}");
    }
}

#[test]
fn a_word_with_two_meanings_still_finds_its_page_among_the_first() {
    // "Grounds" are also what cold brew is made of once coffee is "ground".
    let run = run::<search_documents>(json!({"query": "what do we do with coffee grounds", "limit": 3}));
    assert!(run.values().iter().any(|hit| hit["title"] == "Cups, waste and sustainability"), "{:?}", run.values());
}

#[test]
fn hits_carry_what_a_front_end_shows() {
    let run = run::<search_documents>(json!({"query": "refund without receipt", "limit": 2}));
    let result = run.results()[0];
    assert_eq!((result.payload_type.as_str(), result.name.as_str()), ("document", "documents"));
    assert!(result.mapping.contains(&("content".to_owned(), "content".to_owned())));
    let hit = &run.values()[0];
    assert_eq!(hit["author"], "Ines Falk");
    assert_eq!(hit["source"], "handbook/refunds.md");
    assert_eq!(hit["collection_name"], "documents");
    assert!(hit["highlights"][0].as_str().unwrap().contains("receipt"));
    assert_eq!(hit["chunk_spans"][0]["uuid"], hit["uuid"]);
    assert_eq!(hit["uuid"].as_str().unwrap().len(), 36);
}

#[test]
fn nothing_found_is_an_empty_result() {
    let run = run::<search_documents>(json!({"query": "zeppelin"}));
    assert_eq!(run.error(), None);
    assert_eq!(run.results()[0].objects.len(), 0);
    assert!(run.results()[0].llm_message.as_ref().unwrap().contains("try others"));
}

#[test]
fn a_category_narrows_and_a_wrong_one_lists_those_there_are() {
    let found = run::<search_documents>(json!({"query": "milk", "category": "Recipe"}));
    assert!(found.values().iter().all(|hit| hit["category"] == "recipes"), "{:?}", found.values());
    let wrong = run::<search_documents>(json!({"query": "milk", "category": "sports"}));
    let error = wrong.error().unwrap();
    assert_eq!(error.kind, ToolErrorKind::InvalidInputs);
    assert!(error.feedback.contains("faq, food safety"), "{}", error.feedback);
}

#[test]
fn a_query_of_stop_words_is_refused() {
    let run = run::<search_documents>(json!({"query": "what is the"}));
    assert_eq!(run.error().map(|e| e.kind), Some(ToolErrorKind::InvalidInputs));
}

#[test]
fn a_document_is_read_by_any_of_its_names() {
    for name in ["Refunds and returns", "refunds and returns", "handbook/refunds.md", "refunds.md", "refunds"] {
        let run = run::<read_document>(json!({"document": name}));
        assert_eq!(run.error(), None, "{name}");
        assert!(run.values()[0]["content"].as_str().unwrap().ends_with("need the approval of the store manager."));
    }
    let missing = run::<read_document>(json!({"document": "zeppelin"}));
    assert_eq!(missing.error().map(|e| e.kind), Some(ToolErrorKind::NotFound));
    let several = run::<read_document>(json!({"document": "beans"}));
    assert!(several.error().unwrap().feedback.contains("Decaf Beans 250g"));
}

#[test]
fn all_documents_are_listed() {
    let run = run::<list_documents>(json!({}));
    let sources: Vec<String> = run.values().iter().map(|entry| entry["source"].as_str().unwrap().to_owned()).collect();
    assert_eq!(sources.iter().filter(|source| source.starts_with("handbook/")).count(), 15);
    assert!(sources.contains(&"sales.csv".to_owned()) && sources.contains(&"faq.jsonl#1".to_owned()));
    assert!(!sources.iter().any(|source| source.contains("README")));
}

#[test]
fn descriptors_stay_small() {
    for descriptor in [describe::<search_documents>(), describe::<read_document>(), describe::<list_documents>()] {
        assert!(descriptor.description.len() < 1000 && descriptor.input_schema.to_string().len() < 2000);
    }
}
