/** Many streams at once, to clients of every kind: each arrives whole, in order, with nothing before its head. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { chat } from "../../support/chat-call.js";
import { script } from "../../support/fake-upstream.js";
import { freePort } from "../../support/free-port.mjs";
import { startNginx } from "../../support/nginx-process.js";
import { startWorld, type World } from "../../support/world.js";

/** For each client and pace: six times as many in all. */
const STREAMS = Number(process.env["TOLLGATE_STREAMS"] ?? 100);
const CALLERS = 25;
const WORDS = 40;
const SAID = Array.from({ length: WORDS }, (_, index) => `word${index}`).join(" ");
const PATH = "/v1/chat/completions";
const isInstalled = (program: string, flag: string): boolean => spawnSync(program, [flag]).status === 0;

let world: World;
const directory = mkdtempSync(join(tmpdir(), "tollgate-streams-"));
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.close();
  rmSync(directory, { recursive: true });
});

/** What a plain client of Node's own got, for each stream; an error's message where it could not read the answer. */
async function askWithNode(base: string, body: string): Promise<string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
  const headers = { authorization: `Bearer ${world.secret}`, "content-type": "application/json" };
  const ask = (): Promise<string> =>
    new Promise((resolve) => {
      const fail = (error: Error): void => resolve(error.message);
      const asked = request(base + PATH, { method: "POST", agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => resolve(Buffer.concat(chunks).toString()));
        response.on("error", fail);
      });
      asked.on("error", fail);
      asked.end(body);
    });
  const answers = await Promise.all(Array.from({ length: STREAMS }, ask));
  agent.destroy();
  return answers;
}

async function askWithCurl(base: string, body: string): Promise<string[]> {
  const answers = mkdtempSync(join(directory, "curl-"));
  const parallel = ["--parallel", "--parallel-immediate", "--parallel-max", String(CALLERS)];
  const headers = ["-H", `authorization: Bearer ${world.secret}`, "-H", "content-type: application/json"];
  const target = [`${base}${PATH}?stream=[1-${STREAMS}]`, "-o", join(answers, "#1")];
  const child = spawn("curl", ["-sSN", ...parallel, ...headers, "-d", body, ...target], { stdio: "ignore" });
  await once(child, "close");
  return readdirSync(answers).map((name) => readFileSync(join(answers, name), "utf8"));
}

/** The text of a stream with its end, and nothing else; else what came. */
function wholeText(answer: string): string {
  const events = answer.split("\n\n");
  if (events.pop() !== "" || events.pop() !== "data: [DONE]") return answer;
  const isEvent = (event: string): boolean => event.startsWith("data: {") && !event.includes("\n");
  if (!events.every(isEvent)) return answer;
  const chunks = events.map(
    (event) => JSON.parse(event.slice("data: ".length)) as { choices: { delta: { content?: string } }[] },
  );
  return chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
}

describe.each([
  { pace: "paced", fake: { words: WORDS, eventDelayMs: 5 } },
  { pace: "unpaced", fake: { words: WORDS } },
])(`${STREAMS} $pace streams arrive whole`, ({ fake }) => {
  const body = JSON.stringify(chat(script(fake), { stream: true }));
  const expectWhole = (answers: readonly string[]): void => {
    expect(answers.map(wholeText).filter((text) => text !== SAID)).toEqual([]);
    expect(answers).toHaveLength(STREAMS);
  };

  test("at a client of node:http", async () => {
    expectWhole(await askWithNode(world.front.url, body));
  });

  test.runIf(isInstalled("curl", "-V"))("at curl", async () => {
    expectWhole(await askWithCurl(world.front.url, body));
  });

  test.runIf(isInstalled("nginx", "-v"))("behind nginx", async () => {
    const port = await freePort();
    const nginx: ChildProcess = await startNginx(mkdtempSync(join(directory, "nginx-")), port, world.front.url);
    try {
      const base = `http://127.0.0.1:${port}`;
      await vi.waitFor(() => fetch(`${base}/livez`), { timeout: 60_000, interval: 50 });
      expectWhole(await askWithNode(base, body));
    } finally {
      nginx.kill();
      await once(nginx, "exit");
    }
  });
});
