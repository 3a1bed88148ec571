/** The parts of the proof: what each runs, what makes its proof stale, and its small form for every change. */
import { fileURLToPath } from "node:url";
import { NEWEST_LTS, VERSIONS } from "../nodes/install.mjs";
import { tiersOf } from "../support/tiers.mjs";
import { loadedBy } from "./loaded.mjs";
import { atHand, CHROMIUM, LANGUAGES, NGINX, nodeOf, ONE_AGENT, OPENAPI, PYTHON, SERVERS } from "./needs.mjs";

/** @typedef {import("./runner.mjs").Part} Part */

const VITEST = ["node", "node_modules/vitest/vitest.mjs", "run"];
const npm = (/** @type {string[]} */ ...args) => ["npm", "run", ...args];

const SOURCES = ["src/", "!src/build/prepare.mjs", "console/", "gen/", "schemas/"];
/** The gateway. Its console is a bundle of its own. */
const PROGRAM = [...SOURCES, "!console/"];
/** What decides how the tests run. */
const RUNNING = ["package-lock.json", "vitest.config.ts", "test/support/"];
/** Tests that need no browser. */
const SUITE = ["test/", "!test/console/bounds/", "!test/console/browser/"];
/** Of these, those that keep no state: `parts.test.ts` compares them with what the tests of the backends load. */
const STATELESS = ["docs", "formatting", "kill-loop", "leases", "nodes", "tokens"];
const LEDGER = ["src/ledger/", "src/store/", "src/api/", "src/audit/", "src/base/", "src/owner/"];
const MONEY = [
  ...LEDGER,
  ...["config/", "pricing/", "serve/"].map((path) => `src/${path}`),
  ...RUNNING,
  "gen/",
  "test/bench/process-stats.mjs",
  "test/cluster/",
  "test/ledger/",
  "test/money/",
];
const COVERED = ["families", "formats", "keys", "ledger", "limits", "models", "pricing", "routing", "tokens", "wire"];
const BY_WORKERS = ["limits/account-limits", "money/corrections", "limits/limits", "money/money", "people/people"];
const tests = (/** @type {readonly string[]} */ ...folders) => folders.map((folder) => `test/${folder}/`);
/** Its scenarios run what pages show. */
const OF_CLUSTERS = ["test/cluster/", "test/bench/", "examples/compose/", "docs/postgresql.md"];
const BROWSER = [...SOURCES, "docs/", ...RUNNING];
const OF_BROWSER = ["test/console/browser/", "vitest.browser.config.ts"];
const IN_NPM_TEST = "npm test runs its small form";
const WITH_MONEY = "money runs its small form";
const WITH_BROWSER = "browser stands for it";
const MEANS_NOTHING = "a part of it proves nothing";

/** The files of the last tier that drive Python, Go, Java or Prometheus. */
const DRIVES_LANGUAGES = /^test\/clients\/|\b(alert-rules|decoders|metrics|prometheus)\.prove\./;
/** Those that other parts run. */
const HAS_PART = /^test\/(agents|cluster|formatting|frameworks|kill-loop|money)\/|\/whole-streams\./;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const { unit, platform, prove } = tiersOf(ROOT);
const LAST_TIER = prove.filter((file) => !HAS_PART.test(file));
/** Those whose searches go as far as TOLLGATE_SWEEP says. */
const SWEEPING = [...unit, ...platform, ...LAST_TIER].filter(
  (file) => !HAS_PART.test(file) && loadedBy(ROOT, [file]).includes("test/support/sweep.ts"),
);

/** The suite runs on the line of the Node that runs us. */
const OTHER_NODES = VERSIONS.filter((version) => lineOf(version) !== lineOf(process.versions.node));
/** What is newest differs most. */
const SMOKE_NODE = OTHER_NODES.includes(NEWEST_LTS) ? NEWEST_LTS : OTHER_NODES.at(-1);

/** @param {string} version */
function lineOf(version) {
  return version.split(".")[0] ?? version;
}

const OF_NODES = `node-${lineOf(SMOKE_NODE ?? "")} stands for it`;

/** Sockets, streams, threads, SQLite and a process, each in a short file. */
const NODE_SMOKE = [
  "test/flow/clients/whole-streams.prove.test.ts",
  "test/http/drain.test.ts",
  "test/http/streaming.test.ts",
  "test/http/websocket.test.ts",
  "test/reading/gathered-answers.test.ts",
  "test/rpc/transport/server.test.ts",
  "test/store/sqlite-binding.test.ts",
  "test/base/threads.test.ts",
  "test/upstream/http.test.ts",
];

/** @param {string} version @returns {Part} */
function nodePart(version) {
  const line = lineOf(version);
  const command = npm("test:nodes", "--", "--node", line);
  return {
    name: `node-${line}`,
    about: `What touches sockets, threads, SQLite, streams and processes, on Node ${version}.`,
    command,
    needs: [nodeOf(version), ...SERVERS, NGINX],
    touches: [...SOURCES, ...RUNNING, ...SUITE],
    smoke: version === SMOKE_NODE ? { command: [...command, ...NODE_SMOKE], needs: [nodeOf(version)] } : OF_NODES,
  };
}

/** @type {readonly Part[]} */
export const PARTS = [
  {
    name: "coverage",
    about: "How much of the parts without a gateway their tests run, with its floor.",
    command: npm("coverage"),
    touches: [...PROGRAM, ...RUNNING, ...tests(...COVERED, "bench", "conformance", "gateway", "money", "upstream")],
    smoke: MEANS_NOTHING,
  },
  {
    name: "workers",
    about: "Money, limits, corrections and people, with two worker processes beside the owner.",
    command: npm("test:workers"),
    touches: [...PROGRAM, ...RUNNING, ...BY_WORKERS.map((name) => `test/flow/${name}.test.ts`)],
    smoke: { command: [...VITEST, "test/flow/money/corrections.test.ts"], env: { TOLLGATE_TEST_WORKERS: "2" } },
  },
  {
    name: "languages",
    about: "Clients in Python, Go and Java from proto/ alone, and what else drives programs of other languages.",
    command: [...VITEST, ...LAST_TIER.filter((file) => DRIVES_LANGUAGES.test(file))],
    needs: [...LANGUAGES, ...SERVERS],
    touches: [...PROGRAM, ...RUNNING, ...SUITE, "proto/", "examples/", "deploy/"],
    smoke: { command: [...VITEST, "test/clients/python.prove.test.ts"], needs: [atHand(PYTHON)] },
  },
  {
    name: "long-tests",
    about: "The test files that take too long for every change, or too much of the machine.",
    command: [...VITEST, ...LAST_TIER.filter((file) => !DRIVES_LANGUAGES.test(file))],
    needs: [...SERVERS, NGINX],
    touches: [...SOURCES, ...RUNNING, ...SUITE, "proto/"],
    smoke: {
      command: [
        ...VITEST,
        "test/flow/operation/no-orphans.prove.test.ts",
        "test/flow/operation/second-node.prove.test.ts",
        "test/cli/store.prove.test.ts",
      ],
      needs: SERVERS,
    },
  },
  {
    name: "leases",
    about: "Every order of what leases do, to six steps, and beyond as far as a bound lets it.",
    command: npm("leases:check"),
    touches: [...LEDGER, "gen/", "test/leases/", "test/ledger/", ...RUNNING],
    smoke: IN_NPM_TEST,
  },
  {
    name: "affinity",
    about: "A hundred agents over targets that cache prefixes and fail in turn.",
    command: npm("affinity:check"),
    touches: [...PROGRAM, ...RUNNING, "test/routing/", "test/support/"],
    smoke: IN_NPM_TEST,
  },
  {
    name: "long-sweeps",
    about: "Each search of the suite in its long form: more random cases, deeper, every cut of a stream.",
    command: [...VITEST, ...SWEEPING],
    env: { TOLLGATE_SWEEP: "long" },
    touches: [...PROGRAM, ...RUNNING, ...SUITE],
    smoke: IN_NPM_TEST,
  },
  {
    name: "sweep",
    about: "10,000 requests of every family and 10,000 answers of every wire: each charge is price times report.",
    command: npm("sweep"),
    touches: [...PROGRAM, ...RUNNING, ...tests("flow", "gateway", "pricing", "routing")],
    smoke: IN_NPM_TEST,
  },
  {
    name: "formatting",
    about: "100,000 requests and answers, spelled in every way that JSON allows.",
    command: npm("fuzz:formatting"),
    touches: [...PROGRAM, ...RUNNING, "test/formatting/", "test/conformance/", "test/wire/"],
    smoke: IN_NPM_TEST,
  },
  {
    name: "money",
    about: "A million random operations of the ledger, with crashes.",
    command: npm("money"),
    touches: MONEY,
    smoke: {
      command: [...VITEST, "test/money/archive", "test/money/copy", "test/money/million", "test/money/three-nodes"],
      needs: SERVERS,
    },
  },
  {
    name: "money-nodes",
    about: "A million random operations of the ledger on three nodes over one PostgreSQL.",
    command: npm("money:nodes"),
    needs: SERVERS,
    touches: MONEY,
    smoke: WITH_MONEY,
  },
  {
    name: "money-copy",
    about: "A ledger of a million transfers, copied to PostgreSQL.",
    command: npm("money:copy"),
    needs: SERVERS,
    touches: MONEY,
    smoke: WITH_MONEY,
  },
  {
    name: "money-archive",
    about: "A ledger of half a million transfers, archived by month.",
    command: npm("money:archive"),
    needs: SERVERS,
    touches: MONEY,
    smoke: WITH_MONEY,
  },
  {
    name: "kill-loop",
    about: "The gateway killed 1,000 times at every step of money: exactly one charge for each call.",
    command: npm("kill-loop", "--", "--kills", "1000"),
    touches: [...PROGRAM, ...RUNNING, "test/kill-loop/"],
    smoke: { command: npm("kill-loop", "--", "--kills", "20") },
  },
  {
    name: "kill-loop-postgres",
    about: "The same on PostgreSQL, where the holds of a killed node wait until others know that it is gone.",
    command: npm("kill-loop:postgres", "--", "--kills", "1000"),
    needs: SERVERS,
    touches: [...PROGRAM, ...RUNNING, "test/kill-loop/"],
    smoke: { command: npm("kill-loop:postgres", "--", "--kills", "16"), needs: SERVERS },
  },
  {
    name: "kill-loop-settings",
    about:
      "Processes killed 500 times around commits of settings objects, on both databases: the old set or the new one.",
    command: npm("kill-loop:settings"),
    needs: SERVERS,
    touches: [...PROGRAM, ...RUNNING, "test/settings/"],
    smoke: IN_NPM_TEST,
  },
  {
    name: "cluster",
    about: "Every scenario of many nodes on PostgreSQL and Redis, of which some are killed, cut off or suspended.",
    command: npm("cluster"),
    needs: [...SERVERS, NGINX],
    touches: [...PROGRAM, ...RUNNING, ...OF_CLUSTERS],
    smoke: { command: npm("cluster", "--", "--scenario", "kill-node"), needs: [...SERVERS, NGINX] },
  },
  {
    name: "restarts",
    about: "20 stops under 50,000 calls of all kinds through nginx, and 20 of a node that nothing stands before.",
    command: npm("restarts"),
    needs: [...SERVERS, NGINX],
    touches: [...PROGRAM, ...RUNNING, ...OF_CLUSTERS],
    smoke: { command: npm("cluster", "--", "--scenario", "straight"), needs: SERVERS },
  },
  {
    name: "backends",
    about: "What keeps state, on PostgreSQL and Redis.",
    command: npm("test:backends"),
    needs: [...SERVERS, NGINX],
    touches: [...PROGRAM, ...RUNNING, ...SUITE, ...STATELESS.map((folder) => `!test/${folder}/`)],
    smoke: { command: npm("test:backends", "--", "flow/money/money"), needs: SERVERS },
  },
  {
    name: "browser",
    about: "The console in Chromium, with one node.",
    command: npm("test:browser"),
    needs: [CHROMIUM],
    touches: [...BROWSER, ...OF_BROWSER],
    // It goes over more than five pages, as a person does.
    smoke: { command: npm("test:browser", "--", "jobs"), needs: [CHROMIUM] },
  },
  {
    name: "browser-nodes",
    about: "The console in Chromium, with two nodes on one PostgreSQL that take turns.",
    command: npm("test:browser:nodes"),
    needs: [CHROMIUM, ...SERVERS],
    touches: [...BROWSER, ...OF_BROWSER],
    smoke: WITH_BROWSER,
  },
  {
    name: "pictures",
    about: "Each page of the console, light and dark, wide and narrow.",
    command: npm("pictures"),
    needs: [CHROMIUM],
    touches: [...BROWSER, ...OF_BROWSER],
    smoke: WITH_BROWSER,
  },
  {
    name: "agents",
    about: "Coding agents, SDKs and frameworks as their makers publish them, over upstreams of every wire.",
    command: npm("agents"),
    touches: [...PROGRAM, ...RUNNING, "test/agents/", "test/frameworks/", "test/prove/registry.mjs"],
    smoke: {
      command: [...VITEST, "test/agents/agents.prove.test.ts", "-t", "Gemini CLI"],
      env: { TOLLGATE_AGENTS: "one" },
      needs: [ONE_AGENT],
    },
  },
  {
    name: "openapi",
    about: "Every answer that is OpenAI's fits OpenAI's own OpenAPI document.",
    command: npm("openapi"),
    needs: [OPENAPI, ...SERVERS],
    touches: [...PROGRAM, ...RUNNING, "test/openapi/", ...tests("conformance", "flow", "formats", "http")],
    smoke: "npm test holds answers against OpenAI's SDK",
  },
  ...OTHER_NODES.map(nodePart),
  {
    name: "streams",
    about: "600 streams whole on each other Node, through node:http, curl and nginx.",
    command: npm("streams"),
    needs: [...OTHER_NODES.map(nodeOf), NGINX],
    touches: [...PROGRAM, ...RUNNING, "test/flow/clients/whole-streams.prove.test.ts", "test/nodes/"],
    smoke: OF_NODES,
  },
  {
    name: "revocation",
    about: "10,000 keys revoked on one node, and no request on another after it.",
    command: npm("revocation"),
    needs: SERVERS,
    touches: [...PROGRAM, ...RUNNING, "test/coordination/", "test/keys/"],
    smoke: IN_NPM_TEST,
  },
  {
    name: "overload",
    about: "Three times the load that saturates a gateway: what is answered, what is refused, and how soon.",
    command: npm("overload"),
    touches: [...PROGRAM, ...RUNNING, "test/overload/", "test/bench/"],
    smoke: IN_NPM_TEST,
  },
  {
    name: "mutants",
    about: "A sample of small mistakes in the program: the suite finds each.",
    command: npm("mutants"),
    touches: [...PROGRAM, ...RUNNING, ...SUITE, "test/mutants/"],
    smoke: MEANS_NOTHING,
  },
];
