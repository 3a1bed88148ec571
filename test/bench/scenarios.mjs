/** What is measured, as data. */

/**
 * @typedef {object} Goal
 * @property {string} metric A metric of the gateway's row, or `ratio` to the base.
 * @property {number} [atMost]
 * @property {number} [atLeast]
 */

/**
 * @typedef {object} Scenario
 * @property {string} name
 * @property {string} title
 * @property {"load" | "start" | "soak" | "worst" | "slow"} kind
 * @property {string[]} subjects In the order of a round.
 * @property {string} base The subject that the ratios are to.
 * @property {string} [ratioOf] The metric that the ratios compare; cpuUs where absent.
 * @property {"answers"} [attack] Of worst cases: an upstream's answers; absent: a tenant's requests.
 * @property {string} judged The subject that the goals are about.
 * @property {Goal[]} goals
 * @property {import("./bodies.mjs").BodyShape} body
 * @property {Partial<import("./mock-options.mjs").MockOptions>} mock
 * @property {number} callers
 * @property {number} [each] Requests of each caller in a round; absent: as many as the round's time allows.
 * @property {number} [spreadMs]
 * @property {number} [rounds] At most so many.
 * @property {boolean} [warm] False where the measured rounds are the first.
 * @property {Partial<Scenario> | undefined} [warmUp] What differs in a turn before the warm-up.
 * @property {"messages"} [format] What the gateway's client speaks; the baselines always get chat completions.
 * @property {Partial<Scenario>} [quick] What differs in a quick run.
 */

const LOAD = ["pass-through", "nginx", "gateway", "peer"];
const load = { kind: /** @type {const} */ ("load"), subjects: LOAD, base: "pass-through", judged: "gateway" };
const whole = {
  ...load,
  mock: { answer: 600, input: 50, output: 100 },
  callers: 32,
  // By count: on Node 24 and 26 V8 compiles anew for the first 30,000 requests, however long they take.
  warmUp: { each: 1000 },
  quick: { warmUp: undefined },
};
const prose = (/** @type {number} */ bytes) => ({ bytes, text: /** @type {const} */ ("prose"), stream: false });
const stream = { bytes: 1000, text: /** @type {const} */ ("prose"), stream: true };
const streams = {
  ...load,
  body: stream,
  // 200 streams with an event every 20 ms are 10,000 events a second.
  mock: { events: 200, gap: 20, input: 50, output: 198 },
  callers: 200,
  each: 1,
  spreadMs: 400,
  // At 45 streams a second V8 would go on compiling what runs once a stream for minutes, in all the rounds.
  warmUp: { each: 120, mock: { events: 20, gap: 1, input: 50, output: 18 } },
  quick: { warmUp: undefined, callers: 50, mock: { events: 200, gap: 5, input: 50, output: 198 }, spreadMs: 100 },
};

/** @type {readonly Scenario[]} */
export const SCENARIOS = [
  {
    ...whole,
    name: "whole-1k",
    title: "Whole answers, requests of 1 KB, 32 callers",
    body: prose(1_000),
    goals: [{ metric: "ratio", atMost: 3.6 }],
  },
  {
    ...whole,
    name: "whole-20k",
    title: "Whole answers, requests of 20 KB of prose, 32 callers",
    body: prose(20_000),
    goals: [{ metric: "ratio", atMost: 2.8 }],
  },
  {
    ...whole,
    name: "whole-200k",
    title: "Whole answers, requests of 200 KB of prose, 32 callers",
    body: prose(200_000),
    goals: [{ metric: "ratio", atMost: 1.5 }],
  },
  {
    ...whole,
    name: "whole-200k-code",
    title: "Whole answers, requests of 200 KB of quote-rich code, 32 callers",
    body: { bytes: 200_000, text: "code", stream: false },
    goals: [{ metric: "ratio", atMost: 2.5 }],
  },
  {
    ...streams,
    name: "stream",
    title: "Streams of 200 events, 200 at once, the same wire on both sides",
    goals: [{ metric: "ratio", atMost: 1.5 }],
  },
  {
    ...streams,
    name: "stream-translated",
    title: "Streams of 200 events, 200 at once, an Anthropic client on an OpenAI upstream",
    format: "messages",
    subjects: ["pass-through", "gateway"],
    goals: [{ metric: "ratio", atMost: 1.8 }],
  },
  {
    ...whole,
    name: "one-caller",
    title: "One caller, requests of 1 KB: time added to the upstream called directly",
    subjects: ["direct", ...LOAD],
    ratioOf: "addedP50Ms",
    callers: 1,
    body: prose(1_000),
    goals: [{ metric: "ratio", atMost: 2.5 }],
  },
  {
    ...load,
    name: "many-streams",
    title: "1,000 streams at once",
    body: stream,
    mock: { events: 100, gap: 100, input: 50, output: 98 },
    callers: 1000,
    each: 1,
    spreadMs: 2000,
    rounds: 3,
    goals: [
      { metric: "stallMs", atMost: 50 },
      { metric: "rssPeakMb", atMost: 250 },
      { metric: "atOnce", atLeast: 1000 },
    ],
    quick: { mock: { events: 20, gap: 100, input: 50, output: 18 }, spreadMs: 500, rounds: 1, warm: false },
  },
  {
    ...whole,
    name: "grpc-unary",
    title: "gRPC unary calls of a grpc-js client, 1 KB, 32 callers",
    subjects: ["grpc-echo", "gateway-grpc"],
    base: "grpc-echo",
    judged: "gateway-grpc",
    body: prose(1_000),
    goals: [{ metric: "ratio", atMost: 2.6 }],
  },
  {
    ...whole,
    name: "split",
    title: "Front end apart from core, 1 KB, 32 callers: the CPU of both",
    subjects: ["gateway", "split"],
    base: "gateway",
    judged: "split",
    body: prose(1_000),
    goals: [{ metric: "ratio", atMost: 2 }],
  },
  {
    ...whole,
    name: "start",
    title: "From the start to ready, and idle",
    kind: "start",
    subjects: ["pass-through", "gateway"],
    ratioOf: "readyMs",
    body: prose(1_000),
    goals: [
      { metric: "readyMs", atMost: 700 },
      { metric: "idleRssMb", atMost: 120 },
    ],
  },
  {
    ...streams,
    name: "worst-cases",
    title: "100 streams beside a tenant that sends every worst case of 32 MiB",
    kind: "worst",
    subjects: ["gateway"],
    base: "gateway",
    ratioOf: "gapGrowth",
    callers: 100,
    goals: [
      { metric: "heldMs", atMost: 20 },
      { metric: "gapGrowth", atMost: 1.2 },
    ],
  },
  {
    ...streams,
    name: "worst-answers",
    title: "100 streams beside a tenant whose upstreams give every worst answer of up to 64 MiB",
    kind: "worst",
    attack: "answers",
    subjects: ["gateway"],
    base: "gateway",
    ratioOf: "gapGrowth",
    callers: 100,
    goals: [
      { metric: "heldMs", atMost: 20 },
      { metric: "gapGrowth", atMost: 1.2 },
    ],
  },
  {
    ...streams,
    name: "slow-readers",
    title: "500 readers that read nothing of their long streams",
    kind: "slow",
    subjects: ["pass-through", "gateway"],
    ratioOf: "rssGrowthMb",
    callers: 500,
    mock: { events: 100_000, perWrite: 20, input: 50, output: 99_998 },
    goals: [
      // A quarter of a MiB for each, and what a stream itself takes.
      { metric: "readerKb", atMost: 400 },
      { metric: "open", atLeast: 500 },
    ],
  },
  {
    ...whole,
    name: "soak",
    title: "70 % of what it can, for a while: the last tenth against the first",
    kind: "soak",
    subjects: ["pass-through", "gateway"],
    ratioOf: "p99Growth",
    body: prose(1_000),
    goals: [
      { metric: "p99Growth", atMost: 1.2 },
      { metric: "rssGrowth", atMost: 1.1 },
    ],
  },
];
