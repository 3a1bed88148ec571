/** No member that steers model, limits or price reaches an upstream unasked, in any spelling that a reader takes. */
import { describe, expect, test } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import type { MemberTable } from "../../src/wire/request/members.js";
import { bySweep } from "../support/sweep.js";
import { CLIENT_WIRES, goesTo, LEAST, leaving, LIMIT, MODEL, read, ENDPOINTS, UNPRICED } from "./asked.js";

const REQUESTS = bySweep({ short: 2_500, long: 10_000, all: 10_000 });
/**
 * The wires of clients take turns, and each request goes to every eighth of the families' addresses in turn; where it
 * is all, there are so many of each wire, and each goes to all.
 */
const IS_SWEEP = bySweep({ short: false, long: false, all: true });
const TURNS = IS_SWEEP ? 1 : 8;
const NAMES_OF_LIMITS = new Set(
  ["max_tokens", "max_completion_tokens", "max_output_tokens", "n_predict", "num_predict", "max_new_tokens"].map(plain),
);
/** Members that only steer where they hold something, and what each may hold. */
const ONE = new Set(["bestof", "n", "ncmpl", "numbeams"]);
const HARMLESS = new Set(["null", "false", "[]", "{}", '""', '"auto"', '"default"', '"standard"', '"global"']);

/** As the most lenient reader takes a name: written apart from the gate's own folding. */
function plain(name: string): string {
  return name.replaceAll("ſ", "s").replaceAll("\u212a", "k").replaceAll("_", "").toLowerCase();
}

/** A generator of whole numbers below a bound, the same for the same seed. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const VALUES = ["1", "64", "99999", '"x"', '"priority"', '["a"]', '{"a":1}', "true", "null", "false", '"auto"'];
const STEERING = [...new Set(ENDPOINTS.flatMap(({ table }) => steeringIn(table)))];
const NAMES = [...STEERING, "model", "max_tokens", "n_predict", "stream", "messages", "input", "x_new", "temperature"];

function steeringIn({ rules }: MemberTable): string[] {
  return [...rules].flatMap(([name, { kind }]) => (["plain", "owned", "object"].includes(kind) ? [] : [name]));
}

function spelled(name: string, roll: (below: number) => number): string {
  switch (roll(8)) {
    case 0:
      return name.toUpperCase();
    case 1:
      return name.replace("s", "ſ");
    case 2:
      return name.replace("k", "\u212a");
    case 3:
      return name.replace(/_(.)/, (_, letter: string) => letter.toUpperCase());
    case 4:
      return name.slice(0, 1).toUpperCase() + name.slice(1);
    default:
      return name;
  }
}

function randomBody(wire: string, roll: (below: number) => number): string {
  const members = Object.entries(LEAST[wire] ?? {}).map(([name, value]) => `"${name}":${JSON.stringify(value)}`);
  for (let count = 1 + roll(3); count > 0; count--) {
    const key = JSON.stringify(spelled(NAMES[roll(NAMES.length)] ?? "", roll));
    const written = roll(4) === 0 ? key.replace(/[a-z]/, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`) : key;
    members.splice(roll(members.length + 1), 0, `${written}:${VALUES[roll(VALUES.length)] ?? ""}`);
  }
  return `{${members.join(",")}}`;
}

const names = new Map<MemberTable, { readonly steering: ReadonlySet<string>; readonly known: ReadonlySet<string> }>();

function namesOf(table: MemberTable): { readonly steering: ReadonlySet<string>; readonly known: ReadonlySet<string> } {
  let found = names.get(table);
  if (found === undefined) {
    found = { steering: new Set(steeringIn(table).map(plain)), known: new Set([...table.rules.keys()].map(plain)) };
    names.set(table, found);
  }
  return found;
}

/** What of a body that leaves steers, as far as it is not the gateway's own. */
function unasked(body: Buffer, table: MemberTable): string[] {
  const { steering, known } = namesOf(table);
  return Object.entries(JSON.parse(body.toString()) as Record<string, unknown>).flatMap(([name, value]) => {
    const seen = plain(name);
    const json = JSON.stringify(value);
    if (seen === "model") return name === "model" && json.includes(MODEL) ? [] : [name];
    if (NAMES_OF_LIMITS.has(seen) && known.has(seen))
      return (table.rules.has(name) && value === LIMIT) || HARMLESS.has(json) ? [] : [name];
    if (json === "1" && ONE.has(seen)) return [];
    return steering.has(seen) && !HARMLESS.has(json) ? [name] : [];
  });
}

test(`of ${REQUESTS} random requests to every family, none brings along what steers`, () => {
  const roll = dice(20_260_711);
  let passed = 0;
  let refused = 0;
  for (let count = 0; count < REQUESTS * (IS_SWEEP ? CLIENT_WIRES.length : 1); count++) {
    const { name: wire } = CLIENT_WIRES[count % CLIENT_WIRES.length] ?? { name: "" };
    const body = randomBody(wire, roll);
    let request;
    try {
      request = read(wire, body);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      refused++;
      continue;
    }
    for (const [place, { family, endpoint, table }] of ENDPOINTS.entries()) {
      if (place % TURNS !== Math.floor(count / CLIENT_WIRES.length) % TURNS) continue;
      if (!goesTo(wire, endpoint.wire.name)) continue;
      try {
        const sent = leaving(request, family, endpoint);
        passed++;
        const found = unasked(sent, table);
        if (found.length > 0) expect.fail(`${family.name} got ${found.join()} of ${body}`);
      } catch (error) {
        if (!(error instanceof GatewayError) || error.http !== 400) throw error;
        refused++;
      }
    }
  }
  expect(passed).toBeGreaterThan(REQUESTS / 2);
  expect(refused).toBeGreaterThan(REQUESTS / 2);
}, 600_000);

test("no limit of the output but the gateway's own reaches any address, however it is written", () => {
  let left = 0;
  for (const { name: wire } of CLIENT_WIRES) {
    for (const name of ["max_tokens", "max_completion_tokens", "max_output_tokens"]) {
      const body = JSON.stringify({ ...LEAST[wire], [name]: 99_999 });
      for (const written of [body, body.replace(`"${name}"`, `"\\u006d${name.slice(1)}"`)]) {
        for (const { family, endpoint, table } of ENDPOINTS) {
          if (!goesTo(wire, endpoint.wire.name)) continue;
          let sent: Buffer | undefined;
          try {
            sent = leaving(read(wire, written), family, endpoint);
          } catch (error) {
            if (!(error instanceof GatewayError) || error.http !== 400) throw error;
          }
          if (sent === undefined) continue;
          left++;
          expect(unasked(sent, table), `${family.name} over ${endpoint.wire.name} of ${written}`).toEqual([]);
        }
      }
    }
  }
  expect(left).toBeGreaterThan(100);
});

describe("a member that steers is refused by its name:", () => {
  const chat = ENDPOINTS.find(({ family }) => family.name === "openai-compatible");
  test.each(Object.keys(LEAST))("on %s", (wire) => {
    const found = ENDPOINTS.filter(({ endpoint }) => endpoint.wire.name === wire);
    expect(found.length).toBeGreaterThan(0);
    for (const { family, endpoint, table } of found) {
      for (const name of steeringIn(table)) {
        const body = JSON.stringify({ ...LEAST[wire], [name]: "priority" });
        let sent: Buffer | undefined;
        const refusal = refusalOf(() => (sent = leaving(read(wire, body), family, endpoint)));
        // What a family lacks is left out, and named.
        if (sent !== undefined && !sent.includes(name)) continue;
        expect(refusal?.metadata["param"], `${family.name} ${name}`).toBe(name);
        expect(refusal?.http).toBe(400);
        expect(refusal?.message).toContain(name);
      }
    }
  });

  test.each([
    { name: "Model", want: "Model" },
    { name: "MAX_TOKENS", want: "MAX_TOKENS" },
    { name: "max_to\u212aens", want: "max_to\u212aens" },
    { name: "ſtream", want: "ſtream" },
    { name: "maxTokens", want: "maxTokens" },
    { name: "model\0x", want: "model\0x" },
    { name: "Tools", want: "Tools" },
  ])("a fold of an owned name, $want", ({ name, want }) => {
    if (chat === undefined) throw new Error("the family is gone");
    const body = JSON.stringify({ ...LEAST["openai-chat"], [name]: 1 });
    const refusal = refusalOf(() => leaving(read("openai-chat", body), chat.family, chat.endpoint));
    expect(refusal?.metadata["param"]).toBe(want);
    expect(refusal?.message).toContain("write it so");
  });
});

describe("ids of what an upstream keeps are refused:", () => {
  const KEPT = [
    "previous_response_id",
    "conversation",
    "container",
    "container_id",
    "file_id",
    "file_ids",
    "vector_store_ids",
    "skill_id",
    "cached_content",
    "background",
    "deferred",
  ];
  test.each(ENDPOINTS.filter(({ endpoint }) => endpoint.wire.name.startsWith("openai-")))(
    "beside all else, at $family.name over $endpoint.wire.name",
    ({ family, endpoint }) => {
      const wire = endpoint.wire.name;
      for (const name of KEPT) {
        const body = JSON.stringify({ ...LEAST[wire], [name]: "of-another-tenant" });
        expect(refusalOf(() => leaving(read(wire, body), family, endpoint))?.http, name).toBe(400);
      }
    },
  );

  test.each([
    {
      wire: "openai-chat",
      more: { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "f" } }] }] },
    },
    { wire: "openai-responses", more: { input: [{ role: "user", content: [{ type: "input_file", file_id: "f" }] }] } },
    { wire: "openai-responses", more: { tools: [{ type: "file_search", vector_store_ids: ["v"] }] } },
    { wire: "openai-responses", more: { tools: [{ type: "code_interpreter", container: "cntr_1" }] } },
    { wire: "openai-responses", more: { tools: [{ type: "image_generation", model: "dear" }] } },
    { wire: "openai-responses", more: { input: [{ type: "additional_tools", model: "other", tools: [] }] } },
    { wire: "anthropic", more: { container: "container_1" } },
    { wire: "anthropic", more: { tools: [{ type: "advisor_20260301", name: "advisor", model: "dear" }] } },
    {
      wire: "anthropic",
      more: { messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: "f" } }] }] },
    },
    { wire: "gemini", more: { cached_content: "cachedContents/1" } },
    { wire: "gemini", more: { outputConfig: { outputUriPrefix: "gs://bucket/" } } },
    { wire: "gemini", more: { output_config: { output_uri_prefix: "gs://bucket/" } } },
    { wire: "gemini", more: { tools: [{ file_search: { file_search_store_names: ["s"] } }] } },
    { wire: "gemini", more: { contents: [{ parts: [{ file_data: { file_uri: "gs://bucket/secret" } }] }] } },
    { wire: "gemini", more: { generationConfig: { routing_config: { manualMode: { modelName: "dear" } } } } },
  ])("$wire $more", ({ wire, more }) => {
    const found = ENDPOINTS.find(({ endpoint }) => endpoint.wire.name === wire);
    if (found === undefined) throw new Error("nobody speaks it");
    const body = JSON.stringify({ ...LEAST[wire], ...more });
    const permits = { ...UNPRICED, tool: () => "free" as const };
    const refusal = refusalOf(() => leaving(read(wire, body), found.family, found.endpoint, permits));
    expect(refusal?.http).toBe(400);
  });
});

function refusalOf(ask: () => unknown): GatewayError | undefined {
  try {
    ask();
  } catch (error) {
    return GatewayError.from(error);
  }
  return undefined;
}
