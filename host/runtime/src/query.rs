//! One query as its caller holds it: events as they come, cancel, approve, and what it gave back.

use std::time::Duration;

use elysia_types::{CallId, Event, EventBody, FailureCode, Object, QueryId, QueryOutcome, SessionId, Tokens};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Events that wait for the caller. The query waits when it is full: whoever holds the handle sets the pace.
pub(crate) const WAITING_EVENTS: usize = 256;

/// How one query is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueryOptions {
    /// Less than `limits.query_wall`, when given.
    pub timeout: Option<Duration>,
    /// The caller answers `approval_requested` with [`QueryHandle::approve`]; otherwise such calls are denied.
    pub can_approve: bool,
}

/// Answer to an `approval_requested` event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalAnswer {
    /// The call.
    pub call_id: CallId,
    /// Yes or no.
    pub approved: bool,
}

/// A running query. Dropping it cancels the query; what it found so far is kept.
#[must_use = "dropping the handle cancels the query"]
#[derive(Debug)]
pub struct QueryHandle {
    /// The query.
    pub id: QueryId,
    pub(crate) session: SessionId,
    pub(crate) events: mpsc::Receiver<Event>,
    pub(crate) approvals: mpsc::Sender<ApprovalAnswer>,
    pub(crate) cancel: CancellationToken,
    pub(crate) guard: Option<DropGuard>,
    pub(crate) seen: Seen,
}

/// What the events told so far.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    errors: Vec<Value>,
    n_decisions: u32,
    tokens: Tokens,
    last: Option<EventBody>,
}

impl QueryHandle {
    /// The next event; `None` after the closing one.
    ///
    /// Cancel-safe: no event is lost.
    pub async fn next(&mut self) -> Option<Event> {
        let event = self.events.recv().await?;
        self.seen.note(&event);
        if event.body.is_last() {
            self.guard.take().map(DropGuard::disarm);
        }
        Some(event)
    }

    /// Asks the query to stop. Guests stop at once; the closing event still comes.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// A token that cancels this query, for signal handlers.
    pub fn cancellation(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// Answers an `approval_requested` event. An answer for a call that does not wait is ignored.
    pub async fn approve(&self, answer: ApprovalAnswer) {
        // The query may have ended meanwhile.
        let _ = self.approvals.send(answer).await;
    }

    /// Reads the remaining events and sums the query up.
    pub async fn finish(mut self) -> QueryResult {
        while self.next().await.is_some() {}
        self.seen.result(self.session.clone(), self.id.clone())
    }
}

impl Seen {
    fn note(&mut self, event: &Event) {
        match &event.body {
            EventBody::ToolError { .. } => self.errors.push(event.to_json()),
            EventBody::Decision { tokens, .. } => {
                self.n_decisions += 1;
                self.tokens.add(*tokens);
            }
            body if body.is_last() => self.last = Some(body.clone()),
            _ => {}
        }
    }

    fn result(&mut self, session_id: SessionId, query_id: QueryId) -> QueryResult {
        let mut result = QueryResult {
            outcome: None,
            error: None,
            cancelled: false,
            response: String::new(),
            objects: Vec::new(),
            session_id,
            query_id,
            decisions: self.n_decisions,
            tokens: self.tokens,
            errors: std::mem::take(&mut self.errors),
        };
        match self.last.take() {
            Some(EventBody::QueryCompleted { outcome, response, objects, decisions, tokens }) => {
                (result.outcome, result.response, result.objects) = (Some(outcome), response, objects);
                (result.decisions, result.tokens) = (decisions, tokens);
            }
            Some(EventBody::QueryFailed { code, message, response, objects }) => {
                (result.error, result.response, result.objects) = (Some((code, message)), response, objects);
            }
            Some(EventBody::QueryCancelled { response, objects }) => {
                (result.cancelled, result.response, result.objects) = (true, response, objects);
            }
            _ => {
                let lost = "the query ended without its closing event; its host has shut down".to_owned();
                result.error = Some((FailureCode::Internal, lost));
            }
        }
        result
    }
}

/// What a query gave back.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryResult {
    /// How it completed; none when it failed or was cancelled.
    pub outcome: Option<QueryOutcome>,
    /// Code and message when it failed.
    pub error: Option<(FailureCode, String)>,
    /// It was cancelled.
    pub cancelled: bool,
    /// All speech of the turn.
    pub response: String,
    /// One list per displayed result, objects whole.
    pub objects: Vec<Vec<Object>>,
    /// The session.
    pub session_id: SessionId,
    /// The query.
    pub query_id: QueryId,
    /// Decisions the agent took, branch moves and `text_response` included.
    pub decisions: u32,
    /// Tokens of all of them.
    pub tokens: Tokens,
    /// The `tool_error` events.
    pub errors: Vec<Value>,
}

impl QueryResult {
    /// The object of `--output json`.
    pub fn to_json(&self) -> Value {
        let mut out = json!({
            "outcome": self.outcome,
            "response": self.response,
            "objects": self.objects,
            "session_id": self.session_id,
            "query_id": self.query_id,
            "decisions": self.decisions,
            "tokens": self.tokens,
            "errors": self.errors,
        });
        let error = match (&self.error, self.cancelled) {
            (Some((code, message)), _) => Some((*code, message.clone())),
            (None, true) => Some((FailureCode::Cancelled, "the query was cancelled".to_owned())),
            (None, false) => None,
        };
        if let (Some((code, message)), Some(map)) = (error, out.as_object_mut()) {
            map.insert("error".to_owned(), json!({ "code": code, "message": message }));
        }
        out
    }
}
