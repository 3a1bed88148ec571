/** Measures what readers that read nothing cost: the resident memory while their answers wait for them. */
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { chatBody } from "./bodies.mjs";
import { readUsed } from "./process-stats.mjs";

const MEBI = 1024 * 1024;
/** Shorter than the time after which such a reader is cut. */
const WATCH_MS = 20_000;
const LOOK_MS = 500;

/**
 * @param {import("./scenarios.mjs").Scenario} scenario
 * @param {readonly import("./subjects.mjs").Subject[]} subjects
 * @returns {Promise<Map<string, Record<string, number>[]>>}
 */
export async function measureSlow(scenario, subjects) {
  /** @type {Map<string, Record<string, number>[]>} */
  const turns = new Map();
  for (const subject of subjects) {
    const before = readUsed(subject.pids).rssBytes;
    const sockets = Array.from({ length: scenario.callers }, () => openUnread(scenario, subject));
    let most = before;
    for (let passedMs = 0; passedMs < WATCH_MS; passedMs += LOOK_MS) {
      await sleep(LOOK_MS);
      most = Math.max(most, readUsed(subject.pids).rssBytes);
    }
    const open = sockets.filter(({ destroyed }) => !destroyed).length;
    for (const socket of sockets) socket.destroy();
    const grownMb = (most - before) / MEBI;
    turns.set(subject.name, [{ rssGrowthMb: grownMb, readerKb: (grownMb * 1024) / scenario.callers, open }]);
  }
  return turns;
}

/**
 * @param {import("./scenarios.mjs").Scenario} scenario
 * @param {import("./subjects.mjs").Subject} subject
 */
function openUnread(scenario, { host, port, basePath, headers, model }) {
  const body = chatBody(scenario.body, model, scenario.mock);
  const lines = Object.entries({
    ...headers,
    host: `${host}:${port}`,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect({ host, port });
  socket.on("error", () => undefined);
  socket.pause();
  socket.write(`POST ${basePath}/chat/completions HTTP/1.1\r\n${lines.join("")}\r\n`);
  socket.write(body);
  return socket;
}
