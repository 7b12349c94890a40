//! The model's replies: what is acted on, what is sent back, what ends the query.

use elysia_types::{EventBody, Failure, FailureCode, QueryOutcome, clean, truncate};

use super::{Question, Turn};
use crate::offer::Pick;
use crate::prompt::PromptKind;
use crate::reply::{self, Complaint, Legal, ModelReply, Verdict};

/// How often a bad reply is sent back before the query fails.
const MAX_COMPLAINTS: usize = 3;
/// Bytes of a bad reply that are shown to the model again.
const SHOWN_REPLY: usize = 4 * 1024;

impl Turn {
    pub(super) fn replied(&mut self, reply: &ModelReply, ms: u64) {
        let Some(mut question) = self.question.take() else {
            return;
        };
        self.spent.usage.add(reply.usage);
        question.usage.add(reply.usage);
        question.ms = question.ms.saturating_add(ms);
        let read = match question.kind {
            PromptKind::Decide => reply::read(reply, &self.tree, &question.offer),
            PromptKind::Answer => reply::read_answer(reply),
        };
        let insists = |complaint: &Complaint| complaint.text_only.clone().filter(|_| question.was_text);
        match read {
            Ok(legal) => self.act(legal, &question),
            Err(complaint) => match insists(&complaint) {
                Some(text) => self.act(reply::answer(text), &question),
                None => self.send_back(question, reply, &complaint),
            },
        }
    }

    fn send_back(&mut self, mut question: Question, reply: &ModelReply, complaint: &Complaint) {
        if question.exchange.len() >= MAX_COMPLAINTS {
            let n = MAX_COMPLAINTS + 1;
            let message = format!("the model gave no usable reply in {n} tries; the last one: {complaint}");
            return self.fail(Failure::new(FailureCode::Model, truncate(&clean(&message), 2_048)));
        }
        if self.tokens_gone() {
            return self.compose_at_limit("the query's tokens are used up");
        }
        question.was_text = complaint.text_only.is_some();
        question.exchange.push((said(reply), complaint.to_string()));
        self.ask(question);
    }

    pub(super) fn model_failed(&mut self, failure: Failure, partial: Option<String>) {
        let is_answer = self.question.as_ref().is_some_and(|q| q.kind == PromptKind::Answer);
        if let Some(partial) = partial.filter(|p| is_answer && !p.trim().is_empty()) {
            self.recorder.agent_says(&format!("{} [cut off]", partial.trim_end()));
            self.drain();
        }
        self.fail(failure);
    }

    fn act(&mut self, legal: Legal, question: &Question) {
        let Legal { verdict, decision, is_choice } = legal;
        // Words that were asked for are not a decision; words given instead of one are.
        if is_choice || question.kind == PromptKind::Decide {
            self.n_decisions += 1;
            self.emit(EventBody::Decision {
                branch: self.branch_id(),
                choices: decision.choices,
                message: decision.message.clone(),
                reason: decision.reason,
                end: decision.end,
                impossible: decision.impossible,
                tokens: question.usage,
                ms: question.ms,
            });
        }
        let message = decision.message.filter(|_| !matches!(verdict, Verdict::Answer(_)));
        if let Some(message) = &message {
            self.recorder.agent_says(message);
            self.drain();
        }
        match verdict {
            Verdict::Answer(text) => {
                self.recorder.spoke = true;
                self.recorder.agent_says(&text);
                self.complete(question.outcome);
            }
            Verdict::Impossible(text) => self.impossible(message.as_deref(), text, question),
            Verdict::Move(pick) => self.go(pick),
            Verdict::Tools(choices) => self.run_chosen(choices, decision.end),
        }
    }

    fn impossible(&mut self, message: Option<&str>, text: Option<String>, question: &Question) {
        let text = text.filter(|t| Some(t.as_str()) != message);
        if message.is_none() && text.is_none() {
            self.recorder.agent_says(&none_can_help(question));
        }
        if let Some(text) = text {
            self.recorder.agent_says(&text);
        }
        if let Some(found) = self.composed_results() {
            self.recorder.agent_says(&format!("Found so far:\n{found}"));
        }
        self.complete(QueryOutcome::Impossible);
    }

    fn go(&mut self, pick: Pick) {
        self.moves += 1;
        match pick {
            Pick::Branch(branch) => self.at = branch,
            _ => {
                self.went_back = true;
                self.at = self.tree.branch(self.at).and_then(|b| b.parent).unwrap_or_else(|| self.tree.root());
            }
        }
        self.step();
    }
}

fn none_can_help(question: &Question) -> String {
    let mut text = String::from("None of the tools on offer can do this.");
    for (name, reason) in question.offer.unavailable.iter().take(4) {
        text.push_str(&format!(" `{name}` is not available: {reason}."));
    }
    text
}

/// What the model said, as it is shown to it again.
fn said(reply: &ModelReply) -> String {
    let mut out = truncate(&clean(&reply.text), SHOWN_REPLY).to_owned();
    for call in &reply.tool_calls {
        let room = SHOWN_REPLY.saturating_sub(out.len());
        let arguments = clean(&call.arguments);
        out.push_str(truncate(&format!("\n{} {arguments}", clean(&call.name)), room));
    }
    if out.trim().is_empty() { "(nothing)".to_owned() } else { out.trim().to_owned() }
}
