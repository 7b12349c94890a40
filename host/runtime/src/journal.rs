//! Events on their way out: appended to the store before they are handed to anyone.

use std::sync::Arc;

use elysia_store::{SessionStore, StoreError};
use elysia_types::{Event, EventBody, QueryId, SessionId};
use tokio::sync::mpsc;

use crate::clock;

/// Events that wait for the store. The drive waits when it is full.
const PENDING: usize = 256;

/// Largest batch of one append.
const BATCH: usize = 64;

/// Numbers and times events.
pub(crate) struct Stamps {
    query_id: QueryId,
    seq: u64,
}

/// Stamps events and passes them to the task that stores and hands them out.
pub(crate) struct Journal {
    stamps: Stamps,
    to_writer: mpsc::Sender<Event>,
}

/// The other half: a task that owns the order "store, then show".
pub(crate) struct Writer {
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) session: SessionId,
    pub(crate) query: QueryId,
    from_drive: mpsc::Receiver<Event>,
    /// Number of the last event handed out.
    pub(crate) shown: u64,
    pub(crate) to_reader: mpsc::Sender<Event>,
}

/// A journal for `query` and its writer. `to_reader` is bounded by its maker; the writer waits when it is full and
/// goes on without it when the reader is gone.
pub(crate) fn journal(
    store: Arc<dyn SessionStore>,
    session: SessionId,
    query: QueryId,
    to_reader: mpsc::Sender<Event>,
) -> (Journal, Writer) {
    let (to_writer, from_drive) = mpsc::channel(PENDING);
    let writer = Writer { store, session, query: query.clone(), from_drive, shown: 0, to_reader };
    (Journal { stamps: Stamps { query_id: query, seq: 0 }, to_writer }, writer)
}

impl Stamps {
    /// Gives `body` its number and time.
    pub(crate) fn stamp(&mut self, body: EventBody) -> Event {
        self.seq += 1;
        Event { seq: self.seq, at: clock::stamp(), query_id: self.query_id.clone(), body }
    }
}

impl Journal {
    /// Waits until one event fits. False when the store has failed: the writer is gone.
    ///
    /// Cancel-safe: nothing is queued yet.
    pub(crate) async fn room(&self) -> bool {
        self.to_writer.reserve().await.is_ok()
    }

    /// Queues one event after [`Journal::room`] said yes; there is no other sender that could take the place.
    pub(crate) fn push(&mut self, body: EventBody) {
        let event = self.stamps.stamp(body);
        if self.to_writer.try_send(event).is_err() {
            tracing::error!(query = %self.stamps.query_id, "an event found no room in the journal");
        }
    }
}

impl Journal {
    /// Ends the stream of events; the stamps go on for the closing one.
    pub(crate) fn close(self) -> Stamps {
        self.stamps
    }
}

impl Writer {
    /// Runs until the journal is dropped, then gives itself back for the closing event.
    ///
    /// # Errors
    /// The first failure of the store; events not yet stored are not handed out.
    pub(crate) async fn run(mut self) -> Result<Self, (Self, StoreError)> {
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            // Whatever has gathered while the last append ran goes out in one append: no timer, no added delay.
            if self.from_drive.recv_many(&mut batch, BATCH).await == 0 {
                return Ok(self);
            }
            if let Err(e) = self.store.append(&self.session, &self.query, &batch).await {
                // The drive must not wait for room that nobody makes any more.
                self.from_drive.close();
                return Err((self, e));
            }
            for event in batch.drain(..) {
                self.shown = event.seq;
                // A reader that has gone does not end the query.
                let _ = self.to_reader.send(event).await;
            }
        }
    }
}
