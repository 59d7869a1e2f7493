//! 300 definitions of real functions as deferred tools, searched by what users say who need them: how many are among the first five.

use std::collections::BTreeSet;

use oracles::real::{self, Function, Question};
use serde_json::{Value, json};
use toolwright::unstable::foreign::{TypeNames, input_schema};
use toolwright::{DynamicTool, Effect, Exposure};
use toolwright_agent::{Agent, Message, ScriptedModel};

const TOOLS: usize = 300;

/// How many searches one answer of the model has.
const AT_ONCE: usize = 25;

/// What is found at least, in thousandths of what users need: measured 948, and a little less.
const FLOOR: usize = 940;

/// A name as tools have it: theirs have dots.
fn name(function: &Function) -> String {
    function.name.replace(|it: char| !it.is_ascii_alphanumeric(), "_")
}

fn is_same(one: &Function, other: &Function) -> bool {
    let parts = |it: &Function| (it.name.clone(), it.description.clone(), it.parameters.clone());
    parts(one) == parts(other)
}

/// The first definition of each name that a question needs, as a tool; of all of these so many, evenly spread.
fn tools(questions: &[Question]) -> Vec<(Function, DynamicTool)> {
    let (mut seen, mut all) = (BTreeSet::new(), Vec::new());
    for function in questions.iter().flat_map(|it| &it.tools) {
        if !seen.insert(name(function)) {
            continue;
        }
        let Ok(read) = input_schema(&function.parameters, TypeNames::Foreign) else { continue };
        let answer = |_, _| std::future::ready(Ok::<_, toolwright::ToolError>("done"));
        let tool = DynamicTool::new(name(function), &*function.description, read.schema, answer);
        all.push((function.clone(), tool.effect(Effect::Read).exposure(Exposure::Deferred)));
    }
    let count = all.len();
    assert!(count > TOOLS, "{count} definitions");
    let wanted: BTreeSet<usize> = (0..TOOLS).map(|it| it * count / TOOLS).collect();
    let all = all.into_iter().enumerate().filter(|(place, _)| wanted.contains(place));
    all.map(|(_, tool)| tool).collect()
}

/// The names that each search of a run has found.
fn found(history: &[Message]) -> Vec<Vec<String>> {
    let answers = history.iter().filter_map(|message| match message {
        Message::ToolResults(answered) => Some(answered),
        _ => None,
    });
    let names = |text: &str| {
        let answer: Value = serde_json::from_str(text).unwrap();
        let tools = answer["tools"].as_array().unwrap();
        tools.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    answers.flat_map(|it| it.iter().map(|(_, answer)| names(&answer.text()))).collect()
}

#[tokio::test]
async fn nine_in_ten_tools_are_among_the_first_five_that_the_words_of_their_users_find() {
    let questions = real::questions().unwrap();
    let (functions, tools): (Vec<Function>, Vec<DynamicTool>) =
        tools(&questions).into_iter().unzip();
    let needed = |question: &Question| -> Vec<String> {
        let is_there = |tool: &&Function| functions.iter().any(|it| is_same(it, tool));
        question.tools.iter().filter(is_there).map(name).collect()
    };
    let cases: Vec<(&Question, Vec<String>)> = questions
        .iter()
        .map(|question| (question, needed(question)))
        .filter(|(_, needed)| !needed.is_empty())
        .collect();
    let queries: Vec<String> =
        cases.iter().map(|(it, _)| json!({ "query": it.words }).to_string()).collect();
    let searches: Vec<_> = queries.iter().map(|query| ("tool_search", query.as_str())).collect();
    let model = searches
        .chunks(AT_ONCE)
        .fold(ScriptedModel::new(), |model, searches| model.calls(searches.iter().copied()));
    let turns = u32::try_from(queries.len()).unwrap();
    let agent = Agent::builder(model.says("Done.")).tools(tools).max_turns(turns).build().unwrap();
    let result = agent.run("Go!").await.unwrap();
    let found = found(result.history());
    assert_eq!(found.len(), cases.len());
    let (mut all, mut first, mut missed) = (0, 0, Vec::new());
    for ((question, needed), found) in cases.iter().zip(&found) {
        all += needed.len();
        let of_these = needed.iter().filter(|it| found.contains(it)).count();
        first += of_these;
        if of_these < needed.len() {
            let words: String = question.words.chars().take(100).collect();
            missed.push(format!("{}: {needed:?} by {words:?}, found {found:?}", question.id));
        }
    }
    println!("{}", missed.join("\n"));
    let recall = first * 1_000 / all;
    println!(
        "{TOOLS} tools, {} questions: {first} of {all} tools among the first five, {}.{} %",
        cases.len(),
        recall / 10,
        recall % 10
    );
    assert!(recall >= FLOOR, "{recall} of 1000, expected at least {FLOOR}");
}
