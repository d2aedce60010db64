//! The table of routes: what each is for, what it takes and gives, and who answers.

use axum::http::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::Shared;
use crate::call::{Call, Reply};
use hermes_app::pool::Seat;

/// One thing that can be asked.
pub(super) struct Route {
    pub(super) method: Method,
    /// With `{name}` for what varies.
    pub(super) path: &'static str,
    pub(super) about: &'static str,
    pub(super) needs: Needs,
    /// What may stand after the `?`.
    pub(super) query: Option<Shape>,
    /// What the body holds.
    pub(super) body: Option<Shape>,
    /// What the answer holds: names with their types.
    pub(super) answer: &'static [(&'static str, &'static str)],
    pub(super) run: Run,
}

/// What somebody must be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// Nothing: it tells nothing about anybody.
    Nothing,
    /// To read.
    Reading,
    /// To change something.
    Writing,
}

/// A schema, made when it is asked for.
pub(super) type Shape = fn(&mut SchemaGenerator) -> Schema;

/// Who answers.
#[derive(Clone, Copy)]
pub(super) enum Run {
    /// Outside the workers, because it costs next to nothing.
    AtOnce(fn(&Shared, &Call) -> anyhow::Result<Reply>),
    /// Counts, outside the workers: whoever watches must see that they are all taken.
    Metrics,
    /// Without a profile.
    Plain(fn(&Shared, &Call) -> anyhow::Result<Reply>),
    /// At a profile.
    At(fn(&mut Seat, &Call) -> anyhow::Result<Reply>),
    /// As long as somebody listens.
    Changes,
}

/// The schema of a type.
pub(super) fn shape<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

impl Route {
    pub(super) fn get(path: &'static str, about: &'static str, run: Run) -> Route {
        Route {
            method: Method::GET,
            path,
            about,
            needs: Needs::Reading,
            query: None,
            body: None,
            answer: &[],
            run,
        }
    }

    pub(super) fn change(
        method: Method,
        path: &'static str,
        about: &'static str,
        run: Run,
    ) -> Route {
        Route { method, needs: Needs::Writing, ..Route::get(path, about, run) }
    }

    pub(super) fn query<T: JsonSchema>(self) -> Route {
        Route { query: Some(shape::<T>), ..self }
    }

    pub(super) fn body<T: JsonSchema>(self) -> Route {
        Route { body: Some(shape::<T>), ..self }
    }

    pub(super) fn needs(self, needs: Needs) -> Route {
        Route { needs, ..self }
    }

    pub(super) fn gives(self, answer: &'static [(&'static str, &'static str)]) -> Route {
        Route { answer, ..self }
    }
}
