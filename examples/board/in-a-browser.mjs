// Drives the page in Chromium by its own protocol. `in-a-browser` starts it, with the program `board` and the folder of the screenshots.
import { spawn, execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { mkdtempSync, mkdirSync, writeFileSync, rmSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [board, shots] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "board-"));
const children = [];
const end = async () => {
  await Promise.all(children.map((it) => it.exitCode ?? new Promise((gone) => (it.once("exit", gone), it.kill()))));
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
};
const check = (holds, what) => {
  if (!holds) throw new Error(`not so: ${what}`);
  console.log(`ok: ${what}`);
};
const until = async (find, what) => {
  for (let left = 150; left > 0; left -= 1) {
    const found = await find();
    if (found) return found;
    await new Promise((go) => setTimeout(go, 100));
  }
  throw new Error(`waited in vain: ${what}`);
};

// A model that follows a script, by ticket.
const says = (content, ...calls) => ({ content, calls });
const scripts = {
  1: [
    says("I read the ticket.", ["ticket_read", {}]),
    says("The tea is cold because no fire is made. I start work on it.", ["ticket_update_state", { state: "IN_PROGRESS", reason: "it is clear what is missing" }]),
    says("I make the fire with a script of the project.", ["bash", { command: "mkdir -p made && touch made/fire" }]),
    says("The fire burns. I say so.", ["comment_post", { content: "The fire burns: `made/fire` is there. Please taste the tea.", type: "status" }]),
    says("I wait for a person to taste it."),
  ],
  2: [
    says("I read the ticket.", ["ticket_read", {}]),
    says("The ticket does not say how hot. I ask.", ["comment_post", { content: "How hot should green tea be? `70 °C` and `80 °C` are both common.", type: "question" }]),
    says("I wait for the answer."),
  ],
};
const answer = (messages) => {
  const ticket = /Work on ticket (\d+)/.exec(JSON.stringify(messages))?.[1];
  const turn = messages.filter((it) => it.role === "assistant").length;
  const { content, calls } = scripts[ticket]?.[turn] ?? says("There is nothing left to do.");
  const tool_calls = calls.map(([name, input], index) => ({
    id: `call_${ticket}_${turn}_${index}`, type: "function", function: { name, arguments: JSON.stringify(input) },
  }));
  const message = { role: "assistant", content, ...(calls.length ? { tool_calls } : {}) };
  const usage = { prompt_tokens: 3200 + 400 * turn, completion_tokens: 80, total_tokens: 3280 + 400 * turn };
  return {
    id: `chat-${ticket}-${turn}`, object: "chat.completion", created: 1795000000, model: "gpt-5.2", usage,
    choices: [{ index: 0, message, finish_reason: calls.length ? "tool_calls" : "stop" }],
  };
};
const model = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(answer(JSON.parse(body).messages)));
});
await new Promise((ready) => model.listen(0, "127.0.0.1", ready));

// A key of Ada, and a board with some tickets.
const { x, d } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
const hex = (it) => Buffer.from(it, "base64url").toString("hex");
const key = join(folder, "ada.key");
writeFileSync(key, `toolwright approver key 1\nname: ada\npublic: ed25519:${hex(x)}\nsecret: ${hex(d)}\n`, { mode: 0o600 });
const repository = join(folder, "tea");
mkdirSync(repository);
writeFileSync(join(repository, "README.md"), "# Tea\n");
const git = (...given) => execFileSync("git", given, { cwd: repository, stdio: "ignore" });
git("init", "--initial-branch=main");
git("config", "user.name", "Ada");
git("config", "user.email", "ada@example.org");
git("add", "--all");
git("commit", "--message=begin");
const environment = {
  ...process.env, USER: "ada", TOOLWRIGHT_KEY: key, OPENAI_API_KEY: "none", OPENAI_BASE_URL: `http://127.0.0.1:${model.address().port}`,
};
const own = ["--folder", join(folder, "board")];
const types = (...given) => execFileSync(board, [...own, ...given], { env: environment, encoding: "utf8" });
types("init", repository, "--name", "tea");
types("new", "The tea is cold", "--type", "BUG", "--research", "--criterion", "person: It tastes hot", "--criterion", "file made/fire: The fire is there",
  "--description", "It was poured an hour ago.\nIt should be hot, as `README.md` says.");
types("new", "Brew green tea at the right temperature", "--research", "--criterion", "person: It is green");
types("new", "Describe how long each kind steeps", "--type", "CHORE", "--criterion", "file docs/steeping.md: The page is there");
types("new", "A pot that says when it is empty", "--criterion", "tests: The test suite passes");
types("new", "Import the supplier’s list of teas with all their names, places of origin, seasons and prices", "--criterion", "lint: The linter is content");
types("new", "Milk", "--type", "CHORE");
types("move", "5", "VERIFICATION", "--reason", "I look at it");
types("move", "6", "DONE", "--reason", "there is some");

const start = (program, given) => {
  const child = spawn(program, given, { env: environment, stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  return child;
};
const line = (stream, pattern) => new Promise((found, gone) => {
  const lines = createInterface({ input: stream });
  lines.on("line", (it) => pattern.exec(it) && found(pattern.exec(it)[1]));
  lines.on("close", () => gone(new Error(`no line like ${pattern}`)));
});

// The protocol of the browser: commands get answers by their number.
const connect = async (url) => {
  const socket = new WebSocket(url);
  await new Promise((open, closed) => { socket.onopen = open; socket.onerror = () => closed(new Error("the browser does not answer")); });
  const waiting = new Map();
  const problems = [];
  let number = 0;
  socket.onmessage = ({ data }) => {
    const { id, result, error, method, params } = JSON.parse(data);
    if (method === "Log.entryAdded" && params.entry.level === "error") problems.push(params.entry.text);
    if (method === "Runtime.exceptionThrown") problems.push(params.exceptionDetails.text);
    if (!waiting.has(id)) return;
    const { done, failed } = waiting.get(id);
    error ? failed(new Error(error.message)) : done(result);
  };
  const send = (method, params = {}, sessionId = undefined) => new Promise((done, failed) => {
    number += 1;
    waiting.set(number, { done, failed });
    socket.send(JSON.stringify({ id: number, method, params, sessionId }));
  });
  return { send, problems };
};

let text = async () => "";
try {
  start(board, [...own, "run", "--model", "openai-chat:gpt-5.2", "--heartbeat", "1"]);
  const page = start(board, [...own, "serve", "--listen", "127.0.0.1:0"]);
  const link = await line(page.stdout, /^sign in as ada: (.*)$/);
  const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0"];
  const browser = start("chromium", [...flags, `--user-data-dir=${join(folder, "profile")}`, "about:blank"]);
  const { send, problems } = await connect(await line(browser.stderr, /listening on (ws:\S+)/));
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const tell = (method, params) => send(method, params, sessionId);
  for (const domain of ["Page", "Runtime", "Log"]) await tell(`${domain}.enable`);
  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await tell("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description}`);
    return result.value;
  };
  text = () => evaluate("document.readyState === 'complete' ? document.body?.innerText ?? '' : ''").catch(() => "");
  const shows = (words) => until(async () => (await text()).includes(words), `the page shows “${words}”`);
  const go = async (url) => { await tell("Page.navigate", { url }); await until(text, url); };
  const click = (selector) => evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
  const fill = (selector, value) => evaluate(`document.querySelector(${JSON.stringify(selector)}).value = ${JSON.stringify(value)}`);
  const press = async (name, code, words) => {
    const given = { key: name, code: name, windowsVirtualKeyCode: code };
    await tell("Input.dispatchKeyEvent", { type: "keyDown", ...given, ...(words ? { text: words } : {}) });
    await tell("Input.dispatchKeyEvent", { type: "keyUp", ...given });
  };
  // Goes through the page by the key Tab alone.
  const tab_to = async (id) => {
    for (let left = 80; left > 0; left -= 1) {
      await press("Tab", 9);
      if ((await evaluate("document.activeElement.id || document.activeElement.textContent")).startsWith(id)) return;
    }
    throw new Error(`no Tab leads to ${id}`);
  };
  const picture = async (name) => {
    for (const scheme of ["light", "dark"]) {
      for (const width of [360, 1280]) {
        await tell("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
        await tell("Emulation.setDeviceMetricsOverride", { width, height: 800, deviceScaleFactor: 1, mobile: width < 600 });
        await new Promise((go) => setTimeout(go, 150));
        const wide = await evaluate("document.documentElement.scrollWidth");
        check(wide <= width, `${name} fits into ${width} pixels (${wide})`);
        const { data } = await tell("Page.captureScreenshot", { captureBeyondViewport: true });
        writeFileSync(join(shots, `${name}-${scheme}-${width}.png`), Buffer.from(data, "base64"));
      }
    }
  };

  await go(link);
  await shows("Asks for approval");
  await shows("Asks a question");
  await picture("board");
  const home = await evaluate("location.href");

  // A ticket is moved.
  await go(`${home}ticket/3`);
  await evaluate("document.querySelector('#to').value = 'VERIFICATION'");
  await fill("#reason", "somebody has written it");
  await click("form.move button");
  await shows("Backlog → Verification by ada");
  check(types("show", "3").includes("BACKLOG → VERIFICATION by ada: somebody has written it"), "a ticket is moved");

  // A comment is made, and one of another person comes to the open page by itself.
  await go(`${home}ticket/2`);
  await click("[id^=answer-]");
  await shows("Answer to comment #");
  await fill("#content", "Seventy degrees.\n<script>alert(1)</script>");
  await click("form.write button");
  await shows("<script>alert(1)</script>");
  check(types("show", "2").includes("Seventy degrees."), "a comment is made");
  types("comment", "2", "I have a thermometer.", "--by", "grace");
  await shows("I have a thermometer.");
  check(true, "an open page shows what another person writes");

  // A call is approved by the keyboard; the agent goes on, and the page shows it.
  await go(`${home}ticket/1`);
  await shows("mkdir -p made && touch made/fire");
  await picture("approval");
  await tab_to("approve-");
  await press("Enter", 13, "\r");
  await shows("The fire burns: made/fire is there.");
  check(existsSync(join(folder, "board/worktrees/ticket-1/made/fire")), "a call is approved, and runs");
  check(!(await evaluate("!!document.querySelector('[id^=approve-]')")), "nothing is offered any more");
  await click("[id^=criterion-]");
  await shows("Not met after all");
  await picture("ticket");
  await go(`${home}new`);
  await picture("new");
  check(problems.length === 0, `the browser reports no problem ${problems.join("; ")}`);
  console.log(`screenshots: ${shots}`);
} catch (error) {
  console.error(`error: ${error.message}; the page shows:\n${await text()}`);
  process.exitCode = 1;
} finally {
  await end();
  model.close();
}
