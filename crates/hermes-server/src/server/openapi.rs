//! The page that describes the API, made from the table of routes itself.

use std::collections::BTreeMap;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::route::{Needs, Route, Run};
use super::routes;

/// The whole page.
pub(super) fn page() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.into_generator();
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for route in routes::all() {
        let operation = operation(&route, &mut generator);
        paths
            .entry(route.path)
            .or_default()
            .insert(route.method.as_str().to_lowercase(), operation);
    }
    let mut schemas = generator.take_definitions(true);
    schemas.insert("Error".to_owned(), error_schema());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Hermes",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Persistent memory for AI agents. Every request except /health and this \
                 page needs a token, `Authorization: Bearer TOKEN`. `X-Hermes-Profile` selects the \
                 profile, `X-Hermes-User` the user.",
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "key": { "type": "apiKey", "in": "header", "name": "X-Api-Key" },
            },
        },
        "security": [{ "bearer": [] }, { "key": [] }],
    })
}

fn operation(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let mut parameters: Vec<Value> = path_names(route.path)
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect();
    if let Some(query) = route.query {
        parameters.extend(query_parameters(generator, query));
    }
    if matches!(route.run, Run::At(_) | Run::Changes) {
        for (name, about) in [
            ("X-Hermes-Profile", "The profile; `default` if omitted."),
            ("X-Hermes-User", "The user; the owner if omitted."),
        ] {
            parameters.push(json!({
                "name": name, "in": "header", "description": about, "schema": { "type": "string" },
            }));
        }
    }
    let mut operation = json!({
        "summary": route.about,
        "operationId": operation_id(route),
        "parameters": parameters,
        "responses": responses(route),
    });
    if let Some(body) = route.body {
        let schema = body(generator);
        operation["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    } else if route.path == "/api/v1/files/{name}" && route.method == "PUT" {
        operation["requestBody"] = json!({
            "required": true, "content": { "text/markdown": { "schema": { "type": "string" } } },
        });
    }
    if route.needs == Needs::Nothing {
        operation["security"] = json!([]);
    }
    operation
}

fn responses(route: &Route) -> Value {
    let good = match (route.path, route.run) {
        ("/metrics", _) => json!({ "text/plain": { "schema": { "type": "string" } } }),
        ("/api/v1/files/{name}", _) if route.answer.is_empty() => {
            json!({ "text/markdown": { "schema": { "type": "string" } } })
        }
        (_, Run::Changes) => json!({ "text/event-stream": { "schema": { "type": "string" } } }),
        _ => json!({ "application/json": { "schema": answer(route) } }),
    };
    let error =
        json!({ "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } });
    let done = json!({ "description": "Done", "content": good });
    let mut all = json!({
        "200": done,
        "4XX": { "description": "Refused, with the reason", "content": error },
        "503": { "description": "Busy or locked; try again", "content": error },
        "504": { "description": "Took too long and was stopped", "content": error },
        "5XX": { "description": "Failed, with the reason", "content": error },
    });
    if route.method == "POST" {
        all["201"] = done;
    }
    if route.path == "/api/v1/files/{name}" && route.method == "GET" {
        all["304"] = json!({ "description": "Not modified: you have this version" });
    }
    all
}

fn answer(route: &Route) -> Value {
    let properties: Map<String, Value> = route
        .answer
        .iter()
        .map(|(name, kind)| {
            (
                (*name).to_owned(),
                if *kind == "object" {
                    json!({ "type": ["object", "null"] })
                } else {
                    json!({ "type": kind })
                },
            )
        })
        .collect();
    let required: Vec<&str> = route.answer.iter().map(|(name, _)| *name).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["kind", "message"],
                "properties": {
                    "kind": { "type": "string" },
                    "message": { "type": "string" },
                    "hint": { "type": "string" },
                },
            },
        },
    })
}

/// Each field of a struct as a parameter after the `?`.
fn query_parameters(
    generator: &mut SchemaGenerator,
    query: fn(&mut SchemaGenerator) -> schemars::Schema,
) -> Vec<Value> {
    // The struct itself is not wanted among the schemas, so it is made apart.
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let mut alone = settings.into_generator();
    let schema = query(&mut alone);
    let _ = generator;
    let required: Vec<String> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        .unwrap_or_default();
    let properties =
        schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    properties
        .into_iter()
        .map(|(name, mut schema)| {
            let about = schema.as_object_mut().and_then(|schema| schema.remove("description"));
            without_null(&mut schema);
            let mut parameter = json!({
                "name": name, "in": "query", "required": required.contains(&name), "schema": schema,
            });
            if let Some(about) = about {
                parameter["description"] = about;
            }
            parameter
        })
        .collect()
}

/// What is left out after a `?` is not null.
fn without_null(schema: &mut Value) {
    if let Some(kinds) = schema.get_mut("type").and_then(Value::as_array_mut) {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            schema["type"] = kind;
        }
    }
}

fn path_names(path: &'static str) -> impl Iterator<Item = &'static str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

/// `get_facts_id_history`
fn operation_id(route: &Route) -> String {
    let path = route.path.trim_start_matches("/api/v1").replace(['{', '}', '.'], "");
    format!("{}{}", route.method.as_str().to_lowercase(), path.replace('/', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_on_the_page_with_what_it_takes() {
        let page = page();
        for route in routes::all() {
            let operation = &page["paths"][route.path][route.method.as_str().to_lowercase()];
            assert!(operation["summary"].is_string(), "{} {}", route.method, route.path);
            assert_eq!(
                operation.get("requestBody").is_some(),
                route.body.is_some() || route.method == "PUT"
            );
        }
        let search = &page["paths"]["/api/v1/search"]["get"]["parameters"];
        let names: Vec<&str> =
            search.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert!(names.contains(&"q") && names.contains(&"as_of"), "{names:?}");
    }

    #[test]
    fn every_operation_has_a_name_of_its_own() {
        let mut names: Vec<String> = routes::all().iter().map(operation_id).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
