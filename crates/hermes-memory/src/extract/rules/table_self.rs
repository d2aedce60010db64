//! Patterns about the user: who they are, their accounts, who somebody is to them.

use super::table::Needs::{Person, Trait, Words};
use super::table::Row;

#[rustfmt::skip]
pub(super) const ACCOUNT: &[Row] = &[
    ("my {y} username|handle|login|nickname|nick|account|id|user|alias|tag is|'s also? {x:one}", "User's {y} username is {x}", "user's {y} account|account|{x}", Words),
    ("my {y} user|account name|id|handle is|'s {x:one}", "User's {y} username is {x}", "user's {y} account|account|{x}", Words),
    ("my username|handle|login|user|nickname name? on|for|at|in {y} is|'s {x:one}", "User's {y} username is {x}", "user's {y} account|account|{x}", Words),
    ("my new? {y:one}? email|e-mail|mail|mailbox address? is|'s now? {x:code}", "User's {y} e-mail address is {x}", "user|email|{x}", Words),
    ("my {y:one}? email|e-mail|mail address? for|at {z} is {x:code}", "User's {z} e-mail address is {x}", "user|email|{x}", Words),
    ("my new? {y:one}? phone|mobile|cell|telephone|whatsapp|number|extension number? is|'s now? {x:phone}", "User's {y} phone number is {x}", "user|phone|{x}", Words),
    ("my new? {y} number|id|no|extension is|'s now? {x:phone}", "User's {y} number is {x}", "user's {y}|number|{x}", Words),
    ("reach|contact|email|mail|text|ping|call me at|on|under|via {x:code}", "User can be reached at {x}", "user|reached_at|{x}", Words),
    ("i am {x:code} on {y:name}", "User's {y} username is {x}", "user's {y} account|account|{x}", Words),
    ("on {y:name} i am {x:one}", "User's {y} username is {x}", "user's {y} account|account|{x}", Words),
    ("find me on {y:name} as|under|at {x:one}", "User's {y} username is {x}", "user's {y} account|account|{x}", Words),
    ("i am on {y:name} as|under {x:one}", "User's {y} username is {x}", "user's {y} account|account|{x}", Words),
    ("^{y:one}? nick|username|handle|login|user {x:one} $", "User's {y} username is {x}", "user's {y} account|account|{x}", Words),
    ("i use|have the? handle|username|nick|name {x:one} on {y}", "User's {y} username is {x}", "user's {y} account|account|{x}", Words),
    ("my personal? website|blog|site|homepage|portfolio is|'s at? {x:code}", "User's website is {x}", "user|website|{x}", Words),
];

#[rustfmt::skip]
pub(super) const IDENTITY: &[Row] = &[
    ("my full|real|first|last|given|legal|family? name is|'s {x:name}", "User's name is {x}", "user|name|{x}", Person),
    ("do not call me ..4 it is|'s {x:name}", "User wants to be called {x}", "user|called|{x}", Words),
    ("i am {x:one} not {y:one}", "User's name is {x}", "user|called|{x}", Words),
    ("call me {x:name}", "User wants to be called {x}", "user|called|{x}", Words),
    ("calls me {x:name}", "User is called {x}", "user|called|{x}", Words),
    ("i go by {x}", "User goes by {x}", "user|called|{x}", Words),
    ("i prefer|want to be called|addressed as? {x}", "User wants to be called {x}", "user|called|{x}", Words),
    ("address me as|with {x}", "User wants to be addressed as {x}", "user|called|{x}", Words),
    ("my pronouns are|is {x}", "User's pronouns are {x}", "user|pronouns|{x}", Words),
    ("i use {x:code} pronouns", "User's pronouns are {x}", "user|pronouns|{x}", Words),
    ("i am {x:name} and|from|at|here|the|a|an ..20 $", "User's name is {x}", "user|name|{x}", Person),
    ("i am {x:name} ..20 $", "User's name is {x}", "user|name|{x}", Person),
    ("^this is {x:name} $", "User's name is {x}", "user|name|{x}", Person),
    ("^this is {x:name} from {y}", "User's name is {x}", "user|name|{x}", Person),
    ("i|we currently|now|still? live|reside|stay in|near|outside|at {x:name}", "", "user|lives_in|{x}", Words),
    ("i|we currently|now|still? live|reside|stay in|near|outside|at {x}", "", "user|lives_in|{x}", Words),
    ("i|we have? just|recently|finally|now? moved|relocated back? from {y} to {x:name}", "User lives in {x}", "user|lives_in|{x}", Words),
    ("i|we have? just|recently|finally|now? moved|relocated back? to {x:name}", "User lives in {x}", "user|lives_in|{x}", Words),
    ("i|we have? just|recently|finally|now? moved|relocated back? from {y} to {x}", "", "user|lives_in|{x}", Words),
    ("i|we have? just|recently|finally|now? moved|relocated back? to {x}", "", "user|lives_in|{x}", Words),
    ("i am now|currently|still? based|located|living in|near|at|out {x}", "", "user|lives_in|{x}", Words),
    ("i am in|over|out|down in? {x:name} $", "User is in {x}", "user|lives_in|{x}", Words),
    ("i am in {x:name} not {y}", "User is in {x}", "user|lives_in|{x}", Words),
    ("and allergic to {x}", "User is allergic to {x}", "user|allergic_to|{x}", Words),
    ("^just|finally? turned {x:one}", "User turned {x}", "user|age|{x}", Words),
    ("i am originally? from {x}", "", "user|from|{x}", Words),
    ("i come from {x:name}", "", "user|from|{x}", Words),
    ("my home? town|hometown|city|home is|'s {x:name}", "", "user|lives_in|{x}", Words),
    ("my birthday is|'s on? the? {x}", "User's birthday is {x}", "user|birthday|{x}", Words),
    ("i was born on|in {x}", "", "user|birthday|{x}", Words),
    ("i am {x:one} years old", "", "user|age|{x}", Words),
    ("i am {x:count} $", "", "user|age|{x}", Words),
    ("i just? turned|turn {x:one}", "", "user|age|{x}", Words),
    ("i now|currently|also|still? work for|at {x:name}", "", "user|works_at|{x}", Words),
    ("i now|currently|also|still? work for|at|with|in {x}", "", "user|works_at|{x}", Words),
    ("i now|currently|also|still? work as {x}", "", "user|job|{x}", Words),
    ("i just? started|joined a? new? job? at? {x:name}", "", "user|works_at|{x}", Words),
    ("i am now|currently|also? working at|for|as {x}", "", "user|works_at|{x}", Words),
    ("my employer|company is|'s {x:name}", "", "user|works_at|{x}", Words),
    ("my current|new|official? job|role|title|position|profession|occupation title? is|'s {x}", "", "user|job|{x}", Words),
    ("i am now|currently|also|actually? the {x} at|of|for {y}", "", "user|job|{x}", Words),
    ("i am also|actually? a|an {x}", "", "user|is|{x}", Trait),
    ("^as a|an {x} i|my|we", "User is a {x}", "user|is|{x}", Trait),
    ("my time zone|timezone is|'s now? {x}", "User's time zone is {x}", "user|timezone|{x}", Words),
    ("my timezone is|'s now? {x}", "User's time zone is {x}", "user|timezone|{x}", Words),
    ("i am in|on the? {x} time zone|timezone|time", "User's time zone is {x}", "user|timezone|{x}", Words),
    ("i am in|on {x:zone}", "User's time zone is {x}", "user|timezone|{x}", Words),
    ("i fluently|also|only|mostly? speak {x}", "", "user|speaks|{x}", Words),
    ("my native|first|mother|second|main language|tongue is|'s {x}", "", "user|native_language|{x}", Words),
    ("i am currently? learning|studying {x}", "", "user|learns|{x}", Words),
    ("i study {x}", "", "user|studies|{x}", Words),
    ("i am severely|badly|very|deathly|mildly|highly? allergic to {x}", "", "user|allergic_to|{x}", Words),
    ("i have a|an severe|mild|bad? {x} allergy|intolerance", "", "user|allergic_to|{x}", Words),
    ("i do not eat|drink {x}", "", "user|avoids|{x}", Words),
    ("i can not eat|drink|have|tolerate {x}", "", "user|avoids|{x}", Words),
    ("i never eat|drink {x}", "", "user|avoids|{x}", Words),
];

#[rustfmt::skip]
pub(super) const RELATION: &[Row] = &[
    ("my|our {y:mod}? {r:relation} 's name is|'s {x:name}", "{x} is the user's {r}", "{x}|is_user's|{r}", Person),
    ("my|our {y:mod}? {r:relation} is|'s now? called|named? {x:name}", "{x} is the user's {r}", "user's {r}|relation|{x}", Person),
    ("my|our {y:mod}? {r:relation} now? is|'s now? {x:name}", "{x} is the user's {r}", "user's {r}|relation|{x}", Person),
    ("{x:name} is|'s now|also? my|our {y:mod}? {r:relation}", "{x} is the user's {r}", "user's {r}|relation|{x}", Person),
    ("i|we have a|an|one|two|three|four new? {y:mod}? {r:relation} named|called {x:name}", "{x} is the user's {r}", "user's {r}|relation|{x}", Words),
    ("my|our {y:mod}? {r:relation} {x:name}", "{x} is the user's {r}", "user's {r}|relation|{x}", Person),
    ("{x:name} was my late {r:relation}", "{x} was the user's late {r}", "user's {r}|relation|{x}", Person),
    ("i|we have a|an {r:relation} {x:name}", "{x} is the user's {r}", "user's {r}|relation|{x}", Person),
    ("that|this is|'s {x:name} my|our {r:one} $", "{x} is the user's {r}", "user's {r}|relation|{x}", Person),
    ("{x:name} that|this is|'s my|our {r:relation}", "{x} is the user's {r}", "user's {r}|relation|{x}", Person),
    ("{x:name} uses he/him|she/her|they/them|he/they|she/they pronouns?", "", "{x}|pronouns|{x}", Person),
    ("i report to {x:name}", "{x} is the user's manager", "user's manager|relation|{x}", Person),
    ("{x:name} is|'s now|also? the {y} for|on|at|of|behind|from {z}", "", "{y} {z}|relation|{x}", Person),
    ("i am married|engaged to {x:name}", "", "user's spouse|relation|{x}", Words),
];

#[rustfmt::skip]
pub(super) const IDENTITY_IN_OTHER_LANGUAGES: &[Row] = &[
    // German
    ("ich heiße|heisse {x:name}", "User's name is {x}", "user|name|{x}", Words),
    ("mein name ist {x:name}", "User's name is {x}", "user|name|{x}", Words),
    ("ich wohne|lebe jetzt? in {x:name}", "User lives in {x}", "user|lives_in|{x}", Words),
    ("wir|ich sind|bin ..4 nach {x:name} gezogen|umgezogen", "User lives in {x}", "user|lives_in|{x}", Words),
    ("ich arbeite jetzt? bei {x:name}", "User works at {x}", "user|works_at|{x}", Words),
    // French
    ("je m'appelle {x:name}", "User's name is {x}", "user|name|{x}", Words),
    ("j'habite à|en|au {x:name}", "User lives in {x}", "user|lives_in|{x}", Words),
    // Spanish
    ("me llamo {x:name}", "User's name is {x}", "user|name|{x}", Words),
    ("vivo en {x:name}", "User lives in {x}", "user|lives_in|{x}", Words),
    // Portuguese
    ("moro|vivo em {x:name}", "User lives in {x}", "user|lives_in|{x}", Words),
    ("chamo-me {x:name}", "User's name is {x}", "user|name|{x}", Words),
    // Italian
    ("mi chiamo {x:name}", "User's name is {x}", "user|name|{x}", Words),
    ("abito|vivo a {x:name}", "User lives in {x}", "user|lives_in|{x}", Words),
];
