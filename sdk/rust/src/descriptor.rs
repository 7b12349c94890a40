//! What the decision agent and the operator are told about a tool.

use crate::{Object, ToolInput, Value};

/// Name, description, input schema and behaviour of one tool. `#[tool]` makes it; written by hand only by a
/// [`Tool`](crate::Tool) made without the attribute.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Descriptor {
    /// `[a-z][a-z0-9_-]{0,63}`.
    pub name: String,
    /// For people; `None` means the name in words.
    pub title: Option<String>,
    /// What the tool does and when to choose it.
    pub description: String,
    /// JSON Schema whose top level is an object.
    pub input_schema: Value,
    /// JSON Schema of one object that the tool yields.
    pub output_schema: Option<Value>,
    /// Questions this tool answers, in a user's words.
    pub examples: Vec<String>,
    /// What a call does to the world outside the conversation.
    pub effects: Effects,
    /// Calling again with the same inputs changes nothing more.
    pub idempotent: bool,
    /// Whether the tree may end after this tool.
    pub may_end: bool,
    /// Shown while the tool runs; `None` means "Running {name}...".
    pub status: Option<String>,
    /// Where the tool would like to stand.
    pub placement: Option<Placement>,
    /// Ask [`Tool::available`](crate::Tool::available) before each decision.
    pub checks_availability: bool,
    /// Ask [`Tool::run_if_true`](crate::Tool::run_if_true) before each decision.
    pub runs_unchosen: bool,
    /// Further facts by namespaced key.
    pub annotations: Vec<(String, Value)>,
}

/// What a call does to the world outside the conversation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Effects {
    /// Computes only.
    #[default]
    None,
    /// Reads from outside.
    Reads,
    /// Changes something outside; can be undone or repeated safely.
    Writes,
    /// Changes something outside for good: deletes, sends, pays.
    Destructive,
}

/// A wish about the tool's place in the decision tree.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Placement {
    /// Id of a branch the operator has made; `None` means the root.
    pub branch: Option<String>,
    /// The tool is on offer only right after these tools succeeded in this order.
    pub after: Vec<String>,
}

/// Whether a tool can be chosen now, and if not, what would make it so.
///
/// A function named by `#[tool(available = …)]` may return it, a `bool`, or `Result<(), reason>`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Availability {
    /// It can be chosen.
    pub available: bool,
    /// Why not, for the agent.
    pub reason: Option<String>,
}

impl Availability {
    /// It can be chosen.
    pub fn yes() -> Availability {
        Availability { available: true, reason: None }
    }

    /// It cannot be chosen; `reason` says what would make it so.
    pub fn no(reason: impl Into<String>) -> Availability {
        Availability { available: false, reason: Some(reason.into()) }
    }
}

impl From<bool> for Availability {
    fn from(available: bool) -> Availability {
        Availability { available, reason: None }
    }
}

impl<E: ToString> From<Result<(), E>> for Availability {
    fn from(result: Result<(), E>) -> Availability {
        match result {
            Ok(()) => Availability::yes(),
            Err(reason) => Availability::no(reason.to_string()),
        }
    }
}

impl Descriptor {
    /// A tool without inputs that only computes.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Descriptor {
        Descriptor {
            name: name.into(),
            title: None,
            description: description.into(),
            input_schema: crate::schema::ObjectSchema::new().build(),
            output_schema: None,
            examples: Vec::new(),
            effects: Effects::None,
            idempotent: false,
            may_end: false,
            status: None,
            placement: None,
            checks_availability: false,
            runs_unchosen: false,
            annotations: Vec::new(),
        }
    }

    /// Takes the fields of `T` as inputs.
    pub fn inputs<T: ToolInput>(self) -> Descriptor {
        self.input_schema(T::schema())
    }

    /// The names of its inputs, in order.
    pub fn input_names(&self) -> Vec<&str> {
        let properties = self.input_schema.get("properties").and_then(Value::as_object);
        properties.map(|properties: &Object| properties.keys().map(String::as_str).collect()).unwrap_or_default()
    }
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $from:ty => |$self:ident, $value:ident| $body:expr;)*) => {
        impl Descriptor {
            $($(#[$doc])*
            #[must_use]
            pub fn $name(mut $self, $value: $from) -> Descriptor {
                $body;
                $self
            })*
        }
    };
}

setters! {
    /// Sets [`Descriptor::title`].
    title: impl Into<String> => |self, title| self.title = Some(title.into());
    /// Sets [`Descriptor::input_schema`].
    input_schema: Value => |self, schema| self.input_schema = schema;
    /// Sets [`Descriptor::output_schema`].
    output_schema: Value => |self, schema| self.output_schema = Some(schema);
    /// Sets [`Descriptor::examples`].
    examples: impl IntoIterator<Item = &'static str> => |self, examples| self.examples = examples.into_iter().map(Into::into).collect();
    /// Sets [`Descriptor::effects`].
    effects: Effects => |self, effects| self.effects = effects;
    /// Sets [`Descriptor::idempotent`].
    idempotent: bool => |self, idempotent| self.idempotent = idempotent;
    /// Sets [`Descriptor::may_end`].
    may_end: bool => |self, may_end| self.may_end = may_end;
    /// Sets [`Descriptor::status`].
    status: impl Into<String> => |self, status| self.status = Some(status.into());
    /// Wishes for a branch.
    branch: impl Into<String> => |self, branch| self.placement.get_or_insert_default().branch = Some(branch.into());
    /// Wishes to be on offer only right after these tools.
    after: impl IntoIterator<Item = &'static str> => |self, tools| self.placement.get_or_insert_default().after = tools.into_iter().map(Into::into).collect();
    /// Sets [`Descriptor::checks_availability`].
    checks_availability: bool => |self, checks| self.checks_availability = checks;
    /// Sets [`Descriptor::runs_unchosen`].
    runs_unchosen: bool => |self, runs| self.runs_unchosen = runs;
}

impl Descriptor {
    /// Adds to [`Descriptor::annotations`].
    #[must_use]
    pub fn annotation(mut self, key: impl Into<String>, value: Value) -> Descriptor {
        self.annotations.push((key.into(), value));
        self
    }
}
