//! What the conversation is about. Empty for a plugin that can send data out, unless the operator granted more.

use crate::host;

/// Who said something.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// The person.
    User,
    /// The agent.
    Assistant,
}

/// Something that was said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// By whom.
    pub role: Role,
    /// What.
    pub text: String,
}

impl Message {
    /// A message of the person.
    pub fn user(text: impl Into<String>) -> Message {
        Message { role: Role::User, text: text.into() }
    }

    /// A message of the agent.
    pub fn assistant(text: impl Into<String>) -> Message {
        Message { role: Role::Assistant, text: text.into() }
    }
}

/// The query being answered.
pub fn prompt() -> String {
    host::conversation_prompt()
}

/// Earlier messages, oldest first, bounded by the host.
pub fn history() -> Vec<Message> {
    host::conversation_history()
}

/// Now, in the user's time zone, RFC 3339 with offset. The same for the whole call.
pub fn now() -> String {
    host::conversation_now()
}
