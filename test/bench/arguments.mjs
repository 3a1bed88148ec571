/** The arguments of the benchmark. */
import { parseArgs } from "node:util";
import { number, wholeNumber } from "./numbers.mjs";
import { SCENARIOS } from "./scenarios.mjs";
import { WORST_REQUESTS } from "./worst-cases.mjs";
import { WORST_MESSAGES } from "./worst-messages.mjs";
import { isAsked, WORST_QUESTIONS } from "./worst-questions.mjs";
import { WORST_SOCKETS } from "./worst-sockets.mjs";

export const USAGE = `npm run bench -- [options]
  --quick              small counts, about a minute: for a first look, not for judging
  --only NAME          only this scenario; may be repeated
  --cases TEXT         of worst-cases and worst-answers, only those whose name has this text, such as gemini; may be
                       repeated
  --rounds N           rounds of each scenario (default 5, quick 2)
  --seconds N          seconds of each subject's turn in a round (default 3, quick 0.6)
  --soak               soak for 10 minutes (default 30 s, quick 3 s)
  --json FILE          write everything that was measured
  --write-docs         write what was measured into the tables of docs/lab-book.md
  --strict             end with an error also where a goal is missed
  --mock-port PORT     a fixed port for the mock upstream, so that a peer can be set up on it
  --peer URL           measure another gateway beside, such as http://127.0.0.1:3000/v1; this machine only
  --peer-key KEY       its client key
  --peer-model MODEL   the model whose upstream is the mock (default bench-1)
  --peer-pid PID       its process, for CPU and memory; its descendants count too
  --peer-name NAME     what the table calls it (default peer)
Scenarios: ${SCENARIOS.map(({ name }) => name).join(", ")}
`;

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|localhost)$/;

/**
 * @typedef {object} Peer
 * @property {string} url
 * @property {string | undefined} key
 * @property {string} model
 * @property {number | undefined} pid
 * @property {string} name
 */

/**
 * @typedef {object} Options
 * @property {boolean} quick
 * @property {readonly string[]} only Empty: all.
 * @property {readonly string[]} cases The same, of worst cases and worst answers.
 * @property {number} rounds
 * @property {number} seconds
 * @property {number} warmSeconds
 * @property {number} soakSeconds
 * @property {string | undefined} json
 * @property {boolean} writeDocs
 * @property {boolean} strict
 * @property {number} mockPort 0: any.
 * @property {Peer | undefined} peer
 * @property {string[]} nodeOptions Options of Node for the gateway.
 * @property {Record<string, string>} [variables] More of the gateway's environment.
 * @property {string} [entry] The gateway's program, where it is not this build's.
 */

/**
 * Throws an Error of one line where an argument is wrong.
 * @param {string[]} args
 * @returns {Options | "help"}
 */
export function readArguments(args) {
  const { values } = parseArgs({
    args,
    options: {
      help: { type: "boolean", short: "h", default: false },
      quick: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      cases: { type: "string", multiple: true, default: [] },
      rounds: { type: "string" },
      seconds: { type: "string" },
      soak: { type: "boolean", default: false },
      json: { type: "string" },
      "write-docs": { type: "boolean", default: false },
      strict: { type: "boolean", default: false },
      "mock-port": { type: "string", default: "0" },
      peer: { type: "string" },
      "peer-key": { type: "string" },
      "peer-model": { type: "string", default: "bench-1" },
      "peer-pid": { type: "string" },
      "peer-name": { type: "string", default: "peer" },
    },
  });
  if (values.help) return "help";
  const { quick } = values;
  const only = values.only.flatMap((names) => names.split(","));
  for (const name of only)
    if (!SCENARIOS.some((scenario) => scenario.name === name))
      throw new Error(`--only ${name}: there is no such scenario`);
  const { cases } = values;
  const known = [...WORST_QUESTIONS, ...WORST_REQUESTS, ...WORST_MESSAGES, ...WORST_SOCKETS];
  if (!known.some(({ name }) => isAsked(name, cases)))
    throw new Error(`--cases ${cases.join(", ")}: no case has this in its name`);
  if (values["write-docs"] && (quick || cases.length > 0))
    throw new Error("--write-docs needs whole scenarios, and not a quick run");
  return {
    quick,
    only,
    cases,
    rounds: wholeNumber("--rounds", values.rounds ?? (quick ? "2" : "5"), 1, 100),
    seconds: number("--seconds", values.seconds ?? (quick ? "0.6" : "3"), 0.1, 60),
    warmSeconds: quick ? 0.5 : 2,
    soakSeconds: values.soak ? 600 : quick ? 3 : 30,
    json: values.json,
    writeDocs: values["write-docs"],
    strict: values.strict,
    mockPort: wholeNumber("--mock-port", values["mock-port"], 0, 65_535),
    peer: values.peer === undefined ? undefined : readPeer(values.peer, values),
    nodeOptions: [],
  };
}

/**
 * @param {string} url
 * @param {{ "peer-key"?: string, "peer-model": string, "peer-pid"?: string, "peer-name": string }} values
 * @returns {Peer}
 */
function readPeer(url, values) {
  if (!URL.canParse(url) || new URL(url).protocol !== "http:" || !LOOPBACK.test(new URL(url).hostname))
    throw new Error(`--peer ${url}: it must be an http:// address of this machine`);
  const pid = values["peer-pid"];
  return {
    url,
    key: values["peer-key"],
    model: values["peer-model"],
    pid: pid === undefined ? undefined : wholeNumber("--peer-pid", pid, 1, 2 ** 31),
    name: values["peer-name"],
  };
}
