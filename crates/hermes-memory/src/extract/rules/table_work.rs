//! Patterns about work: deadlines, decisions, what things are made with.

use super::table::Needs::{Day, Lasting, Statement};
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
pub(super) const DECISION: &[Row] = &[
    ("we|i have? finally|just|now|also|already? decided|agreed|chose|chosen|picked|settled|opted|committed {x}", "", "", Statement),
    ("we|i are|am|will|'ll|went|go have? finally|now|definitely|officially? going|go|went ahead? with {x}", "", "", Statement),
    ("we|i just|finally? throw|threw|cut|kill|killed|scrap|axe|axed|go|pick|take|keep|chose|choose out|with {x}", "", "", Lasting),
    ("we cut|kill|killed|scrap|axed|ditch|drop {x}", "", "", Lasting),
    ("we are gonna|going to? do|use|switch|move|keep|stay|drop|build|write|ship|go|stick|make|buy|sell|hire|host|run|adopt {x}", "", "", Lasting),
    ("me and {y:one} ..3 agreed|decided|settled|chose|picked", "", "", Statement),
    ("vote 's|is|was done|in|over|through", "", "", Statement),
    ("{x:name} stays|remains on|with|in {y}", "", "", Statement),
    ("the {y} is|'s going to be {x} that is decided|final", "", "", Statement),
    ("we|i went with {x}", "", "", Statement),
    ("we|i are|am now|officially|finally? sticking|dropping|ditching|scrapping|standardizing|standardising|adopting|moving|switching|migrating|replacing|retiring|sunsetting with|on|to|from|away? {x}", "", "", Lasting),
    ("we|i have? finally|officially? dropped|ditched|scrapped|standardized|standardised|adopted|approved|rejected|cancelled|canceled|postponed {x}", "", "", Statement),
    ("the|our final? decision is|was|: to|that? {x}", "Decision: {x}", "", Statement),
    ("decision|decided : {x}", "Decision: {x}", "", Statement),
    ("^final decision {x}", "Decision: {x}", "", Statement),
    ("^decision {x}", "Decision: {x}", "", Statement),
    ("^decided {x}", "Decided: {x}", "", Statement),
    ("it is|'s been? decided|settled|final {x}", "", "", Statement),
    ("the team|board|committee has? finally|just? decided|chose|agreed|picked|settled|voted {x}", "", "", Statement),
    ("^{x} it is $", "Decision: {x}", "", Statement),
    ("let us go with {x}", "Decision: {x}", "", Lasting),
    ("we made the decision|call to {x}", "Decision: {x}", "", Statement),
];

#[rustfmt::skip]
pub(super) const TOOL: &[Row] = &[
    ("i|we have? just|finally|recently|fully|now? switched|moved|migrated|changed|upgraded|converted|transitioned {z}? from {y} to {x}", "", "user|uses|{x}", Statement),
    ("i|we have? just|finally|recently|fully|now? switched|moved|migrated|upgraded|transitioned {z}? to {x}", "", "user|uses|{x}", Statement),
    ("i|we no longer|do use|not use? {x}", "", "", Statement),
    ("i|we now|currently|mostly|mainly|always|also|only|all|still|primarily|generally|usually|both? use|run|deploy|host {x}", "", "user|uses|{x}", Lasting),
    ("i|we now|currently|mostly|mainly|always|also|only|all|still|primarily|generally|usually|both? keep|store|track|manage|write|do|log|document|code|program|develop|build|plan|type|work|read|draw|edit|deploy|shop|bank {y}? in|on|with|via|through|using {x}", "", "user|uses|{x}", Lasting),
    ("i|we are|am now|currently|still|all|both? using|running|on {x}", "", "user|uses|{x}", Lasting),
    ("{s:thing} now|currently|also|still|mainly|only|always? uses|runs|use|run on|with|in|under|inside|behind? {x}", "", "{s}|uses|{x}", Statement),
    ("{s:thing} is|are|'s now|currently|also|all|entirely|mostly|fully? written|built|hosted|deployed|implemented|coded|powered|backed|running|based|stored|managed|pinned|developed|served|made|using|tracked|kept|provisioned|configured in|on|with|at|by|to|using|as|from|via|through? {x}", "", "{s}|uses|{x}", Statement),
    ("{s:thing} is|are|'s now|still|currently? on|in|at {x:name}", "", "{s}|uses|{x}", Statement),
    ("{s:thing} is|are|'s a|an {x:name} app|project|service|repo|site|application|shop|codebase|monorepo|api|backend|frontend|library|crate|package", "", "{s}|uses|{x}", Statement),
    ("{s:thing} lives|sits|deploys|talks|connects|depends|relies|targets|requires|needs|stores|moved|migrated|switched on|in|at|to|from {x}", "", "{s}|uses|{x}", Statement),
    ("my|our {s} stack|editor|ide|laptop|phone|shell|browser|database|framework|server|machine|computer|os|distro|keyboard|host|provider|terminal|linter|formatter|ci|cms|crm|hosting|printer|router|camera|workstation|cloud|orm|language is|'s now? {x}", "", "{s}|uses|{x}", Statement),
    ("my|our stack|editor|ide|laptop|phone|shell|browser|database|framework|server|machine|computer|os|distro|keyboard|host|provider|terminal|linter|formatter|ci|cms|crm|hosting|printer|router|camera|workstation|cloud|orm is|'s now? {x}", "", "", Statement),
];
