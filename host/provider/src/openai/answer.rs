//! Reading an answer's body: JSON or a stream of events, whichever comes, never more than the bounds.

use std::time::Instant;

use elysia_types::{JsonPolicy, parse_json, truncate};

use crate::error::{ProviderError, one_line};
use crate::model::{ModelRequest, Reply};
use crate::openai::status::Refusal;
use crate::openai::stream::{Draft, PartError};
use crate::secret::Secret;
use crate::sse::{MAX_EVENT_BYTES, SseParser};
use crate::transport::{Body, Incoming};

/// Bytes read of one reply, framing included.
const MAX_REPLY_BYTES: usize = 8 * 1024 * 1024;
/// Bytes read of an answer that is not success.
const MAX_REFUSAL_BYTES: usize = 16 * 1024;
const POLICY: JsonPolicy = JsonPolicy { max_bytes: MAX_REPLY_BYTES, max_depth: 64 };

/// Reads answers of one endpoint.
pub(crate) struct Reader<'a> {
    pub(crate) endpoint: &'a str,
    pub(crate) key: Option<&'a Secret>,
}

impl Reader<'_> {
    /// The reply of a successful answer.
    pub(crate) async fn reply(
        &self,
        incoming: Incoming,
        request: &ModelRequest,
        deadline: Instant,
    ) -> Result<Reply, ProviderError> {
        let encoding = incoming.header("content-encoding").unwrap_or("identity");
        if encoding != "identity" {
            return Err(self.bad(
                format!("it is compressed ({encoding}) although that was not asked for"),
                None,
                false,
            ));
        }
        let kind = incoming.header("content-type").unwrap_or_default().to_lowercase();
        let draft = if kind.contains("event-stream") {
            self.stream(incoming.body, deadline).await?
        } else {
            self.whole(incoming.body, &kind, deadline).await?
        };
        let mut reply = draft.into_reply(request);
        if let Some(key) = self.key {
            reply.text = key.scrub_reply(&reply.text);
            reply.tool_calls.iter_mut().for_each(|call| call.arguments = key.scrub_reply(&call.arguments));
        }
        Ok(reply)
    }

    /// What an answer that is not success says. Its status is the news: a body that cannot be read is left out.
    pub(crate) async fn refusal(&self, mut incoming: Incoming, deadline: Instant) -> Refusal {
        let mut raw = Vec::new();
        while raw.len() < MAX_REFUSAL_BYTES {
            match incoming.body.chunk(deadline).await {
                Ok(Some(chunk)) => raw.extend_from_slice(&chunk),
                Ok(None) | Err(_) => break,
            }
        }
        // Scrubbed before it is cut, or half a key could stay.
        let text = self.scrub(&String::from_utf8_lossy(&raw));
        Refusal {
            status: incoming.status,
            text: truncate(&text, MAX_REFUSAL_BYTES).to_owned(),
            retry_after: incoming.header("retry-after").map(str::to_owned),
            location: incoming.header("location").map(|l| self.scrub(l)),
        }
    }

    async fn whole(&self, mut body: Box<dyn Body>, kind: &str, deadline: Instant) -> Result<Draft, ProviderError> {
        let mut raw = Vec::new();
        while let Some(chunk) = body.chunk(deadline).await? {
            self.charge(raw.len(), chunk.len())?;
            raw.extend_from_slice(&chunk);
        }
        let text = String::from_utf8_lossy(&raw);
        let start = text.trim_start();
        let mut draft = Draft::default();
        if start.starts_with("data:") || start.starts_with(':') || start.starts_with("event:") {
            // A stream under a wrong name.
            let mut events = Vec::new();
            let mut parser = SseParser::default();
            parser
                .feed(&raw, &mut events)
                .and_then(|()| parser.finish(&mut events))
                .map_err(|_| self.too_long(None))?;
            let done = self.add_all(&mut draft, events)?;
            return self.complete(draft, done);
        }
        let json = parse_json(&text, POLICY).map_err(|e| {
            let shown = if start.starts_with('<') {
                "HTML".to_owned()
            } else {
                format!("`{}`", truncate(&one_line(start), 80))
            };
            let kind = if kind.is_empty() { "of no type" } else { kind };
            self.bad(format!("{shown} ({}) is not JSON: {e}", one_line(kind)), None, start.starts_with('{'))
        })?;
        draft.add(&json).map_err(|e| self.part_error(e, Draft::default()))?;
        if draft.is_empty() {
            return Err(self.bad("it has no `choices`".to_owned(), None, false));
        }
        Ok(draft)
    }

    async fn stream(&self, mut body: Box<dyn Body>, deadline: Instant) -> Result<Draft, ProviderError> {
        let mut draft = Draft::default();
        let mut parser = SseParser::default();
        let (mut n_read, mut events) = (0, Vec::new());
        loop {
            let chunk = match body.chunk(deadline).await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break,
                // All that matters has come: what breaks afterwards is the connection's affair.
                Err(_) if draft.is_finished() => break,
                Err(error) => return Err(with_partial(error, draft, self)),
            };
            if let Err(error) = self.charge(n_read, chunk.len()) {
                return Err(with_partial(error, draft, self));
            }
            n_read += chunk.len();
            let fed = parser.feed(&chunk, &mut events);
            if self.add_all(&mut draft, std::mem::take(&mut events))? {
                return self.complete(draft, true);
            }
            if fed.is_err() {
                return Err(with_partial(self.too_long(None), draft, self));
            }
        }
        parser.finish(&mut events).map_err(|_| self.too_long(None))?;
        let done = self.add_all(&mut draft, events)?;
        self.complete(draft, done)
    }

    /// Reads events; true once `[DONE]` came, after which nothing counts.
    fn add_all(&self, draft: &mut Draft, events: Vec<String>) -> Result<bool, ProviderError> {
        for event in events {
            let event = event.trim();
            if event == "[DONE]" {
                return Ok(true);
            }
            if event.is_empty() {
                continue;
            }
            let added = parse_json(event, POLICY)
                .map_err(|e| PartError::Format(format!("an event is not JSON: {e}")))
                .and_then(|json| draft.add(&json));
            added.map_err(|e| self.part_error(e, std::mem::take(draft)))?;
        }
        Ok(false)
    }

    fn complete(&self, draft: Draft, done: bool) -> Result<Draft, ProviderError> {
        if draft.is_finished() || (done && !draft.is_empty()) {
            return Ok(draft);
        }
        if done {
            return Err(self.bad("the stream holds nothing".to_owned(), None, true));
        }
        let reason = "the stream ended without a finish reason".to_owned();
        let partial = self.partial(draft);
        Err(ProviderError::Cut { endpoint: self.endpoint.to_owned(), reason, partial })
    }

    fn charge(&self, before: usize, more: usize) -> Result<(), ProviderError> {
        if before + more <= MAX_REPLY_BYTES {
            return Ok(());
        }
        let (endpoint, what, limit) = (self.endpoint.to_owned(), "the whole", MAX_REPLY_BYTES);
        Err(ProviderError::TooLarge { endpoint, what, limit, partial: None })
    }

    fn too_long(&self, partial: Option<String>) -> ProviderError {
        let (endpoint, what, limit) = (self.endpoint.to_owned(), "one event of its stream", MAX_EVENT_BYTES);
        ProviderError::TooLarge { endpoint, what, limit, partial }
    }

    fn part_error(&self, error: PartError, draft: Draft) -> ProviderError {
        let partial = self.partial(draft);
        let endpoint = self.endpoint.to_owned();
        match error {
            PartError::Server(text) => {
                let reason = format!("the server reports {}", one_line(&self.scrub(&text)));
                ProviderError::Cut { endpoint, reason, partial }
            }
            PartError::Format(reason) => self.bad(reason, partial, true),
        }
    }

    fn bad(&self, reason: String, partial: Option<String>, passing: bool) -> ProviderError {
        let reason = one_line(&self.scrub(&reason));
        ProviderError::BadReply { endpoint: self.endpoint.to_owned(), reason, partial, passing }
    }

    fn partial(&self, draft: Draft) -> Option<String> {
        draft.partial().map(|text| self.key.map_or_else(|| text.clone(), |key| key.scrub_reply(&text)))
    }

    fn scrub(&self, text: &str) -> String {
        self.key.map_or_else(|| text.to_owned(), |key| key.scrub(text))
    }
}

/// The same error with what had come.
fn with_partial(mut error: ProviderError, draft: Draft, reader: &Reader<'_>) -> ProviderError {
    if let ProviderError::Timeout { partial, .. }
    | ProviderError::Cut { partial, .. }
    | ProviderError::TooLarge { partial, .. } = &mut error
    {
        *partial = reader.partial(draft);
    }
    error
}
