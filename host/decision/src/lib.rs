//! The decision tree as a pure state machine: no async, no I/O, no clock, no randomness.
//!
//! Start with [`Turn`]: `next()` says what to do, `feed()` takes what was seen. Nothing here can fail because of the
//! outside; it has no outside. Modules are listed bottom-up: each may use those above it, `error` is used by all.
#![forbid(unsafe_code)]

mod error;

mod config;

mod entry;

mod task;

mod grammar;

mod block;

mod tree;

mod offer;

mod reply;

mod digest;

mod prompt;

mod action;

pub mod lexical;

mod recorder;

mod rule;

mod turn;

pub mod local;

pub use action::{Action, CallPlan, Checks, EndStatus, Ended, Fed, Observation, TurnEnd, TurnStart};
pub use block::neutralise;
pub use config::{BranchConfig, Preset, ToolConfig, TreeConfig};
pub use digest::digest;
pub use entry::{BACK, BUILT_INS, IMPOSSIBLE, ROOT, TEXT_RESPONSE, ToolEntry};
pub use error::TreeError;
pub use grammar::MOST_CHOICES;
pub use offer::{Offer, OfferedBranch, Pick};
pub use prompt::{AgentProfile, LocalView, Prompt, PromptKind, PromptTool};
pub use reply::{Complaint, Legal, ModelReply, ModelToolCall, Verdict, read as read_reply, read_answer};
pub use task::{Found, Task, TaskOutcome};
pub use tree::{Branch, BranchIdx, Leaf, ToolIdx, Tree};
pub use turn::Turn;
