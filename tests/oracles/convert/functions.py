"""Real functions and real calls, from the Berkeley function-calling leaderboard.

`definitions.jsonl`: every definition of every question, as often as it is asked, untouched:
`{"source", "name", "description", "parameters"}`. `source` is the question's id. The file on format sensitivity
holds no definitions.

`calls.jsonl`: every right call of the single-turn questions, `{"id", "tool", "arguments"}`, with the definition's
parameters untouched as the tool's `input_schema`. `id` is the question's id and the place of the call in its answer.

`conversations.jsonl`: the conversations of the questions with several turns, `{"id", "tools", "turns"}`. A turn is what the
user says, `said`, and the right calls to it, `calls` of `{"name", "arguments"}`, which the leaderboard writes as source
text of Python. `tools` are the definitions of the services of the question, as in `definitions.jsonl`.
`questions.jsonl`: what the user says in each of these questions, `{"id", "words", "tools"}`: the messages of the user, a line each, and
the definitions that the right calls are of, untouched, each once.

The answers name for each argument the values that are right, and `""` among them says that the argument may be left
out. How a value is chosen:

- the first that is not `""`; `null` and an empty list are values;
- where there is only `""`, or nothing, the argument is left out; where the definition requires it, it is `""`, or
  the empty list that stands there;
- inside an object each key again has a list of right values, so the same is done there; a key whose value is no
  list is taken as it is; the objects in a list are treated alike.

The questions about Java and JavaScript declare their own types (`HashMap`, `ArrayList`, `long`, `Boolean`, `any`).
Their answers are not source text: they hold the JSON value that stands for what the model writes (`true`, `50`, a
list, an object), and a plain string where the model is to name a variable or a constant, even for an `Array`, a
`HashMap` or an `integer` (`ResultSet.CONCUR_READ_ONLY`). All of it is written as it is, types and values. About 30
such calls therefore break their own definition, as do some of the Python ones (`"dontcare"` for an integer, `null`
for what is merely optional, an argument that the definition does not know): this is what models are scored on, and
what a reader of tool input will meet.
"""

import ast
import json

# The file with the definitions of each service.
SERVICES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}

SKIPPED = {"BFCL_v4_format_sensitivity.json"}


def convert(data, made):
    with open(made / "definitions.jsonl", "w", encoding="utf-8") as out:
        count = sum(write(out, definition) for definition in definitions(data))
    expect(count, 8726, "definitions")
    with open(made / "calls.jsonl", "w", encoding="utf-8") as out:
        count = sum(write(out, call) for call in calls(data))
    expect(count, 3302, "calls")
    with open(made / "conversations.jsonl", "w", encoding="utf-8") as out:
        count = sum(write(out, conversation) for conversation in conversations(data))
    expect(count, 200, "conversations")
    with open(made / "questions.jsonl", "w", encoding="utf-8") as out:
        count = sum(write(out, question) for question in questions(data))
    expect(count, 2501, "questions")


def definitions(data):
    for path in sorted(data.glob("BFCL_v4_*.json")):
        if path.name in SKIPPED:
            continue
        for question in lines(path):
            for function in question.get("function", []):
                yield {"source": question["id"], **{key: function[key] for key in ("name", "description", "parameters")}}


def answered(data):
    """The single-turn questions, each with its right calls: the definition, and the right values of its arguments."""
    for path in sorted((data / "possible_answer").glob("BFCL_v4_*.json")):
        answers = list(lines(path))
        if not isinstance(answers[0]["ground_truth"][0], dict):
            # Conversations and searches: their answers are source text or facts, no calls.
            continue
        questions = {question["id"]: question for question in lines(data / path.name)}
        for answer in answers:
            question, right = questions[answer["id"]], []
            for call in answer["ground_truth"]:
                ((name, values),) = call.items()
                # Where two functions of a question have one name, the leaderboard too takes the first.
                right.append((next(it for it in question["function"] if it["name"] == name), values))
            yield question, right


def questions(data):
    for question, right in answered(data):
        messages = [message for turn in question["question"] for message in turn]
        tools = []
        for function, _ in right:
            tool = {key: function[key] for key in ("name", "description", "parameters")}
            if tool not in tools:
                tools.append(tool)
        words = [message["content"] for message in messages if message["role"] == "user"]
        yield {"id": question["id"], "words": "\n".join(words), "tools": tools}


def calls(data):
    for question, right in answered(data):
        for place, (function, values) in enumerate(right):
            yield {
                "id": f"{question['id']}/{place}",
                "tool": {
                    "name": function["name"],
                    "description": function["description"],
                    "input_schema": function["parameters"],
                },
                "arguments": chosen_keys(values, function["parameters"]),
            }


def conversations(data):
    name = "BFCL_v4_multi_turn_base.json"
    answers = {answer["id"]: answer["ground_truth"] for answer in lines(data / "possible_answer" / name)}
    folder = data / "multi_turn_func_doc"
    services = {service: list(lines(folder / f"{file}.json")) for service, file in SERVICES.items()}
    for question in lines(data / name):
        tools = [tool for service in question["involved_classes"] for tool in services[service]]
        order = {tool["name"]: list(tool["parameters"]["properties"]) for tool in tools}
        turns = zip(question["question"], answers[question["id"]], strict=True)
        yield {
            "id": question["id"],
            "tools": [{key: tool[key] for key in ("name", "description", "parameters")} for tool in tools],
            "turns": [
                {
                    "said": "\n".join(message["content"] for message in said),
                    "calls": [called(call, order) for call in calls],
                }
                for said, calls in turns
            ],
        }


def called(source, order):
    """A call in source text, such as `grep(file_name='a', pattern='b')`; an argument without a name has that of its place."""
    call = ast.parse(source, mode="eval").body
    arguments = dict(zip(order[call.func.id], map(ast.literal_eval, call.args)))
    arguments.update((it.arg, ast.literal_eval(it.value)) for it in call.keywords)
    return {"name": call.func.id, "arguments": arguments}


def chosen_keys(right, schema):
    """An object of lists of right values, with one value for each key that is not left out."""
    schema = schema if isinstance(schema, dict) else {}
    properties, required = schema.get("properties") or {}, schema.get("required") or []
    out = {}
    for key, values in right.items():
        below = properties.get(key)
        if not isinstance(values, list):
            out[key] = chosen(values, below)
            continue
        there = [value for value in values if value != ""]
        if there:
            out[key] = chosen(there[0], below)
        elif key in required:
            out[key] = "" if values else []
    return out


def chosen(value, schema):
    if isinstance(value, dict):
        return chosen_keys(value, schema)
    if isinstance(value, list):
        items = schema.get("items") if isinstance(schema, dict) else None
        return [chosen(item, items) for item in value]
    return value


def lines(path):
    with open(path, encoding="utf-8") as text:
        for line in text:
            if line.strip():
                yield json.loads(line)


def write(out, value):
    out.write(json.dumps(value, ensure_ascii=False) + "\n")
    return 1


def expect(found, wanted, what):
    if found != wanted:
        raise ValueError(f"{found} {what}, expected {wanted}")
