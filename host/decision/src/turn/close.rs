//! The four ends of a query: an answer, a limit, a failure, a cancellation. Each closes exactly once.

use elysia_types::{EventBody, Failure, FailureCode, Message, QueryOutcome, Role};

use super::{Phase, Turn};
use crate::action::{EndStatus, Ended};
use crate::lexical::{self, ResultView};
use crate::task::TaskOutcome;

impl Turn {
    pub(super) fn complete(&mut self, outcome: QueryOutcome) {
        let ended = self.summary(EndStatus::Completed, Some(outcome), None);
        let (response, objects) = (ended.response.clone(), ended.objects.clone());
        let (decisions, tokens) = (ended.decisions, ended.tokens);
        self.close(ended, EventBody::QueryCompleted { outcome, response, objects, decisions, tokens });
    }

    pub(super) fn fail(&mut self, failure: Failure) {
        let ended = self.summary(EndStatus::Failed, None, Some(failure.clone()));
        let (response, objects) = (ended.response.clone(), ended.objects.clone());
        let Failure { code, message, .. } = failure;
        self.close(ended, EventBody::QueryFailed { code, message, response, objects });
    }

    pub(super) fn cancelled(&mut self) {
        let ended = self.summary(EndStatus::Cancelled, None, None);
        let (response, objects) = (ended.response.clone(), ended.objects.clone());
        self.close(ended, EventBody::QueryCancelled { response, objects });
    }

    fn close(&mut self, ended: Ended, event: EventBody) {
        if self.ended.is_some() {
            return;
        }
        self.drain();
        self.emit(event);
        self.ended = Some(ended);
        self.question = None;
        self.phase = Phase::Over;
    }

    pub(super) fn summary(&self, status: EndStatus, outcome: Option<QueryOutcome>, failure: Option<Failure>) -> Ended {
        Ended {
            status,
            outcome,
            failure,
            response: self.recorder.response(),
            objects: self.recorder.objects(),
            decisions: self.n_decisions,
            tokens: self.spent.usage,
            errors: self.recorder.errors.clone(),
        }
    }

    /// The host's own answer when there is no time or no token left to ask the model.
    pub(super) fn compose_at_limit(&mut self, why: &str) {
        let found = self.composed_results();
        let text = match found {
            Some(found) => format!("The answer is not complete: {why}. Found so far:\n{found}"),
            None => format!("There is no answer: {why} before anything was found."),
        };
        self.recorder.spoke = true;
        self.recorder.agent_says(&text);
        self.complete(QueryOutcome::Limit);
    }

    /// Displayed results and errors of this query in words; none when there are neither.
    pub(super) fn composed_results(&self) -> Option<String> {
        let found = self.recorder.found_in_order();
        let shown: Vec<ResultView<'_>> = found
            .iter()
            .filter(|f| f.displayed)
            .map(|f| {
                let (tool, name) = (f.tool.as_str(), f.name.as_str());
                ResultView { tool, name, objects: &f.objects, total: f.objects.len() }
            })
            .collect();
        let errors: Vec<String> = self.recorder.tasks.iter().filter_map(|t| unresolved(&t.outcome)).collect();
        (!shown.is_empty() || !errors.is_empty()).then(|| lexical::compose(&shown, &errors))
    }

    pub(super) fn new_messages(&self) -> Vec<Message> {
        let Some(prompt) = &self.prompt else { return Vec::new() };
        let mut messages = vec![Message { role: Role::User, text: prompt.to_string() }];
        let response = self.recorder.response();
        if !response.is_empty() {
            messages.push(Message { role: Role::Assistant, text: response });
        }
        messages
    }
}

fn unresolved(outcome: &TaskOutcome) -> Option<String> {
    match outcome {
        TaskOutcome::Failed { code, feedback } if *code != FailureCode::Cancelled => Some(feedback.clone()),
        _ => None,
    }
}
