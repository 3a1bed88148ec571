/** The load of the overload, in a process of its own: callers at a fixed rate, or as fast as they are answered. */
import { Connection } from "./connection.mjs";

const TICK_MS = 2;
const OPENED_AT_ONCE = 32;
/** How long the last answers may take. */
const DRAIN_MS = 20_000;

/**
 * @typedef {object} Group Callers of one account.
 * @property {string} name
 * @property {string} request Head and body.
 * @property {number} perSecond At this rate, whatever the answers are; 0: each caller asks again once it is answered.
 * @property {number} callers The most that ask at once.
 * @property {boolean} isPatient Who is refused asks no more for as long as the refusal says, as SDKs do.
 *
 * @typedef {object} Job
 * @property {string} host
 * @property {number} port
 * @property {number} seconds
 * @property {Group[]} groups
 *
 * @typedef {object} Tally
 * @property {number} sent
 * @property {number} answered Answered well while requests were sent.
 * @property {number} later Answered well after that.
 * @property {number} refused With 503, and told when to come again.
 * @property {Record<string, number>} others Any other status, and what came without an end, by its number.
 * @property {number} unsent What was due while all callers were waiting.
 * @property {number} answeredMs The longest to a good answer.
 * @property {number} refusedMs The longest to a refusal.
 * @property {number} halfMs Half of the good answers took no longer.
 */

class Caller {
  /** @type {Tally} */
  tally = { sent: 0, answered: 0, later: 0, refused: 0, others: {}, unsent: 0, answeredMs: 0, refusedMs: 0, halfMs: 0 };
  /** @type {number[]} */
  #tookMs = [];
  /** @type {Connection[]} */
  #idle = [];
  #open = 0;
  #isOver = false;
  #due = 0;

  /** @param {Job} job @param {Group} group @param {number} place */
  constructor(job, group, place) {
    this.group = group;
    this.request = Buffer.from(group.request);
    this.connections = Array.from({ length: group.callers }, (_, index) => {
      // The gateway takes only so many connections from one address.
      const localAddress = `127.0.${1 + place}.${1 + (index % 8)}`;
      /** @type {Connection} */
      const connection = new Connection({ host: job.host, port: job.port, localAddress }, (outcome) =>
        this.#take(connection, outcome),
      );
      return connection;
    });
    this.#idle = [...this.connections];
    this.startMs = performance.now();
  }

  async open() {
    for (let at = 0; at < this.connections.length; at += OPENED_AT_ONCE)
      await Promise.all(this.connections.slice(at, at + OPENED_AT_ONCE).map((connection) => connection.open()));
    this.startMs = performance.now();
  }

  tick() {
    const { perSecond } = this.group;
    if (perSecond === 0) {
      for (let next = this.#idle.pop(); next !== undefined; next = this.#idle.pop()) this.#send(next);
      return;
    }
    const due = Math.floor(((performance.now() - this.startMs) / 1000) * perSecond);
    for (; this.#due < due; this.#due++) {
      const next = this.#idle.pop();
      if (next === undefined) this.tally.unsent++;
      else this.#send(next);
    }
  }

  end() {
    this.#isOver = true;
    this.#tookMs.sort((a, b) => a - b);
    this.tally.halfMs = this.#tookMs[this.#tookMs.length >> 1] ?? 0;
  }

  get isDone() {
    return this.#open === 0;
  }

  /** @param {Connection} connection */
  #send(connection) {
    this.#open++;
    this.tally.sent++;
    connection.send(this.request);
  }

  /**
   * @param {Connection} connection
   * @param {import("./connection.mjs").Outcome} outcome
   */
  #take(connection, { status, isWhole, waitMs, tookMs }) {
    this.#open--;
    const { tally } = this;
    if (status === 200 && isWhole) {
      if (this.#isOver) tally.later++;
      else tally.answered++;
      tally.answeredMs = Math.max(tally.answeredMs, tookMs);
      this.#tookMs.push(tookMs);
    } else if (status === 503 && waitMs > 0) {
      tally.refused++;
      tally.refusedMs = Math.max(tally.refusedMs, tookMs);
    } else {
      const name = status === 200 ? "cut" : String(status);
      tally.others[name] = (tally.others[name] ?? 0) + 1;
    }
    if (this.group.perSecond === 0 && !this.#isOver) this.#send(connection);
    else if (waitMs > 0 && this.group.isPatient) setTimeout(() => this.#idle.push(connection), waitMs);
    else this.#idle.push(connection);
  }
}

/** @param {Job} job */
async function run(job) {
  const callers = job.groups.map((group, place) => new Caller(job, group, place));
  const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));
  // As those of a proxy: connections are kept, and are there before the load.
  for (const caller of callers) await caller.open();
  const endMs = performance.now() + job.seconds * 1000;
  for (; performance.now() < endMs; await sleep(TICK_MS)) for (const caller of callers) caller.tick();
  for (const caller of callers) caller.end();
  for (const lastMs = performance.now() + DRAIN_MS; performance.now() < lastMs; await sleep(TICK_MS))
    if (callers.every(({ isDone }) => isDone)) break;
  for (const { connections } of callers) for (const connection of connections) connection.close();
  return Object.fromEntries(callers.map(({ group, tally }) => [group.name, tally]));
}

process.on("message", (job) => {
  run(/** @type {Job} */ (job)).then((tallies) => process.send?.(tallies));
});
process.on("disconnect", () => process.exit(0));
process.send?.("ready");
