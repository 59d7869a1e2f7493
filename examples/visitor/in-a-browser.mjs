// Drives the page in Chromium by its own protocol. `in-a-browser` starts it, with the program `visitor`.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [visitor] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "visitor-"));
const children = [];
const start = (program, given) => {
  const child = spawn(program, given, { stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  return child;
};
const gone = (child) => child.exitCode ?? new Promise((ended) => child.once("exit", ended));
const line = (stream, pattern) => new Promise((found, failed) => {
  const lines = createInterface({ input: stream });
  lines.on("line", (it) => pattern.exec(it) && found(pattern.exec(it)[1]));
  lines.on("close", () => failed(new Error(`no line like ${pattern}`)));
});
const check = (holds, what) => {
  if (!holds) throw new Error(`not so: ${what}`);
  console.log(`ok: ${what}`);
};

// The protocol of the browser: commands get answers by their number.
const connect = async (url) => {
  const socket = new WebSocket(url);
  await new Promise((open, closed) => { socket.onopen = open; socket.onerror = () => closed(new Error("the browser does not answer")); });
  const waiting = new Map();
  let number = 0;
  socket.onmessage = ({ data }) => {
    const { id, result, error } = JSON.parse(data);
    if (!waiting.has(id)) return;
    const { done, failed } = waiting.get(id);
    error ? failed(new Error(error.message)) : done(result);
  };
  return (method, params = {}, sessionId = undefined) => new Promise((done, failed) => {
    number += 1;
    waiting.set(number, { done, failed });
    socket.send(JSON.stringify({ id: number, method, params, sessionId }));
  });
};

let text = async () => "";
try {
  const page = start(visitor, []);
  const ended = line(page.stdout, /^(The door .*)$/);
  ended.catch(() => {});
  const link = await line(page.stdout, /^open (.*)$/);
  const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"];
  const browser = start("chromium", [...flags, `--user-data-dir=${join(folder, "profile")}`, "about:blank"]);
  const send = await connect(await line(browser.stderr, /listening on (ws:\S+)/));
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const tell = (method, params) => send(method, params, sessionId);
  for (const domain of ["Page", "Runtime"]) await tell(`${domain}.enable`);
  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await tell("Runtime.evaluate", { expression, returnByValue: true });
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description}`);
    return result.value;
  };
  text = () => evaluate("document.readyState === 'complete' ? document.body?.innerText ?? '' : ''").catch(() => "");
  const shows = async (words) => {
    for (let left = 150; left > 0; left -= 1) {
      if ((await text()).includes(words)) return;
      await new Promise((go) => setTimeout(go, 100));
    }
    throw new Error(`waited in vain: the page shows “${words}”`);
  };

  await tell("Page.navigate", { url: link });
  await shows("Which colour shall the door have?");
  check(true, "the page shows the call that was handed over");
  check(await evaluate("[...document.querySelectorAll('button')].map((it) => it.textContent).join()") === "red,green,blue", "it offers the colours");
  await evaluate("document.querySelector('#blue').click()");
  await shows("Thank you. You picked Blue.");
  check(true, "what the visitor picks is taken");
  check((await ended) === "The door is painted Blue.", "the agent goes on with it");
  check((await gone(page)) === 0, "the program ends");
} catch (error) {
  console.error(`error: ${error.message}; the page shows:\n${await text()}`);
  process.exitCode = 1;
} finally {
  for (const child of children) child.kill();
  await Promise.all(children.map(gone));
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
