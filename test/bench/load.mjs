/**
 * The HTTP load driver, in its own process: runs one job at a time that its parent sends, and answers what it measured.
 */
import { HttpConnection } from "./http-connection.mjs";
import { LatencyRecord } from "./latency.mjs";

const PROBLEMS_MAX = 5;
const WAITING_MAX = 100_000;
const FAILURES_MAX = 1000;
const PAUSE_AFTER_FAILURE_MS = 10;
const TICK_MS = 1;

/**
 * @typedef {object} Job
 * @property {string} host
 * @property {number} port
 * @property {string} path
 * @property {Record<string, string>} headers
 * @property {string} body
 * @property {import("./http-connection.mjs").Expected} expected
 * @property {number} callers Connections, each with one request at a time.
 * @property {number} seconds New requests start as long; 0 where the count alone ends it.
 * @property {number} requests The most requests; 0 where the time alone ends it.
 * @property {number} perSecond Requests a second at a fixed rate, their latency from when they were due; 0: each caller
 *   sends the next when it has its answer.
 * @property {number} spreadMs The callers' first requests are spread over this time.
 * @property {number} windowSeconds Latencies are told apart by windows of this length; 0: all together.
 * @property {number} drainSeconds How long the last answers may take.
 */

/**
 * @typedef {object} Load
 * @property {number} ok
 * @property {number} failed
 * @property {string[]} problems The first few, in words.
 * @property {number} events
 * @property {number} seconds
 * @property {import("./latency.mjs").Latency} whole
 * @property {import("./latency.mjs").Latency} first To the first byte of the body.
 * @property {import("./latency.mjs").Latency[]} windows
 */

/** One job as it runs. */
class Run {
  #ok = 0;
  #failed = 0;
  #events = 0;
  #sent = 0;
  #open = 0;
  /** @type {string[]} */
  #problems = [];
  #first = new LatencyRecord(0);
  #startMs = performance.now();
  /** Requests at a fixed rate that wait for a free connection, by when they were due. @type {number[]} */
  #waiting = [];
  /** @type {HttpConnection[]} */
  #idle = [];
  /** How late a connection's request began. @type {Map<HttpConnection, number>} */
  #lateMs = new Map();
  #due = 0;
  #ended = false;

  /**
   * @param {Job} job
   * @param {(load: Load) => void} done
   */
  constructor(job, done) {
    this.job = job;
    this.done = done;
    this.whole = new LatencyRecord(job.windowSeconds);
    this.stopMs = job.seconds > 0 ? this.#startMs + job.seconds * 1000 : Infinity;
    const request = requestBytes(job);
    this.connections = Array.from({ length: job.callers }, () => {
      /** @type {HttpConnection} */
      const connection = new HttpConnection(job.host, job.port, request, job.expected, (outcome) =>
        this.#take(connection, outcome),
      );
      return connection;
    });
    this.giveUp = setTimeout(() => this.#end(), (job.seconds + job.drainSeconds) * 1000);
    /** @type {NodeJS.Timeout | undefined} */
    this.ticker = undefined;
  }

  start() {
    const { callers, perSecond, spreadMs } = this.job;
    if (perSecond > 0) {
      this.#idle = [...this.connections];
      this.ticker = setInterval(() => this.#tick(), TICK_MS);
    } else
      this.connections.forEach((connection, index) => {
        if (spreadMs > 0) setTimeout(() => this.#next(connection), (index * spreadMs) / callers);
        else this.#next(connection);
      });
  }

  #mayStart() {
    const { requests } = this.job;
    return performance.now() < this.stopMs && (requests === 0 || this.#sent < requests);
  }

  /** @param {HttpConnection} connection */
  #send(connection) {
    this.#sent++;
    this.#open++;
    connection.send();
  }

  /** Sends what is due at a fixed rate. */
  #tick() {
    const nowMs = performance.now();
    const stepMs = 1000 / this.job.perSecond;
    for (; this.#startMs + this.#due * stepMs <= Math.min(nowMs, this.stopMs); this.#due++) {
      const dueMs = this.#startMs + this.#due * stepMs;
      const connection = this.#idle.pop();
      if (connection !== undefined) this.#sendLate(connection, nowMs - dueMs);
      else if (this.#waiting.length < WAITING_MAX) this.#waiting.push(dueMs);
      else this.#failed++;
    }
    this.#endIfDone();
  }

  /**
   * @param {HttpConnection} connection
   * @param {number} lateMs
   */
  #sendLate(connection, lateMs) {
    this.#lateMs.set(connection, lateMs);
    this.#send(connection);
  }

  /** @param {HttpConnection} connection */
  #next(connection) {
    if (this.job.perSecond > 0) {
      const dueMs = this.#waiting.shift();
      if (dueMs === undefined) this.#idle.push(connection);
      else this.#sendLate(connection, performance.now() - dueMs);
    } else if (this.#mayStart()) this.#send(connection);
    this.#endIfDone();
  }

  /**
   * @param {HttpConnection} connection
   * @param {import("./http-connection.mjs").Outcome} outcome
   */
  #take(connection, { problem, events, firstMs, wholeMs }) {
    this.#open--;
    if (problem === undefined) {
      this.#ok++;
      this.#events += events;
      const lateMs = this.#lateMs.get(connection) ?? 0;
      this.whole.add(wholeMs + lateMs, performance.now() - this.#startMs);
      this.#first.add(firstMs + lateMs, 0);
      this.#next(connection);
      return;
    }
    this.#failed++;
    if (this.#problems.length < PROBLEMS_MAX) this.#problems.push(problem);
    connection.close();
    // A server that only fails must not be hammered.
    if (this.#failed >= FAILURES_MAX) this.#end();
    else setTimeout(() => this.#next(connection), PAUSE_AFTER_FAILURE_MS);
  }

  #endIfDone() {
    if (this.#open === 0 && this.#waiting.length === 0 && !this.#mayStart()) this.#end();
  }

  #end() {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.ticker);
    clearTimeout(this.giveUp);
    const seconds = (performance.now() - this.#startMs) / 1000;
    // What still runs is late beyond all measure.
    const late = this.connections.filter((connection) => connection.busy).length;
    if (late > 0) this.#problems.push(`${late} answers did not come in time`);
    for (const connection of this.connections) connection.close();
    const counts = { ok: this.#ok, failed: this.#failed + late, problems: this.#problems, events: this.#events };
    this.done({ ...counts, seconds, whole: this.whole.all(), first: this.#first.all(), windows: this.whole.windows() });
  }
}

/** @param {Job} job */
function requestBytes(job) {
  const body = Buffer.from(job.body);
  const headers = { host: `${job.host}:${job.port}`, "content-type": "application/json", ...job.headers };
  const lines = Object.entries({ ...headers, "content-length": String(body.length) }).map((pair) => pair.join(": "));
  return Buffer.concat([Buffer.from(`POST ${job.path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`), body]);
}

process.on("message", (/** @type {Job} */ job) => new Run(job, (load) => process.send?.(load)).start());
process.on("disconnect", () => process.exit(0));
process.send?.("ready");
