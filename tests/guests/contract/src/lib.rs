//! One tool for each behaviour a host owes its plugins. Cases run them and compare events.
//!
//! What a tool says is fixed, so that a guest in another language can be held against the same answers. The README of
//! the folder above lists them; `yields`, `faults` and `reads` hold them by subject.

mod faults;
mod reads;
mod yields;

use faults::{allocate, deep, exit, fail, many, sleep, spin, trap};
use reads::{
    ask_model, automatic, conversation, decorated, fetch, forget, guarded, locations, now, outside, read_entry,
    read_env, read_file, read_object, recall, remember, remembered,
};
use yields::{big, cite, defaults, echo, log_line, nothing, progress, result, returns, unicode, warn, yield_all};

elysia_plugin::export!(
    yield_all,
    result,
    returns,
    cite,
    echo,
    defaults,
    unicode,
    big,
    nothing,
    progress,
    warn,
    log_line,
    fail,
    trap,
    exit,
    spin,
    sleep,
    allocate,
    many,
    deep,
    locations,
    read_entry,
    read_object,
    remember,
    recall,
    forget,
    remembered,
    conversation,
    now,
    guarded,
    outside,
    automatic,
    fetch,
    ask_model,
    read_file,
    read_env,
    decorated,
);
