//! Who may read the environment while it grows: one writer, and views that stand still.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

use super::{Environment, LocationSummary};
use crate::id::{RefId, ToolName};
use crate::object::Object;

/// The session's environment, shared by its one writer and the readers of running calls.
#[derive(Clone, Debug, Default)]
pub struct SharedEnvironment(Arc<RwLock<Environment>>);

impl SharedEnvironment {
    /// Shares `environment`.
    pub fn new(environment: Environment) -> Self {
        Self(Arc::new(RwLock::new(environment)))
    }

    /// Reads. Additions are all or nothing, so a poisoned lock still guards a whole state.
    pub fn read<T>(&self, look: impl FnOnce(&Environment) -> T) -> T {
        look(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Writes.
    pub fn write<T>(&self, change: impl FnOnce(&mut Environment) -> T) -> T {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// What stands in it now, for one call. With `only`, nothing but those tools' entries.
    pub fn view(&self, only: Option<HashSet<ToolName>>) -> EnvironmentView {
        EnvironmentView { until: self.read(Environment::version), environment: self.clone(), only }
    }
}

/// The environment as it stood at one moment, as a call may see it: objects whole.
#[derive(Clone, Debug)]
pub struct EnvironmentView {
    environment: SharedEnvironment,
    until: u64,
    only: Option<HashSet<ToolName>>,
}

impl EnvironmentView {
    fn may_see(&self, tool: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(tool))
    }

    /// Where results are.
    pub fn locations(&self) -> Vec<LocationSummary> {
        let mut all = self.environment.read(|e| e.locations_until(self.until));
        all.retain(|l| self.may_see(l.tool.as_str()));
        all
    }

    /// The entry at `index`, 0 the oldest: metadata and whole objects.
    pub fn get(&self, tool: &str, name: &str, index: usize) -> Option<(Object, Vec<Object>)> {
        self.entry(tool, name, |n| (index < n).then_some(index))
    }

    /// The newest entry.
    pub fn latest(&self, tool: &str, name: &str) -> Option<(Object, Vec<Object>)> {
        self.entry(tool, name, |n| n.checked_sub(1))
    }

    fn entry(
        &self,
        tool: &str,
        name: &str,
        pick: impl FnOnce(usize) -> Option<usize>,
    ) -> Option<(Object, Vec<Object>)> {
        if !self.may_see(tool) {
            return None;
        }
        self.environment.read(|e| {
            let entries = e.entries(tool, name);
            let entry = entries.get(pick(entries.partition_point(|entry| entry.seq < self.until))?)?;
            Some((entry.metadata.clone(), entry.objects.iter().map(|o| e.whole(o).clone()).collect()))
        })
    }

    /// The object that carries `reference`; beyond the snapshot only when `also` lists it (what this call yielded).
    pub fn object(&self, reference: &str, also: &HashSet<RefId>) -> Option<Object> {
        self.environment.read(|e| {
            let place = e.refs.get(reference)?;
            let location = e.tools.get(&place.tool)?.get(&place.name)?;
            let entry = location.entries.get(place.entry.checked_sub(location.dropped)?)?;
            let seen = entry.seq < self.until && self.may_see(place.tool.as_str());
            (seen || also.contains(reference)).then(|| entry.objects.get(place.object).cloned())?
        })
    }
}
