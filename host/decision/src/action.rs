//! The words between a [`Turn`](crate::Turn) and whoever drives it: what it asks for and what it is told.

use elysia_types::{
    Availability, CallEnd, CallId, CallRef, Effects, EventBody, Failure, Message, Object, QueryBudget, QueryId,
    QueryOutcome, RefId, SessionId, SharedEnvironment, Tokens, ToolInputs, ToolName, Yield,
};
use std::sync::Arc;

use crate::prompt::{AgentProfile, Prompt};
use crate::reply::ModelReply;
use crate::tree::Tree;

/// What a turn starts from.
#[derive(Clone, Debug)]
pub struct TurnStart {
    /// The query; call ids are made from it.
    pub query_id: QueryId,
    /// Its session.
    pub session_id: SessionId,
    /// Tools and branches.
    pub tree: Arc<Tree>,
    /// Results of the session; written by the turn alone while it runs.
    pub environment: SharedEnvironment,
    /// Earlier messages, oldest first.
    pub history: Vec<Message>,
    /// Who the agent is.
    pub profile: AgentProfile,
    /// Now, RFC 3339 with offset, in the user's time zone.
    pub now: String,
    /// What the query may use.
    pub budget: QueryBudget,
}

/// What the driver is to do next.
#[derive(Clone, Debug)]
pub enum Action {
    /// Hand out at once, in this order. The closing event comes through here too, right before `Finish`.
    Emit(EventBody),
    /// Ask plugins; answer with [`Observation::Checked`].
    Check(Checks),
    /// Ask the model; answer with [`Observation::Replied`] or [`Observation::ModelFailed`].
    Ask(Box<Prompt>),
    /// Start this call now; others may be running.
    Run(CallPlan),
    /// Cancel this running call; its [`Observation::CallEnded`] follows.
    Stop(CallId),
    /// Nothing to do until an observation comes.
    Wait,
    /// The turn is over; take [`Turn::finish`](crate::Turn::finish).
    Finish,
}

/// Questions to plugins before a decision; all plugins at once, each asked once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Whether these can be chosen.
    pub available: Vec<ToolName>,
    /// Whether these want to run unchosen, and with which inputs.
    pub run_if_true: Vec<ToolName>,
}

/// One call to start.
#[derive(Clone, Debug, PartialEq)]
pub struct CallPlan {
    /// Its id, tool and plugin.
    pub call: CallRef,
    /// Valid against the tool's schema, defaults filled in.
    pub inputs: ToolInputs,
    /// What it does to the world.
    pub effects: Effects,
    /// Whether the agent chose it.
    pub chosen: bool,
}

/// What the driver saw.
#[derive(Clone, Debug)]
pub enum Observation {
    /// Answers to [`Action::Check`].
    Checked {
        /// One per tool asked that answered.
        available: Vec<(ToolName, Availability)>,
        /// One per tool asked that answered.
        run_if_true: Vec<(ToolName, Option<ToolInputs>)>,
        /// Tools that could not be asked, with the reason: unavailable for the rest of the query.
        failed: Vec<(ToolName, String)>,
    },
    /// The model answered.
    Replied {
        /// Its words.
        reply: ModelReply,
        /// How long it took.
        ms: u64,
    },
    /// The model gave no usable answer.
    ModelFailed {
        /// Why.
        failure: Failure,
        /// What came before the failure and was already shown.
        partial: Option<String>,
    },
    /// A running call said something.
    Yielded {
        /// Which.
        call_id: CallId,
        /// What.
        item: Yield,
    },
    /// A call is over; no yield of it follows.
    CallEnded {
        /// Which.
        call_id: CallId,
        /// How.
        end: CallEnd,
        /// How long it took.
        ms: u64,
    },
    /// The query's wall time is used up.
    TimeIsUp,
    /// The user left.
    Cancelled,
}

/// Answer to an observation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fed {
    /// For a yielded result: references of its objects, or why it was refused, which ends the call.
    pub refs: Option<Result<Vec<RefId>, Failure>>,
}

/// How a turn ended.
#[derive(Clone, Debug)]
pub struct TurnEnd {
    /// Summary; says what the closing event says.
    pub ended: Ended,
    /// For the session's history.
    pub new_messages: Vec<Message>,
}

/// The state of a query that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndStatus {
    /// `query_completed`.
    Completed,
    /// `query_failed`.
    Failed,
    /// `query_cancelled`.
    Cancelled,
}

/// Summary of a query that is over.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Which of the three closing events it was.
    pub status: EndStatus,
    /// Set when completed.
    pub outcome: Option<QueryOutcome>,
    /// Set when failed.
    pub failure: Option<Failure>,
    /// All speech, joined.
    pub response: String,
    /// One list per displayed result.
    pub objects: Vec<Vec<Object>>,
    /// Decisions the agent took, branch moves and `text_response` included.
    pub decisions: u32,
    /// Tokens of all replies.
    pub tokens: Tokens,
    /// The `tool_error` events.
    pub errors: Vec<EventBody>,
}
