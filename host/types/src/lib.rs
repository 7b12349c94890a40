//! Nouns shared by every crate of the host: ids, tools, objects, the environment, limits, decisions, events.
//!
//! No async, no I/O, no clock, no WebAssembly. Start with [`Event`] for what callers observe and
//! [`Environment`] for what tools share. Modules are listed bottom-up: each may use those above it.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod text;

mod id;

mod json;

mod object;

mod limits;

mod failure;

mod tool;

mod schema;

mod environment;

mod message;

mod decision;

mod budget;

mod event;

pub use budget::{QueryBudget, Spent};
pub use decision::{Chosen, Decision};
pub use environment::{
    Added, Entry, Environment, EnvironmentFull, EnvironmentView, LocationSummary, SharedEnvironment, StoredEntry,
    StoredLocation,
};
pub use event::{CallRef, Citation, Event, EventBody, QueryOutcome, TextSource, Tokens};
pub use failure::{Failure, FailureCode, LimitReport};
pub use id::{BranchId, CallId, IdError, PluginName, QueryId, RefId, ResultName, SessionId, ToolName};
pub use json::{JsonError, JsonPolicy, parse_json};
pub use limits::{
    CallLimitSettings, CompileLimitSettings, DescribeLimitSettings, HttpLimitSettings, LimitSettings, Limits,
    SizeInBytes, SpanOfTime,
};
pub use message::{Message, Role, Usage};
pub use object::{Object, REF_ID_KEY, object_size};
pub use schema::{InputSchema, SchemaComplaint, SchemaError};
pub use text::{clean, clean_line, steers, truncate};
pub use tool::{
    Availability, CallEnd, CitedText, Effects, Placement, PluginState, ToolDescriptor, ToolInputs, ToolResult, Yield,
};
