//! A tool and a plugin as the component sees them, and what becomes of the value a tool returns.

use serde::Serialize;

use crate::{Availability, Descriptor, Inputs, Object, Output, ToolError, Value};

/// What the agent may choose. `#[tool]` makes one of a function; implement it by hand for inputs known only at run
/// time.
///
/// A call runs in a fresh instance: nothing in memory survives it, see [`state`](crate::state).
pub trait Tool {
    /// What the agent is told. Asked without a call going on: must not depend on anything outside.
    fn descriptor(&self) -> Descriptor;

    /// Whether this is its name. `#[tool]` answers without making the whole descriptor.
    fn is_called(&self, name: &str) -> bool {
        self.descriptor().name == name
    }

    /// Runs it. The returned value counts as a last yield: a string is speech, an object one result, a list of
    /// objects one result with those objects, anything else is wrapped as `{"tool_result": value}`; `None` is nothing.
    ///
    /// # Errors
    /// The feedback goes to the agent; what was yielded before stays.
    fn call(&self, inputs: Inputs, output: &mut Output) -> Result<Option<Value>, ToolError>;

    /// Whether it can be chosen now; asked when [`Descriptor::checks_availability`] is set.
    fn available(&self) -> Availability {
        Availability::yes()
    }

    /// Inputs to run it with at once, unchosen; asked when [`Descriptor::runs_unchosen`] is set.
    fn run_if_true(&self) -> Option<Value> {
        None
    }
}

/// The tools of one component. [`export!`](crate::export) implements it.
pub trait Plugin {
    /// Its tools, in the order the agent should read them.
    fn tools() -> Vec<&'static dyn Tool>;
}

/// Makes a component of these tools. Once per crate, which must be a `cdylib`.
///
/// ```
/// /// Says hello.
/// #[elysia_plugin::tool]
/// fn hello() -> &'static str {
///     "Hello!"
/// }
///
/// elysia_plugin::export!(hello);
/// ```
#[macro_export]
macro_rules! export {
    ($($($segment:ident)::+),+ $(,)?) => {
        const _: () = {
            struct ExportedPlugin;

            impl $crate::Plugin for ExportedPlugin {
                fn tools() -> ::std::vec::Vec<&'static dyn $crate::Tool> {
                    ::std::vec![$(&$($segment)::+ {} as &'static dyn $crate::Tool),+]
                }
            }

            // Natively the names of the exports would clash with the linker's rules, and nobody would call them.
            #[cfg(target_family = "wasm")]
            $crate::__private::bindings::export!(ExportedPlugin with_types_in $crate::__private::bindings);
            #[cfg(not(target_family = "wasm"))]
            const _: fn() -> ::std::vec::Vec<&'static dyn $crate::Tool> = <ExportedPlugin as $crate::Plugin>::tools;
        };
    };
}

/// An [`Object`] written in place: `object! { "name": name, "price": 2.5 }`.
///
/// ```
/// let object = elysia_plugin::object! { "name": "espresso", "price": 2.5 };
/// assert_eq!(object["price"], 2.5);
/// ```
#[macro_export]
macro_rules! object {
    ($($fields:tt)*) => {
        $crate::__private::object_from($crate::__private::json!({ $($fields)* }))
    };
}

/// The object that `object!` wrote.
pub fn object_from(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        _ => Object::new(),
    }
}

/// A returned value on its way to the host.
///
/// `Result` is told from other values by method lookup: the inherent method comes before the one of [`SettleValue`].
/// A blanket trait cannot do it, since serde's `Result` is a value like any other.
pub struct Returned<T>(pub T);

impl<T, E> Returned<Result<T, E>> {
    /// `Ok` is the value, `Err` the tool's error.
    ///
    /// # Errors
    /// The tool's own.
    pub fn settle(self) -> Result<Option<Value>, ToolError>
    where
        T: Serialize,
        E: Into<ToolError>,
    {
        self.0.map_err(Into::into).and_then(|value| to_value(&value))
    }
}

/// Values that cannot fail.
pub trait SettleValue {
    /// The value as JSON; null is nothing.
    ///
    /// # Errors
    /// When it has no JSON form.
    fn settle(self) -> Result<Option<Value>, ToolError>;
}

impl<T: Serialize> SettleValue for Returned<T> {
    fn settle(self) -> Result<Option<Value>, ToolError> {
        to_value(&self.0)
    }
}

fn to_value(value: &impl Serialize) -> Result<Option<Value>, ToolError> {
    // Only maps with odd keys and types that refuse themselves get here; the parser's words would add 3 KiB to each plugin.
    let value = serde_json::to_value(value).map_err(|_| ToolError::failed("the returned value has no JSON form"))?;
    Ok(Some(value).filter(|value| !value.is_null()))
}

/// What a function named by `run_if_true` may return.
pub trait UnchosenInputs {
    /// The inputs to run with, if any.
    fn into_inputs(self) -> Option<Value>;
}

impl UnchosenInputs for bool {
    fn into_inputs(self) -> Option<Value> {
        self.then(|| Value::Object(Object::new()))
    }
}

impl<T: Serialize> UnchosenInputs for Option<T> {
    fn into_inputs(self) -> Option<Value> {
        // Inputs without a JSON form cannot be given; the tool is then simply not run.
        self.and_then(|inputs| serde_json::to_value(inputs).ok())
    }
}

/// Reads the answer of a `run_if_true` function.
pub fn unchosen_inputs(answer: impl UnchosenInputs) -> Option<Value> {
    answer.into_inputs()
}
