/** Measures a scenario in rounds: every subject has its turn in each round, so that what disturbs one disturbs all. */
import { setTimeout as sleep } from "node:timers/promises";
import { runDirectory } from "./child.mjs";
import { measureDiskSync } from "./disk-sync.mjs";
import { chatBody, messagesBody } from "./bodies.mjs";
import { costNanos } from "./gateway-under-test.mjs";
import { MOCK_DEFAULTS } from "./mock-options.mjs";
import { readUsed } from "./process-stats.mjs";

// Work that follows an answer, such as its settlement, belongs to the turn.
const TRAIL_MS = 60;
/** A slow peer takes its time for thousands of streams. */
const WARM_UP_SECONDS_MAX = 600;
const DRAIN_SECONDS = 60;
const SYNCS = 100;
/** V8 looks after eight seconds, and at what was allocated in the last five. */
const IDLE_MS_MAX = 4_000;
/** V8 goes on compiling through so many turns like those that are measured, whatever its code served before them. */
const SETTLING_TURNS = 3;
const MEBI = 1024 * 1024;

/** @typedef {import("./scenarios.mjs").Scenario} Scenario */
/** @typedef {import("./subjects.mjs").Subject} Subject */
/** @typedef {Record<string, number>} Turn What one subject measured in one round. */

/**
 * @typedef {object} Tools
 * @property {{ http: import("./driver.mjs").Driver, grpc: import("./driver.mjs").Driver }} drivers
 * @property {number} mockPort
 * @property {import("./arguments.mjs").Options} options
 * @property {string[]} problems What went wrong anywhere; none is forgiven.
 */

/** What the gateway should have charged by now, by subject. */
export class Charges {
  /** @type {Map<Subject, bigint>} */
  #nanos = new Map();
  /** @type {Map<Subject, number>} */
  #answers = new Map();

  /**
   * @param {Subject} subject
   * @param {Scenario} scenario
   * @param {number} answers
   */
  add(subject, scenario, answers) {
    const cost = costNanos({ ...MOCK_DEFAULTS, ...scenario.mock });
    this.#nanos.set(subject, this.of(subject) + cost * BigInt(answers));
    this.#answers.set(subject, this.answersOf(subject) + answers);
  }

  /** @param {Subject} subject */
  answersOf(subject) {
    return this.#answers.get(subject) ?? 0;
  }

  /** @param {Subject} subject */
  of(subject) {
    return this.#nanos.get(subject) ?? 0n;
  }
}

/**
 * @param {Scenario} scenario
 * @param {readonly Subject[]} subjects
 * @param {Charges} charges
 * @param {Tools} tools
 * @returns {Promise<Map<string, Turn[]>>} The turns of each subject, in order.
 */
export async function measureLoad(scenario, subjects, charges, tools) {
  const { options } = tools;
  /** When each subject last worked. @type {Map<Subject, number>} */
  const workedMs = new Map();
  // Where a scenario has a warm-up of its own, it leads in each subject's first turn as well.
  if (scenario.warm !== false && scenario.warmUp === undefined)
    for (const subject of subjects) await warmUp(scenario, subject, charges, tools, options.warmSeconds);
  /** @type {Map<string, Turn[]>} */
  const turns = new Map(subjects.map(({ name }) => [name, []]));
  const rounds = Math.min(options.rounds, scenario.rounds ?? Infinity);
  for (let round = 0; round < rounds; round++) {
    // Each round begins with another subject: none always runs on what the same neighbour left behind.
    const shift = round % subjects.length;
    for (const subject of [...subjects.slice(shift), ...subjects.slice(0, shift)]) {
      const idleMs = performance.now() - (workedMs.get(subject) ?? -Infinity);
      if (idleMs > IDLE_MS_MAX) await leadIn(scenario, subject, charges, tools);
      turns.get(subject.name)?.push(await takeTurn(scenario, subject, charges, tools, options.seconds));
      workedMs.set(subject, performance.now());
    }
    const direct = turns.get("direct")?.[round];
    if (direct === undefined) continue;
    // A hold is durable before the upstream is called: what the disk takes for it, in this very round.
    direct["syncP50Ms"] = measureDiskSync(runDirectory, SYNCS).p50;
    for (const [name, of] of turns) if (name !== "direct") addDifference(of[round], direct);
  }
  return turns;
}

/**
 * What comes before the first round, and whose figures nobody reads: the scenario's own warm-up, and a turn like all.
 * @param {Scenario} scenario
 * @param {Subject} subject
 * @param {Charges} charges
 * @param {Tools} tools
 * @param {number} seconds Where the scenario counts no requests.
 */
export async function warmUp(scenario, subject, charges, tools, seconds) {
  const pace = { drainSeconds: WARM_UP_SECONDS_MAX };
  const { warmUp: differs } = scenario;
  if (differs !== undefined) await takeTurn({ ...scenario, ...differs }, subject, charges, tools, seconds, pace);
  await takeTurn(scenario, subject, charges, tools, seconds, pace);
}

/**
 * The scenario's own warm-up, once more, for a subject that waited while others had their turns, and what settles it.
 * V8 collects all of an idle process, without keeping the shapes of objects that happen not to live, and drops the code
 * that was optimised for them: a gateway's 370 to 570 functions, against a pass-through's few.
 * @param {Scenario} scenario
 * @param {Subject} subject
 * @param {Charges} charges
 * @param {Tools} tools
 */
async function leadIn(scenario, subject, charges, tools) {
  const { warmUp: differs } = scenario;
  if (differs === undefined) return;
  await takeTurn({ ...scenario, ...differs }, subject, charges, tools, 0, { drainSeconds: WARM_UP_SECONDS_MAX });
  await settle(scenario, subject, charges, tools, tools.options.seconds);
}

/**
 * Turns like those that are measured, and whose figures nobody reads. Without them a gateway that streams takes a sixth
 * more CPU than a few turns later, a half of that for compiling, and one that answers calls of gRPC a tenth.
 * @param {Scenario} scenario
 * @param {Subject} subject
 * @param {Charges} charges
 * @param {Tools} tools
 * @param {number} seconds Where the scenario counts no requests.
 */
export async function settle(scenario, subject, charges, tools, seconds) {
  for (let turn = 0; turn < SETTLING_TURNS; turn++) await takeTurn(scenario, subject, charges, tools, seconds);
}

/**
 * @param {Scenario} scenario
 * @param {Subject} subject
 * @param {Charges} charges
 * @param {Tools} tools
 * @param {number} seconds Where the scenario counts no requests.
 * @param {object} [pace] What differs from a closed loop of all callers.
 * @returns {Promise<Turn & { load: any }>}
 */
export async function takeTurn(scenario, subject, charges, tools, seconds, pace = {}) {
  const count =
    scenario.each === undefined ? { seconds, requests: 0 } : { seconds: 0, requests: scenario.each * scenario.callers };
  const job = { ...jobOf(scenario, subject), ...count, ...pace };
  const { collections: collectionsBefore } = await readDelaysMs(subject);
  const mockBefore = await readMock(tools.mockPort);
  const before = subject.pids.length > 0 ? readUsed(subject.pids) : undefined;
  const load = await tools.drivers[subject.door].run(job);
  await sleep(TRAIL_MS);
  const after = subject.pids.length > 0 ? readUsed(subject.pids) : undefined;
  const mock = await readMock(tools.mockPort);
  charges.add(subject, scenario, load.ok);
  const where = `${scenario.name}, ${subject.name}`;
  if (load.failed > 0 || load.ok === 0)
    tools.problems.push(`${where}: ${load.failed} failed: ${load.problems.join("; ")}`);
  const reached = mock.finished - mockBefore.finished;
  if (reached !== load.ok) tools.problems.push(`${where}: ${load.ok} answers, but the upstream gave ${reached}`);
  const isKnown = after !== undefined && before !== undefined && load.ok > 0;
  const cpuMs = isKnown ? after.cpuMs - before.cpuMs : Number.NaN;
  const { collections, ...delays } = await readDelaysMs(subject);
  return {
    perSecond: load.ok / load.seconds,
    cpuUs: (cpuMs * 1000) / load.ok,
    // The ledger's writer, the disk, and the helpers of the garbage collector.
    otherCpuUs: isKnown ? ((cpuMs - after.mainCpuMs + before.mainCpuMs) * 1000) / load.ok : Number.NaN,
    eventCpuUs: load.events > 0 ? (cpuMs * 1000) / load.events : Number.NaN,
    p50Ms: load.whole.p50,
    p99Ms: load.whole.p99,
    firstP50Ms: load.first.p50,
    firstP99Ms: load.first.p99,
    rssMb: (after?.rssBytes ?? Number.NaN) / MEBI,
    rssPeakMb: (after?.rssPeakBytes ?? Number.NaN) / MEBI,
    ...delays,
    collections: collections - collectionsBefore,
    atOnce: mock.openMost,
    load: /** @type {any} */ (load),
  };
}

/**
 * @param {Turn | undefined} turn
 * @param {Turn} direct
 */
function addDifference(turn, direct) {
  if (turn === undefined) return;
  turn["addedP50Ms"] = (turn["p50Ms"] ?? Number.NaN) - (direct["p50Ms"] ?? Number.NaN);
  turn["addedP99Ms"] = (turn["p99Ms"] ?? Number.NaN) - (direct["p99Ms"] ?? Number.NaN);
}

/**
 * @param {Scenario} scenario
 * @param {Subject} subject
 * @returns {Omit<import("./load.mjs").Job, "seconds" | "requests">}
 */
function jobOf(scenario, subject) {
  const isMessages = scenario.format === "messages" && subject.translates;
  const build = isMessages ? messagesBody : chatBody;
  const events = scenario.mock.events ?? MOCK_DEFAULTS.events;
  const streamed = isMessages
    ? // The first event, the last and the usage become other events than pieces of text.
      { eventMark: '"type":"content_block_delta"', events: events - 3, endMark: '"type":"message_stop"' }
    : { eventMark: "data: {", events, endMark: "data: [DONE]" };
  return {
    host: subject.host,
    port: subject.port,
    path: subject.basePath + (isMessages ? "/messages" : "/chat/completions"),
    headers: isMessages ? { ...subject.headers, "anthropic-version": "2023-06-01" } : subject.headers,
    body: build(scenario.body, subject.model, scenario.mock).toString(),
    expected: scenario.body.stream ? streamed : { eventMark: "", events: 0, endMark: '"completion_tokens"' },
    callers: scenario.callers,
    perSecond: 0,
    spreadMs: scenario.spreadMs ?? 0,
    windowSeconds: 0,
    drainSeconds: DRAIN_SECONDS,
  };
}

/**
 * True where a single request in the scenario's format is served, false where the gateway knows no such path.
 * @param {Scenario} scenario
 * @param {Subject} subject
 */
export async function servesFormat(scenario, subject) {
  const { path, headers } = jobOf(scenario, subject);
  const url = `http://${subject.host}:${subject.port}${path}`;
  const response = await fetch(url, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: "{}",
  });
  await response.arrayBuffer();
  return response.status !== 404;
}

/** @param {number} port */
async function readMock(port) {
  return /** @type {{ finished: number, openMost: number }} */ (
    await (await fetch(`http://127.0.0.1:${port}/counts`)).json()
  );
}

/**
 * How long the event loop was held since the last look, as the subject's own metrics tell it; nothing where they do
 * not. The watch looks every 10 ms, and that wait is part of each value. Beside it how many collections of the whole
 * heap there were since the start.
 * @param {Subject} subject
 */
export async function readDelaysMs({ metricsUrl }) {
  const text = metricsUrl === undefined ? "" : await (await fetch(metricsUrl)).text();
  const told = (/** @type {string} */ name) => {
    const seconds = new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)`, "m").exec(text)?.[1];
    return Number(seconds ?? Number.NaN) * 1000;
  };
  // It is told from its first one on.
  const none = text.includes("nodejs_gc_duration_seconds") ? 0 : Number.NaN;
  const collections = Number(/^nodejs_gc_duration_seconds_count\{kind="major"\} (\d+)/m.exec(text)?.[1] ?? none);
  const [delayP50Ms, delayP90Ms, delayP99Ms, stallMs] = [told("p50"), told("p90"), told("p99"), told("max")];
  return { delayP50Ms, delayP90Ms, delayP99Ms, stallMs, collections };
}
