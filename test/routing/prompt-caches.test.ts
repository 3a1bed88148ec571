/** No account reads what another left in an upstream's cache of prompts, wherever the upstream can keep them apart. */
import { describe, expect, test } from "vitest";
import { deriveKey } from "../../src/config/secret.js";
import type { Family, ModelKind } from "../../src/families/family.js";
import { families } from "../../src/families/index.js";
import { PromptCaches } from "../../src/routing/prompt-caches.js";
import { CACHE_MEMBERS, type PromptCacheSetting } from "../../src/wire/request/prompt-cache.js";
import { CLIENT_WIRES, ENDPOINTS, goesTo, LEAST, leaving, read, UNPRICED } from "./asked.js";

const caches = new PromptCaches(
  deriveKey(Buffer.from("the root secret of this test, and of no other"), "prompt caches"),
);

/** By hand: what each family's address is told by itself, and what settings may say of it. */
const TOLD: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  openai: {
    "openai-chat": "prompt_cache_key",
    "openai-responses": "prompt_cache_key",
    "openai-compaction": "prompt_cache_key",
  },
  "openai-responses": { "openai-responses": "prompt_cache_key" },
  deepseek: { "openai-chat": "user_id" },
  vllm: {
    "openai-chat": "cache_salt",
    "openai-completions": "cache_salt",
    "openai-embeddings": "cache_salt",
    rerank: "cache_salt",
  },
};
const SETTABLE: Readonly<Record<string, readonly string[]>> = {
  openai: ["prompt_cache_key"],
  "openai-responses": ["prompt_cache_key"],
  azure: ["prompt_cache_key"],
  mistral: ["prompt_cache_key"],
  deepseek: ["user_id"],
  vllm: ["cache_salt"],
  llamacpp: ["off"],
  "openai-compatible": ["cache_salt", "prompt_cache_key", "prompt_cache_isolation_key", "off"],
};
/** A salt, and what a client's own value becomes. */
const SALT = /^[\w-]{43}$/;
const OWN_KEYS = CACHE_MEMBERS.filter((name) => name !== "cache_prompt");

type Body = Readonly<Record<string, unknown>>;

interface Road {
  readonly name: string;
  readonly family: Family;
  readonly wire: string;
  readonly kind: ModelKind;
  readonly to: string;
  send(accountId: string, more?: Body, setting?: PromptCacheSetting): Body;
}

function kindOf(wire: string): ModelKind {
  if (wire === "openai-completions") return "completion";
  return wire.endsWith("embeddings") ? "embedding" : "chat";
}

/** Every wire of clients on its way to every address of every family. */
const ROADS: readonly Road[] = ENDPOINTS.flatMap(({ family, endpoint }) =>
  CLIENT_WIRES.filter(({ name }) => goesTo(name, endpoint.wire.name)).map(({ name: wire }): Road => {
    const to = endpoint.wire.name;
    const kind = kindOf(to);
    const send: Road["send"] = (accountId, more, promptCache) => {
      const cache = caches.of({ promptCache }, endpoint, kind, accountId);
      const request = read(wire, JSON.stringify({ ...LEAST[wire], ...more }));
      return JSON.parse(leaving(request, family, endpoint, UNPRICED, cache).toString()) as Body;
    };
    return { name: `${wire} to ${family.name} (${to})`, family, wire, kind, to, send };
  }),
);

/** On its own wire a client's member passes; from another, only what has a place in the typed form. */
function passes({ wire, to }: Road, name: string): boolean {
  const hasKey = (spoken: string): boolean => spoken === "openai-chat" || spoken === "openai-responses";
  return wire === to || (name === "prompt_cache_key" && hasKey(wire) && hasKey(to));
}

describe.each(ROADS)("$name", (road) => {
  const member = TOLD[road.family.name]?.[road.to];

  test("one account is told apart from another, and is itself each time", () => {
    const [acme, again, rival, plain] = [
      road.send("acme"),
      road.send("acme"),
      road.send("rival"),
      road.send("acme", {}, "shared"),
    ];
    expect(again).toEqual(acme);
    if (member === undefined) return expect([acme, rival]).toEqual([plain, plain]);
    expect(acme).toEqual({ ...plain, [member]: expect.stringMatching(SALT) as unknown });
    expect(rival).toEqual({ ...plain, [member]: expect.stringMatching(SALT) as unknown });
    expect(rival[member]).not.toBe(acme[member]);
  });

  test("a client's null stands for none", () => {
    if (member === undefined || !passes(road, member)) return;
    expect(road.send("acme", { [member]: null })).toEqual(road.send("acme"));
  });

  test("settings write the member that they name, or that nothing is reused", () => {
    for (const setting of road.family.promptCaches ?? []) {
      const plain = road.send("acme", {}, "shared");
      const beside = road.kind !== "chat" && (setting === "prompt_cache_key" || setting === "user_id");
      if (beside) {
        expect(road.send("acme", {}, setting)).toEqual(plain);
        continue;
      }
      const name = setting === "off" ? "cache_prompt" : setting;
      const value: unknown = setting === "off" ? false : expect.stringMatching(SALT);
      expect(road.send("acme", {}, setting)).toEqual({ ...plain, [name]: value });
      const own = setting === "off" ? true : "mine";
      if (passes(road, name)) expect(road.send("acme", { [name]: own }, setting)).toEqual({ ...plain, [name]: value });
    }
  });

  test("where accounts share, a client's own key passes as it is", () => {
    for (const name of CACHE_MEMBERS)
      if (passes(road, name)) expect(road.send("acme", { [name]: "mine" }, "shared")[name]).toBe("mine");
  });
});

// Where the wire of the client has no such member, it is one that nobody knows.
test.each(ROADS.filter(({ wire }) => wire.startsWith("openai-")))(
  "$name: a client's own key groups requests of its account alone",
  (road) => {
    const member = TOLD[road.family.name]?.[road.to];
    for (const name of member === undefined ? OWN_KEYS : new Set([...OWN_KEYS, member])) {
      if (!passes(road, name)) continue;
      const salt = member === undefined ? undefined : String(road.send("rival")[member]);
      // What another account is known by is no way in either.
      for (const said of ["mine", "", ...(salt === undefined ? [] : [salt])]) {
        const [acme, again, rival] = ["acme", "acme", "rival"].map((account) => road.send(account, { [name]: said }));
        expect(acme?.[name], name).toMatch(SALT);
        expect(again).toEqual(acme);
        expect([acme?.[name], said]).not.toContain(rival?.[name]);
        expect(acme?.[name]).not.toBe(road.send("acme", { [name]: `${said}2` })[name]);
      }
    }
  },
);

test.each(ROADS.filter(({ wire, to }) => wire === to && wire.startsWith("openai-")))(
  "$name: no other spelling of a key passes",
  ({ send }) => {
    for (const name of CACHE_MEMBERS) {
      const camel = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
      for (const spelled of [camel, name.toUpperCase(), name.replaceAll("_", "")])
        expect(() => send("acme", { [spelled]: "mine" }), spelled).toThrow("write it so");
    }
  },
);

test("a key that is spelled by the numbers of its signs is the same key", () => {
  const written = String.raw`{"model":"m","messages":[{"role":"user","content":"Hi"}],"cache\u005fsalt":"mine"}`;
  const found = ENDPOINTS.find(({ family }) => family.name === "vllm");
  if (found === undefined) throw new Error("the family is gone");
  const { family, endpoint } = found;
  const bodies = ["acme", "rival"].map((account) => {
    const cache = caches.of({ promptCache: undefined }, endpoint, "chat", account);
    return leaving(read("openai-chat", written), family, endpoint, UNPRICED, cache).toString();
  });
  expect(bodies.map((body) => body.includes("mine"))).toEqual([false, false]);
  expect(bodies[0]).not.toBe(bodies[1]);
});

test("settings may say of each family what its servers know", () => {
  const said = Object.fromEntries(families.map(({ name, promptCaches }) => [name, promptCaches]));
  expect(Object.fromEntries(Object.entries(said).filter(([, caches]) => caches !== undefined))).toEqual(SETTABLE);
});

test("salts are the same on every node and after every start, and others in another installation", () => {
  const saltOf = (root: string, account: string): string | undefined =>
    new PromptCaches(Buffer.from(root)).of({ promptCache: undefined }, {}, "chat", account)?.salt;
  expect(saltOf("one", "acme")).toBe(saltOf("one", "acme"));
  const salts = [saltOf("one", "acme"), saltOf("one", "acme2"), saltOf("two", "acme")];
  expect(new Set(salts).size).toBe(3);
});
