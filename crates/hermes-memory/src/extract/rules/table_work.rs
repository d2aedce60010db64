//! Patterns about things: deadlines, what things are made with, what the user likes.

use super::table::Needs::{Day, Words};
use super::table::Row;

#[rustfmt::skip]
pub(super) const DEADLINE: &[Row] = &[
    ("deadline|due for|of {x} is|was|'s|has now|been|set|moved|pushed|changed|extended|shifted? now|been|set|moved|pushed|changed|extended|for|to|on|back? to|for|on|back|until? {d:date}", "Deadline for {x}: {d}", "{x}|deadline|{d}", Day),
    ("the|my|our {x} deadline is|'s|was|has|got now|been|set|moved|pushed|changed|extended|shifted? now|been|set|moved|pushed|changed|extended|for|to|on|back? to|for|on|back|until? {d:date}", "Deadline for {x}: {d}", "{x}|deadline|{d}", Day),
    ("{x} deadline : {d:date}", "Deadline for {x}: {d}", "{x}|deadline|{d}", Day),
    ("deadline is|'s|moved|changed|now {d:date}", "Deadline: {d}", "deadline|deadline|{d}", Day),
    ("{x} is|are|'s now|also|all|actually? due back|in|on|by|again? {d:date}", "Deadline for {x}: {d}", "{x}|deadline|{d}", Day),
    ("{x} due {d:date}", "Deadline for {x}: {d}", "{x}|deadline|{d}", Day),
    ("i|we have|need|must|got|has to? to? {x} by|before|until {d:date}", "Deadline to {x}: {d}", "{x}|deadline|{d}", Day),
    ("{x} must|needs|need|has|have to? be {y} by|before|until|on {d:date}", "Deadline for {x}, to be {y}: {d}", "{x}|deadline|{d}", Day),
    ("{x} expires|ends|closes|launches|ships|starts|begins|opens|renews on|by? {d:date}", "Deadline: {x} {d}", "{x}|deadline|{d}", Day),
    ("{x} goes|go|going live on|by? {d:date}", "Deadline: {x} goes live {d}", "{x}|deadline|{d}", Day),
    ("{x} wants|needs|expects {y} by|before {d:date}", "Deadline for {y} ({x}): {d}", "{y}|deadline|{d}", Day),
    ("i|we submit|deliver|ship|launch|release|present|hand {x} on|by|before {d:date}", "Deadline for {x}: {d}", "{x}|deadline|{d}", Day),
    ("we|i promised|committed to? {x} by|for|on|before {d:date}", "Deadline for {x}: {d}", "{x}|deadline|{d}", Day),
];

#[rustfmt::skip]
pub(super) const TOOL: &[Row] = &[
    ("i|we have? just|finally|recently|fully|now? switched|moved|migrated|changed|upgraded|converted|transitioned {z}? from {y} to {x}", "", "user|uses|{x}", Words),
    ("i|we have? just|finally|recently|fully|now? switched|moved|migrated|upgraded|transitioned {z}? to {x}", "", "user|uses|{x}", Words),
    ("i|we now|currently|mostly|mainly|always|also|only|all|still|primarily|generally|usually|both? use|run|deploy|host {x}", "", "user|uses|{x}", Words),
    ("i|we now|currently|mostly|mainly|always|also|only|all|still|primarily|generally|usually|both? keep|store|track|manage|write|do|log|document|code|program|develop|build|plan|type|work|read|draw|edit|deploy|shop|bank {y}? in|on|with|via|through|using {x}", "", "user|uses|{x}", Words),
    ("i|we are|am now|currently|still|all|both? using|running|on {x}", "", "user|uses|{x}", Words),
    ("{s:thing} now|currently|also|still|mainly|only|always? uses|runs|use|run on|with|in|under|inside|behind? {x}", "", "{s}|uses|{x}", Words),
    ("{s:thing} is|are|'s now|currently|also|all|entirely|mostly|fully? written|built|hosted|deployed|implemented|coded|powered|backed|running|based|stored|managed|pinned|developed|served|made|using|tracked|kept|provisioned|configured in|on|with|at|by|to|using|as|from|via|through? {x}", "", "{s}|uses|{x}", Words),
    ("{s:thing} is|are|'s now|still|currently? on|in|at {x:name}", "", "{s}|uses|{x}", Words),
    ("{s:thing} is|are|'s a|an {x:name} app|project|service|repo|site|application|shop|codebase|monorepo|api|backend|frontend|library|crate|package", "", "{s}|uses|{x}", Words),
    ("{s:thing} lives|sits|deploys|talks|connects|depends|relies|targets|requires|needs|stores|moved|migrated|switched on|in|at|to|from {x}", "", "{s}|uses|{x}", Words),
    ("my|our {s} stack|editor|ide|laptop|phone|shell|browser|database|framework|server|machine|computer|os|distro|keyboard|host|provider|terminal|linter|formatter|ci|cms|crm|hosting|printer|router|camera|workstation|cloud|orm|language is|'s now? {x}", "", "{s}|uses|{x}", Words),
];

#[rustfmt::skip]
pub(super) const PREFERENCE: &[Row] = &[
    ("i really|strongly|much|generally|always|usually|also|still|personally|definitely|do|actually|mostly|now|truly|normally|would|vastly|greatly|typically? prefer {x}", "", "user|prefers|{x}", Words),
    ("i really|strongly|absolutely|also|personally|do|genuinely|truly|just|always|especially|still|kind|actually? of? like|love|enjoy|hate|dislike|adore|loathe|detest|despise|favor|favour|appreciate|treasure {x}", "", "user|likes|{x}", Words),
    ("i really|just|also|personally|actually|generally? do really? not really|particularly|actually? like|want|enjoy|care|love|trust|need {x}", "", "user|dislikes|{x}", Words),
    ("i can not stand|bear|abide {x}", "", "user|dislikes|{x}", Words),
    ("i would much? rather {x}", "", "user|prefers|{x}", Words),
    ("i am not? really|also|more? of? a|an? big|huge|massive|great? fan of {x}", "", "user|likes|{x}", Words),
    ("i am more? of? a|an|more {x} person", "", "user|prefers|{x}", Words),
    ("i am really|very|totally|also? into {x}", "", "user|likes|{x}", Words),
    ("my absolute|all-time? favorite|favourite {y} is|are|'s {x}", "", "user's favourite {y}|favourite|{x}", Words),
    ("i would|'d want|like all|my|every|any|your {x}", "", "user|wants|{x}", Words),
    ("i measure|think|count|calculate|work everything|all|only? in {x}", "", "user|wants|{x}", Words),
    ("i want all|my|every|any|your {x}", "", "user|wants|{x}", Words),
    ("i would like|want all|my|every|any|your {x}", "", "user|wants|{x}", Words),
    ("i like|want|need|take|drink|have my {x}", "", "user|likes|{x}", Words),
    ("i always|never|usually|normally|typically|tend|rarely|mostly {x}", "", "user|habit|{x}", Words),
];
