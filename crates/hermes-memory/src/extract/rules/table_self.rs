//! Patterns about the user: who they are, their accounts, who somebody is to them.

use super::table::Needs::{Lasting, Person, Statement, Trait};
use super::table::Row;

#[rustfmt::skip]
pub(super) const ACCOUNT: &[Row] = &[
    ("my {y} username|handle|login|nickname|nick|account|id|user|alias|tag is|'s also? {x:one}", "User's {y} username is {x}", "user's {y} account|account|{x}", Statement),
    ("my {y} user|account name|id|handle is|'s {x:one}", "User's {y} username is {x}", "user's {y} account|account|{x}", Statement),
    ("my username|handle|login|user|nickname name? on|for|at|in {y} is|'s {x:one}", "User's {y} username is {x}", "user's {y} account|account|{x}", Statement),
    ("my new? {y:one}? email|e-mail|mail|mailbox address? is|'s now? {x:code}", "User's {y} e-mail address is {x}", "user|email|{x}", Statement),
    ("my {y:one}? email|e-mail|mail address? for|at {z} is {x:code}", "User's {z} e-mail address is {x}", "user|email|{x}", Statement),
    ("my new? {y:one}? phone|mobile|cell|telephone|whatsapp|number|extension number? is|'s now? {x:phone}", "User's {y} phone number is {x}", "user|phone|{x}", Statement),
    ("my new? {y} number|id|no|extension is|'s now? {x:phone}", "User's {y} number is {x}", "user's {y}|number|{x}", Statement),
    ("reach|contact|email|mail|text|ping|call me at|on|under|via {x:code}", "User can be reached at {x}", "user|reached_at|{x}", Statement),
    ("i am {x:code} on {y:name}", "User's {y} username is {x}", "user's {y} account|account|{x}", Statement),
    ("on {y:name} i am {x:one}", "User's {y} username is {x}", "user's {y} account|account|{x}", Statement),
    ("find me on {y:name} as|under|at {x:one}", "User's {y} username is {x}", "user's {y} account|account|{x}", Statement),
    ("i am on {y:name} as|under {x:one}", "User's {y} username is {x}", "user's {y} account|account|{x}", Statement),
    ("i use|have the? handle|username|nick|name {x:one} on {y}", "User's {y} username is {x}", "user's {y} account|account|{x}", Statement),
    ("my github|gitlab|twitter|linkedin|instagram|mastodon|telegram|signal|discord|slack|skype|bluesky|steam|reddit|stackoverflow|npm|x is|'s {x:one}", "", "", Statement),
    ("my personal? website|blog|site|homepage|portfolio is|'s at? {x:code}", "User's website is {x}", "user|website|{x}", Statement),
];

#[rustfmt::skip]
pub(super) const IDENTITY: &[Row] = &[
    ("my full|real|first|last|given|legal|family? name is|'s {x:name}", "User's name is {x}", "user|name|{x}", Person),
    ("call me {x:name}", "User wants to be called {x}", "user|called|{x}", Statement),
    ("calls me {x:name}", "User is called {x}", "user|called|{x}", Statement),
    ("i go by {x}", "User goes by {x}", "user|called|{x}", Statement),
    ("i prefer|want to be called|addressed as? {x}", "User wants to be called {x}", "user|called|{x}", Statement),
    ("address me as|with {x}", "User wants to be addressed as {x}", "user|called|{x}", Statement),
    ("my pronouns are|is {x}", "User's pronouns are {x}", "user|pronouns|{x}", Statement),
    ("i use {x:code} pronouns", "User's pronouns are {x}", "user|pronouns|{x}", Statement),
    ("i am {x:name} and|from|at|here|the|a|an ..20 $", "User's name is {x}", "user|name|{x}", Person),
    ("i am {x:name} $", "User's name is {x}", "user|name|{x}", Person),
    ("^this is {x:name} $", "User's name is {x}", "user|name|{x}", Person),
    ("^this is {x:name} from {y}", "User's name is {x}", "user|name|{x}", Person),
    ("i|we currently|now|still? live|reside|stay in|near|outside|at {x}", "", "user|lives_in|{x}", Statement),
    ("i|we have? just|recently|finally|now? moved|relocated back? from {y} to {x}", "", "user|lives_in|{x}", Statement),
    ("i|we have? just|recently|finally|now? moved|relocated back? to {x}", "", "user|lives_in|{x}", Statement),
    ("i am now|currently|still? based|located|living in|near|at|out {x}", "", "user|lives_in|{x}", Statement),
    ("i am originally? from {x}", "", "user|from|{x}", Statement),
    ("i come from {x:name}", "", "user|from|{x}", Statement),
    ("my home? town|hometown|city|home is|'s {x:name}", "", "user|lives_in|{x}", Statement),
    ("my home address|address|office is|'s {x}", "", "", Statement),
    ("my birthday is|'s on? the? {x}", "User's birthday is {x}", "user|birthday|{x}", Statement),
    ("i was born on|in {x}", "", "user|birthday|{x}", Statement),
    ("i am {x:one} years old", "", "user|age|{x}", Statement),
    ("i just? turned|turn {x:one}", "", "user|age|{x}", Statement),
    ("i now|currently|also|still? work for|at {x:name}", "", "user|works_at|{x}", Statement),
    ("i now|currently|also|still? work for|at|with|in {x}", "", "user|works_at|{x}", Statement),
    ("i now|currently|also|still? work as {x}", "", "user|job|{x}", Statement),
    ("i just? started|joined a? new? job? at? {x:name}", "", "user|works_at|{x}", Statement),
    ("i just? started a|my new job|role|position {x}", "", "", Statement),
    ("i am now|currently|also? working at|for|as {x}", "", "user|works_at|{x}", Statement),
    ("my employer|company is|'s {x:name}", "", "user|works_at|{x}", Statement),
    ("my current|new|official? job|role|title|position|profession|occupation title? is|'s {x}", "", "user|job|{x}", Statement),
    ("i now|currently|also? run|own|lead|head|manage|teach|founded|co-founded|co-own a|an|the|my|our {x}", "", "", Statement),
    ("i teach {x}", "", "", Statement),
    ("i am now|currently|also|actually? the {x} at|of|for {y}", "", "user|job|{x}", Statement),
    ("i am also|actually? a|an {x}", "", "user|is|{x}", Trait),
    ("^as a|an {x} i|my|we", "User is a {x}", "user|is|{x}", Trait),
    ("my time zone|timezone is|'s now? {x}", "User's time zone is {x}", "user|timezone|{x}", Statement),
    ("my timezone is|'s now? {x}", "User's time zone is {x}", "user|timezone|{x}", Statement),
    ("i am in|on the? {x} time zone|timezone|time", "User's time zone is {x}", "user|timezone|{x}", Statement),
    ("i am in|on {x:zone}", "User's time zone is {x}", "user|timezone|{x}", Statement),
    ("i fluently|also|only|mostly? speak {x}", "", "user|speaks|{x}", Lasting),
    ("my native|first|mother|second|main language|tongue is|'s {x}", "", "user|native_language|{x}", Statement),
    ("i am currently? learning|studying {x}", "", "user|learns|{x}", Lasting),
    ("i study {x}", "", "user|studies|{x}", Statement),
    ("i am severely|badly|very|deathly|mildly|highly? allergic to {x}", "", "user|allergic_to|{x}", Statement),
    ("i have a|an severe|mild|bad? {x} allergy|intolerance", "", "user|allergic_to|{x}", Statement),
    ("i have asthma|adhd|diabetes|dyslexia|celiac|coeliac|migraines|epilepsy|add|tinnitus|hay|type|autism|ibs|arthritis", "", "", Statement),
    ("i am also|strictly|mostly|now? vegetarian|vegan|pescatarian|diabetic|celiac|coeliac|lactose|gluten|colorblind|colour-blind|color-blind|colourblind|left-handed|dyslexic|deaf|married|divorced|retired|pregnant|engaged|single|jewish|muslim|hindu|catholic|autistic|blind|teetotal|intolerant|asthmatic|widowed|kosher|halal|self-employed|hard|nearsighted|german|french|spanish|portuguese|italian|dutch|swedish|american|british|canadian|brazilian|indian|chinese|japanese|polish|irish|danish|finnish|norwegian|swiss|austrian|belgian|mexican|australian|scottish|greek|turkish|russian|ukrainian|korean|bilingual|colour|color", "", "", Statement),
    ("i do not eat|drink {x}", "", "user|avoids|{x}", Lasting),
    ("i can not eat|drink|have|tolerate {x}", "", "user|avoids|{x}", Lasting),
    ("i never eat|drink {x}", "", "user|avoids|{x}", Lasting),
    ("i work {x} hours|shifts|days|nights|remotely|part-time", "", "", Lasting),
    ("i work from {x}", "", "", Lasting),
    ("i work part-time|remotely|full-time|freelance|nights", "", "", Lasting),
    ("i have a {x} degree|phd|masters|background|visa|passport|license in? {y}?", "", "", Lasting),
    ("i wear {x}", "", "", Lasting),
    ("my shoe|shirt|dress|clothing|ring|blood|t-shirt size|type is {x}", "", "", Statement),
];

/// Who somebody can be to the user.
macro_rules! relation {
    () => {
        "sister|brother|mother|mom|mum|father|dad|wife|husband|partner|girlfriend|boyfriend|son|daughter|kid|manager|boss|supervisor|colleague|coworker|co-worker|co-founder|cofounder|client|dog|cat|pet|friend|assistant|accountant|lawyer|doctor|dentist|therapist|landlord|landlady|neighbour|neighbor|mentor|intern|cousin|aunt|uncle|niece|nephew|grandmother|grandma|grandfather|grandpa|fiancé|fiancée|fiance|fiancee|roommate|flatmate|teammate|advisor|adviser|professor|twin|coach|trainer|gp|vet|stepmother|stepfather|stepson|stepdaughter|mother-in-law|father-in-law|sister-in-law|brother-in-law|tutor|teacher|agent|editor|publisher|hamster|rabbit|parrot|horse|puppy|kitten|spouse|baby|nanny|babysitter|godson|goddaughter|lead|skip-level|counterpart|deputy|contractor|designer|developer|cto|ceo|director|tortoise|gecko|bookkeeper|physio|physiotherapist|contact|buddy|godfather|godmother|stepsister|stepbrother|half-brother|half-sister|supplier|customer|pm|assistant"
    };
}

#[rustfmt::skip]
pub(super) const RELATION: &[Row] = &[
    (concat!("my|our {y:mod}? ", relation!(), " 's name is|'s {x:name}"), "{x} is the user's {r}", "{x}|is_user's|{r}", Person),
    (concat!("my|our {y:mod}? ", relation!(), " is|'s now? called|named? {x:name}"), "{x} is the user's {r}", "user's {r}|relation|{x}", Person),
    (concat!("my|our {y:mod}? ", relation!(), " now? is|'s now? {x:name}"), "{x} is the user's {r}", "user's {r}|relation|{x}", Person),
    (concat!("{x:name} is|'s now|also? my|our {y:mod}? ", relation!()), "{x} is the user's {r}", "user's {r}|relation|{x}", Person),
    (concat!("i|we have a|an|one|two|three|four new? {y:mod}? ", relation!(), " named|called {x:name}"), "{x} is the user's {r}", "user's {r}|relation|{x}", Statement),
    (concat!("my|our {y:mod}? ", relation!(), " {x:name}"), "{x} is the user's {r}", "user's {r}|relation|{x}", Person),
    ("{x:name} is|'s now|also? my|our {y:mod}? {r}", "", "", Person),
    ("i|we have|adopted|got a|an|one|two|three|four|five {x:mod}? kids|children|sons|daughters|dogs|cats|brothers|sisters|siblings|dog|cat|son|daughter|brother|sister|twins|pets|puppy|kitten|rabbits|chickens|grandchildren|stepchildren|horse|parrot|rabbit|hamster|roommates|flatmates|baby", "", "", Statement),
    ("i report to {x:name}", "{x} is the user's manager", "user's manager|relation|{x}", Person),
    ("{x:name} reports to me", "", "", Person),
    ("{x:name} is|'s now|also? the {y} for|on|at|of|behind|from {z}", "", "{y} {z}|relation|{x}", Person),
    ("{x:name} handles|owns|leads|runs|manages|maintains|oversees|supervises {z}", "", "", Person),
    ("{x:name} is|'s responsible|in for|charge {z}", "", "", Person),
    ("the {y} for|of|on {z} is {x:name} $", "", "", Person),
    ("i am married|engaged to {x:name}", "", "user's spouse|relation|{x}", Statement),
];
