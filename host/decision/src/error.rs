//! What can be wrong with the operator's tree; every message says which key of the file to look at.

/// Why a tree cannot be built from its configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// A branch is placed under, or a tool into, a branch that does not exist.
    #[error("`{key}`: there is no branch `{id}`; known branches: {known}")]
    UnknownBranch {
        /// Where, e.g. `tree.branches.search.under`.
        key: String,
        /// The unknown id.
        id: String,
        /// The known ones, joined by commas.
        known: String,
    },
    /// The id is taken: by the root or by a built-in option.
    #[error("`{key}`: `{id}` is the name of {owner}; choose another id")]
    Taken {
        /// Where.
        key: String,
        /// The id.
        id: String,
        /// Who has it.
        owner: &'static str,
    },
    /// The branch cannot be reached from the root because its chain of parents is a circle.
    #[error("`{key}`: branch `{id}` cannot be reached from the root: {path} is a circle")]
    Cycle {
        /// Where.
        key: String,
        /// The unreachable branch.
        id: String,
        /// The circle, written `a under b under a`.
        path: String,
    },
    /// Not an id at all.
    #[error("`{key}`: {reason}")]
    InvalidName {
        /// Where.
        key: String,
        /// What is wrong.
        reason: String,
    },
}

impl TreeError {
    /// Path of the key at fault, e.g. `tree.branches.search.under`, so that a caller can find its line.
    pub fn key(&self) -> &str {
        match self {
            Self::UnknownBranch { key, .. }
            | Self::Taken { key, .. }
            | Self::Cycle { key, .. }
            | Self::InvalidName { key, .. } => key,
        }
    }
}
