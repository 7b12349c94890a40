//! What a tool says while it runs. Every yield reaches the host at once.

use serde::Serialize;

use crate::{Object, RefId, ToolError, Value, host};

/// Takes a running tool's yields. A function gets one by a parameter `out: &mut Output`.
///
/// A yield blocks while the host is behind. One that the host refuses (too large, too many) ends the call.
///
/// ```
/// use elysia_plugin::{CitedText, Output, ToolError, ToolResult, object};
///
/// /// Finds opening hours.
/// #[elysia_plugin::tool]
/// fn opening_hours(store: String, out: &mut Output) -> Result<(), ToolError> {
///     out.status(format!("looking up {store}"));
///     let hours = ToolResult::new([object! { "store": store, "opens": "08:00" }]).name("hours").payload_type("table");
///     let references = out.result(hours)?;
///     out.cited_text("Opening hours", [CitedText::new("It opens at eight.", references)]);
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct Output {
    // One per call; made by the component or the testing module alone.
    _private: (),
}

impl Output {
    pub(crate) fn new() -> Output {
        Output { _private: () }
    }

    /// Speech to the user, added to the conversation.
    pub fn text(&mut self, text: impl AsRef<str>) {
        host::yield_text(text.as_ref());
    }

    /// Speech whose paragraphs cite objects of the environment. An empty title is none.
    pub fn cited_text(&mut self, title: impl AsRef<str>, paragraphs: impl IntoIterator<Item = CitedText>) {
        let title = Some(title.as_ref()).filter(|title| !title.is_empty());
        host::yield_cited_text(title, &paragraphs.into_iter().collect::<Vec<_>>());
    }

    /// Objects for the environment: the decision agent and later tools see them. Answers the reference of each
    /// object, in order. No objects at all is an answer too: nothing was found.
    ///
    /// # Errors
    /// When an object has no JSON form or is not a JSON object; nothing is yielded then.
    pub fn result(&mut self, result: impl Into<ToolResult>) -> Result<Vec<RefId>, ToolError> {
        let result = result.into();
        match result.problem {
            Some(problem) => Err(problem),
            None => Ok(host::yield_result(&result)),
        }
    }

    /// One object as a result of its own, under the name `default`, shown as a table. Answers its reference.
    pub fn object(&mut self, object: Object) -> RefId {
        // The host answers one reference per object; a host that does not gets an empty one back, which cites nothing.
        host::yield_result(&object.into()).into_iter().next().unwrap_or_else(|| RefId::new(""))
    }

    /// Progress in words, shown and then forgotten.
    pub fn status(&mut self, status: impl AsRef<str>) {
        host::yield_status(status.as_ref());
    }

    /// Progress of a known amount of work: `done` of `total` steps.
    pub fn progress(&mut self, done: u32, total: u32) {
        host::yield_progress(done, total);
    }

    /// Something the user should know that does not stop the call.
    pub fn warning(&mut self, warning: impl AsRef<str>) {
        host::yield_warning(warning.as_ref());
    }
}

/// One result: a group of objects with shared metadata, added to the environment by the host.
#[derive(Clone, PartialEq, Debug)]
#[must_use = "give it to `Output::result`"]
pub struct ToolResult {
    pub(crate) name: Option<String>,
    pub(crate) objects: Vec<Value>,
    pub(crate) metadata: Option<Object>,
    pub(crate) payload_type: Option<String>,
    pub(crate) mapping: Vec<(String, String)>,
    pub(crate) llm_message: Option<String>,
    pub(crate) display: bool,
    pub(crate) annotations: Vec<(String, Value)>,
    /// Why it cannot be yielded; reported there, so that building reads without `?` in every line.
    problem: Option<ToolError>,
}

impl ToolResult {
    /// A result with these objects: anything that serializes to a JSON object.
    pub fn new<T: Serialize>(objects: impl IntoIterator<Item = T>) -> ToolResult {
        let mut result = ToolResult::of(Vec::new());
        for (i, object) in objects.into_iter().enumerate() {
            match serde_json::to_value(object) {
                Ok(Value::Object(object)) => result.objects.push(Value::Object(object)),
                Ok(other) => result.refuse(format!("object {i} of a result must be a JSON object, not {other}")),
                Err(error) => result.refuse(format!("object {i} of a result has no JSON form: {error}")),
            }
        }
        result
    }

    fn of(objects: Vec<Value>) -> ToolResult {
        ToolResult {
            name: None,
            objects,
            metadata: None,
            payload_type: None,
            mapping: Vec::new(),
            llm_message: None,
            display: true,
            annotations: Vec::new(),
            problem: None,
        }
    }

    fn refuse(&mut self, feedback: String) {
        self.problem.get_or_insert(ToolError::failed(feedback));
    }

    /// How many objects there are.
    #[must_use]
    pub fn n_objects(&self) -> usize {
        self.objects.len()
    }

    /// Subkey under the tool's name in the environment; "default" unless said.
    pub fn name(mut self, name: impl Into<String>) -> ToolResult {
        self.name = Some(name.into());
        self
    }

    /// How a front end should show the objects: "table" (unless said), "document", "product", "bar_chart", …
    pub fn payload_type(mut self, payload_type: impl Into<String>) -> ToolResult {
        self.payload_type = Some(payload_type.into());
        self
    }

    /// Adds a field the front end knows and the field of the objects that fills it.
    pub fn map(mut self, front_end_field: impl Into<String>, object_field: impl Into<String>) -> ToolResult {
        self.mapping.push((front_end_field.into(), object_field.into()));
        self
    }

    /// Adds several pairs of (field the front end knows, field of the objects).
    pub fn mapping<'a>(mut self, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> ToolResult {
        self.mapping.extend(pairs.into_iter().map(|(front_end, object)| (front_end.to_owned(), object.to_owned())));
        self
    }

    /// What all objects share.
    pub fn metadata(mut self, metadata: Object) -> ToolResult {
        self.metadata = Some(metadata);
        self
    }

    /// A sentence for the decision agent about this result, at most 500 bytes.
    pub fn llm_message(mut self, message: impl Into<String>) -> ToolResult {
        self.llm_message = Some(message.into());
        self
    }

    /// False keeps the result in the environment without showing it to the user.
    pub fn display(mut self, display: bool) -> ToolResult {
        self.display = display;
        self
    }

    /// A further fact by namespaced key; hosts ignore those they do not know.
    pub fn annotation(mut self, key: impl Into<String>, value: Value) -> ToolResult {
        self.annotations.push((key.into(), value));
        self
    }
}

impl From<Object> for ToolResult {
    fn from(object: Object) -> ToolResult {
        ToolResult::of(vec![Value::Object(object)])
    }
}

impl From<Vec<Object>> for ToolResult {
    fn from(objects: Vec<Object>) -> ToolResult {
        ToolResult::of(objects.into_iter().map(Value::Object).collect())
    }
}

/// A paragraph and the objects of the environment that support it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CitedText {
    /// The paragraph.
    pub text: String,
    /// What it rests on.
    pub ref_ids: Vec<RefId>,
}

impl CitedText {
    /// A paragraph that cites `ref_ids`.
    pub fn new(text: impl Into<String>, ref_ids: impl IntoIterator<Item = RefId>) -> CitedText {
        CitedText { text: text.into(), ref_ids: ref_ids.into_iter().collect() }
    }
}
