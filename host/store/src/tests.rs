//! What every store must do; run by the tests of each.

use std::sync::Arc;

use elysia_types::{
    CallRef, Environment, Event, EventBody, FailureCode, Message, Object, PluginState, QueryId, QueryOutcome, Role,
    SessionId, TextSource, ToolName, Usage,
};
use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::{Commit, QueryStatus, SessionDocument, SessionStore, StoreError};

pub(crate) fn session(id: &str) -> SessionId {
    id.parse().unwrap()
}

pub(crate) fn query(id: &str) -> QueryId {
    id.parse().unwrap()
}

pub(crate) fn event(of: &str, seq: u64, body: EventBody) -> Event {
    Event { seq, at: "2026-01-02T03:04:05Z".to_owned(), query_id: query(of), body }
}

pub(crate) fn text(of: &str, seq: u64, text: &str) -> Event {
    event(
        of,
        seq,
        EventBody::Text { call: None, source: TextSource::Agent, text: text.to_owned(), title: None, citations: None },
    )
}

pub(crate) fn commit(of: &str, id: &str) -> Commit {
    Commit {
        session: session(of),
        query: query(id),
        status: QueryStatus::Completed,
        messages: Vec::new(),
        locations: Vec::new(),
        entries: Vec::new(),
        replaces_environment: false,
        states: IndexMap::new(),
        last_events: Vec::new(),
    }
}

fn object(value: Value) -> Object {
    value.as_object().unwrap().clone()
}

fn all_kinds(of: &str, session_id: &SessionId) -> Vec<Event> {
    let call = CallRef {
        call_id: format!("{of}-1").parse().unwrap(),
        tool: "search".parse().unwrap(),
        plugin: "web search".parse().unwrap(),
    };
    let inputs = object(json!({"z": 1.1, "a": 18_446_744_073_709_551_615u64}));
    let bodies = [
        EventBody::QueryStarted { prompt: None, session_id: session_id.clone(), model: Some("m".to_owned()) },
        EventBody::CallStarted { call: call.clone(), inputs, chosen: true },
        EventBody::Text {
            call: Some(call.clone()),
            source: TextSource::Tool,
            text: "hé\n".to_owned(),
            title: None,
            citations: None,
        },
        EventBody::ToolError {
            call: call.clone(),
            code: FailureCode::Failed,
            message: "no".to_owned(),
            feedback: "try \"x\"".to_owned(),
            limit: None,
        },
        EventBody::CallFinished { call, ms: 3, outcome: "failed".to_owned() },
        EventBody::QueryCompleted {
            outcome: QueryOutcome::Answered,
            response: "hé".to_owned(),
            objects: vec![vec![object(json!({"b": 0.1, "a": [null, {"c": -1}]}))]],
            decisions: 2,
            tokens: Usage { input: 1, output: 2, cached: Some(3) },
        },
    ];
    (1..).zip(bodies).map(|(seq, body)| event(of, seq, body)).collect()
}

fn add(environment: &mut Environment, tool: &str, name: &str, objects: Value) {
    let objects = objects.as_array().unwrap().iter().cloned().map(object).collect();
    let tool: ToolName = tool.parse().unwrap();
    environment.add(&tool, &name.parse().unwrap(), object(json!({"from": "x"})), objects, 7, 1 << 20).unwrap();
}

/// Runs everything, each part on a store of its own from `make`; `durable` stores keep running queries apart.
pub(crate) async fn run(make: impl Fn() -> Arc<dyn SessionStore>, durable: bool) {
    sessions_come_and_go(&*make()).await;
    a_query_is_begun_appended_and_committed(&*make()).await;
    one_query_at_a_time(&*make()).await;
    events_are_numbered_once(&*make()).await;
    environments_come_back_exactly(&*make()).await;
    documents_come_back_exactly(&*make(), &*make()).await;
    bad_documents_are_refused(&*make()).await;
    if durable {
        assert_eq!(make().repair().await.unwrap(), 0);
    }
}

async fn sessions_come_and_go(store: &dyn SessionStore) {
    assert_eq!(store.last().await.unwrap(), None);
    assert!(store.load(&session("a")).await.unwrap().is_none());
    assert!(store.export(&session("a")).await.unwrap().is_none());
    store.create(&session("a")).await.unwrap();
    store.create(&session("b")).await.unwrap();
    assert!(matches!(store.create(&session("a")).await, Err(StoreError::SessionExists(_))));
    assert_eq!(store.last().await.unwrap(), Some(session("b")));
    store.begin(&session("a"), &query("q"), Some("  first\nprompt ")).await.unwrap();
    assert_eq!(store.last().await.unwrap(), Some(session("a")));
    assert!(matches!(store.delete(&session("a")).await, Err(StoreError::Busy { .. })));
    store.commit(commit("a", "q")).await.unwrap();
    let list = store.list().await.unwrap();
    assert_eq!(list.iter().map(|s| s.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(list[0].title.as_deref(), Some("first prompt"));
    assert_eq!((list[0].n_queries, list[0].n_messages, list[0].n_entries), (1, 0, 0));
    assert_eq!(list[0].last_status, Some(QueryStatus::Completed));
    assert_eq!((list[1].title.as_ref(), list[1].last_status), (None, None));
    assert!(store.delete(&session("a")).await.unwrap());
    assert!(!store.delete(&session("a")).await.unwrap());
    assert!(store.events(&query("q"), 0).await.unwrap().is_empty());
    // The ids are free again.
    store.create(&session("a")).await.unwrap();
    store.begin(&session("a"), &query("q"), None).await.unwrap();
}

async fn a_query_is_begun_appended_and_committed(store: &dyn SessionStore) {
    let (s, q) = (session("s"), query("q1"));
    assert!(matches!(store.begin(&s, &q, None).await, Err(StoreError::NoSession(_))));
    store.create(&s).await.unwrap();
    store.begin(&s, &q, Some("hello")).await.unwrap();
    store.append(&s, &q, &[text("q1", 1, "a"), text("q1", 2, "b")]).await.unwrap();
    let before = store.load(&s).await.unwrap().unwrap();
    assert_eq!(before.queries[0].status, QueryStatus::Running);
    assert!(before.messages.is_empty());
    let state: PluginState = [("k".to_owned(), json!([1, {"x": null}]))].into_iter().collect();
    let done = Commit {
        messages: vec![
            Message { role: Role::User, text: "hello".to_owned() },
            Message { role: Role::Assistant, text: "hi".to_owned() },
        ],
        states: [("p".parse().unwrap(), state.clone())].into_iter().collect(),
        last_events: vec![text("q1", 2, "b"), text("q1", 3, "c")],
        ..commit("s", "q1")
    };
    store.commit(done.clone()).await.unwrap();
    let after = store.load(&s).await.unwrap().unwrap();
    assert_eq!(after.messages, done.messages);
    assert_eq!(after.states, done.states);
    assert_eq!(after.queries[0].status, QueryStatus::Completed);
    assert_eq!(after.title.as_deref(), Some("hello"));
    assert_eq!(store.events(&q, 1).await.unwrap(), [text("q1", 2, "b"), text("q1", 3, "c")]);
    assert!(matches!(store.commit(done).await, Err(StoreError::NotRunning { .. })));
    // An empty state is removed.
    store.begin(&s, &query("q2"), Some("later")).await.unwrap();
    let states = [("p".parse().unwrap(), PluginState::new())].into_iter().collect();
    store.commit(Commit { states, status: QueryStatus::Failed, ..commit("s", "q2") }).await.unwrap();
    let after = store.load(&s).await.unwrap().unwrap();
    assert!(after.states.is_empty());
    assert_eq!(after.queries[1].status, QueryStatus::Failed);
    assert_eq!(after.title.as_deref(), Some("hello"));
}

async fn one_query_at_a_time(store: &dyn SessionStore) {
    let s = session("s");
    store.create(&s).await.unwrap();
    store.create(&session("other")).await.unwrap();
    store.begin(&s, &query("q1"), None).await.unwrap();
    match store.begin(&s, &query("q2"), None).await {
        Err(StoreError::Busy { session, query }) => assert_eq!((session, query.as_str()), (s.clone(), "q1")),
        other => panic!("{other:?}"),
    }
    assert!(matches!(store.replace_environment(&s, vec![], vec![]).await, Err(StoreError::Busy { .. })));
    store.begin(&session("other"), &query("q3"), None).await.unwrap();
    assert!(matches!(store.append(&s, &query("q3"), &[]).await, Err(StoreError::NotRunning { .. })));
    store.append(&s, &query("q1"), &[text("q1", 1, "kept")]).await.unwrap();
    store.interrupt(&s, &query("q1")).await.unwrap();
    assert!(matches!(store.interrupt(&s, &query("q1")).await, Err(StoreError::NotRunning { .. })));
    assert!(matches!(store.append(&s, &query("q1"), &[]).await, Err(StoreError::NotRunning { .. })));
    assert_eq!(store.load(&s).await.unwrap().unwrap().queries[0].status, QueryStatus::Interrupted);
    assert_eq!(store.events(&query("q1"), 0).await.unwrap(), [text("q1", 1, "kept")]);
    assert!(matches!(store.begin(&s, &query("q1"), None).await, Err(StoreError::QueryExists(_))));
    store.begin(&s, &query("q2"), None).await.unwrap();
}

async fn events_are_numbered_once(store: &dyn SessionStore) {
    let (s, q) = (session("s"), query("q"));
    store.create(&s).await.unwrap();
    store.begin(&s, &q, None).await.unwrap();
    store.append(&s, &q, &[text("q", 1, "a")]).await.unwrap();
    store.append(&s, &q, &[text("q", 1, "a"), text("q", 2, "b")]).await.unwrap();
    let both = [text("q", 3, "c"), text("q", 1, "other")];
    assert!(matches!(store.append(&s, &q, &both).await, Err(StoreError::EventConflict { seq: 1, .. })));
    let foreign = [text("elsewhere", 3, "c")];
    assert!(matches!(store.append(&s, &q, &foreign).await, Err(StoreError::EventConflict { seq: 3, .. })));
    // All or none.
    assert_eq!(store.events(&q, 0).await.unwrap().len(), 2);
    assert!(store.events(&q, u64::MAX).await.unwrap().is_empty());
    assert!(store.events(&query("unknown"), 0).await.unwrap().is_empty());
}

async fn environments_come_back_exactly(store: &dyn SessionStore) {
    let s = session("s");
    store.create(&s).await.unwrap();
    let mut environment = Environment::default();
    add(&mut environment, "find", "rows", json!([{"z": 1.0, "a": 0.1}, {"pi": 0.30000000000000004, "n": 5e-324}]));
    add(&mut environment, "find", "none", json!([]));
    let (locations, entries) = environment.stored_since(0);
    store.begin(&s, &query("q1"), None).await.unwrap();
    store.commit(Commit { locations, entries, ..commit("s", "q1") }).await.unwrap();
    let seen = environment.version();
    // A repeat, which is stored as a stub, and a new place.
    add(&mut environment, "find", "rows", json!([{"a": 0.1, "z": 1.0}]));
    add(&mut environment, "list", "rows", json!([{"text": "e\u{301} \u{1F600} \u{0}"}]));
    let (locations, entries) = environment.stored_since(seen);
    assert_eq!((locations.len(), entries.len()), (1, 2));
    store.begin(&s, &query("q2"), None).await.unwrap();
    store.commit(Commit { locations, entries, ..commit("s", "q2") }).await.unwrap();
    let record = store.load(&s).await.unwrap().unwrap();
    assert_eq!((record.locations.clone(), record.entries.clone()), environment.stored_since(0));
    let restored = Environment::restore(record.locations, record.entries);
    assert_eq!(restored.to_json().to_string(), environment.to_json().to_string());
    environment.trim(1, u64::MAX);
    let (locations, entries) = environment.stored_since(0);
    store.begin(&s, &query("q3"), None).await.unwrap();
    store.commit(Commit { locations, entries, replaces_environment: true, ..commit("s", "q3") }).await.unwrap();
    let record = store.load(&s).await.unwrap().unwrap();
    assert_eq!((record.locations, record.entries), environment.stored_since(0));
    let (locations, _) = environment.stored_since(0);
    store.replace_environment(&s, locations, Vec::new()).await.unwrap();
    assert_eq!(store.list().await.unwrap()[0].n_entries, 0);
}

async fn documents_come_back_exactly(store: &dyn SessionStore, other: &dyn SessionStore) {
    let s = session("s");
    store.create(&s).await.unwrap();
    let mut environment = Environment::default();
    add(&mut environment, "b", "x", json!([{"n": 1}]));
    add(&mut environment, "a", "x", json!([{"n": 1}, {"n": 0.1}]));
    add(&mut environment, "b", "x", json!([{"n": 1}, {"n": 2}]));
    add(&mut environment, "a", "empty", json!([]));
    environment.trim(2, u64::MAX);
    let (locations, entries) = environment.stored_since(0);
    store.begin(&s, &query("q1"), Some("what?")).await.unwrap();
    store.append(&s, &query("q1"), &all_kinds("q1", &s)).await.unwrap();
    let messages = vec![Message { role: Role::User, text: "what?".to_owned() }];
    let state: PluginState = [("k".to_owned(), json!(0.1))].into_iter().collect();
    let states = [("p".parse().unwrap(), state)].into_iter().collect();
    store.commit(Commit { locations, entries, messages, states, ..commit("s", "q1") }).await.unwrap();
    store.begin(&s, &query("q2"), None).await.unwrap();
    let document = store.export(&s).await.unwrap().unwrap();
    assert_eq!(document.queries[1].status, QueryStatus::Interrupted);
    let read = SessionDocument::parse(&document.to_text()).unwrap();
    assert_eq!(read, document);
    assert_eq!(serde_json::to_value(&read).unwrap()["environment"], environment.to_json());

    assert_eq!(other.import(read.clone()).await.unwrap(), s);
    assert_eq!(other.export(&s).await.unwrap().unwrap(), document);
    let record = other.load(&s).await.unwrap().unwrap();
    assert_eq!((record.locations, record.entries), environment.stored_since(0));
    assert_eq!(other.events(&query("q1"), 0).await.unwrap(), all_kinds("q1", &s));

    // Once more: everything gets new ids.
    let copy = store.import(read).await.unwrap();
    assert_ne!(copy, s);
    let copied = store.export(&copy).await.unwrap().unwrap();
    assert_eq!(
        (&copied.environment, &copied.order, &copied.states),
        (&document.environment, &document.order, &document.states)
    );
    let id = copied.queries[0].id.clone();
    assert_eq!(copied.queries[0].events, all_kinds(id.as_str(), &copy));
    assert_eq!(store.events(&id, 0).await.unwrap().len(), 6);
}

async fn bad_documents_are_refused(store: &dyn SessionStore) {
    let s = session("s");
    store.create(&s).await.unwrap();
    store.begin(&s, &query("q"), None).await.unwrap();
    store.append(&s, &query("q"), &[text("q", 1, "a")]).await.unwrap();
    store.commit(commit("s", "q")).await.unwrap();
    let mut document = store.export(&s).await.unwrap().unwrap();
    let elsewhere = SessionDocument { updated_at: "2001-01-01T02:00:00+02:00".to_owned(), ..document.clone() };
    let copy = store.import(elsewhere).await.unwrap();
    assert_eq!(store.load(&copy).await.unwrap().unwrap().updated_at, "2001-01-01T00:00:00.000000Z");
    assert_eq!(store.last().await.unwrap(), Some(s));
    assert!(store.delete(&copy).await.unwrap());
    document.queries[0].events[0].seq = 2;
    let error = store.import(document).await.unwrap_err();
    assert!(error.to_string().contains("event 1 of query `q` is missing"), "{error}");
    assert_eq!(store.list().await.unwrap().len(), 1);
}
