//! The built program in a temporary home: commands, exit codes, output.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its sandbox should stop")]

mod backup;
mod backup_places;
mod backup_schedule;
mod bench;
mod browser;
mod carry;
mod chat;
mod chat_bad;
mod chat_learning;
mod chat_terminal;
mod chat_tools;
mod checkpoint;
mod clients;
mod compacting;
mod config;
mod daemon;
mod docs;
mod doctor;
mod edges;
mod embeddings;
mod faults;
mod forgotten;
mod home;
mod hooks;
mod import;
mod in_step;
mod integrate;
mod killed;
mod manners;
mod memory;
mod model_server;
mod models;
mod moments;
mod pages;
mod pages_rest;
mod pages_ways;
mod peer;
mod people;
#[path = "../../../hermes-store/tests/pg_server/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod pg_server;
mod postgres;
mod postgres_backup;
mod postgres_people;
mod provider;
mod pty;
mod recall;
mod reflect;
mod remember;
mod rot;
mod sandbox;
mod server;
mod server_edges;
mod service;
mod sessions;
mod skills;
mod transfer;
mod turns;
mod users;
