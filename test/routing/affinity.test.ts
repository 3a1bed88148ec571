/** Which target a session goes to, and when it leaves it. */
import { describe, expect, test } from "vitest";
import type { Affinity } from "../../src/api/affinity.js";
import { type NamedSession, SessionAffinity } from "../../src/routing/affinity.js";
import type { Target } from "../../src/routing/model.js";
import { pickOfSession } from "../../src/routing/pick.js";
import type { WireRequest } from "../../src/wire/wire.js";
import { LEAST, read } from "./asked.js";
import { ScriptedUpstream } from "./scripted-upstream.js";
import { modelOf, targetOf, type TargetOptions } from "./served.js";

const ROOT = Buffer.alloc(32, 1);
const MINUTE_MS = 60_000;
const target = (id: string, options: TargetOptions = {}): Target => targetOf(new ScriptedUpstream([]), id, options);

const named = (session: string): NamedSession => ({ session, sessionSource: "header", promptCacheKey: "" });

function chat(more: object = {}): WireRequest {
  return read("openai-chat", JSON.stringify({ ...LEAST["openai-chat"], ...more }));
}

const PLAIN = chat();
const USER = { role: "user", content: "Hi" };

interface Turn {
  readonly session?: NamedSession;
  readonly request?: WireRequest;
  readonly account?: string;
  readonly nowMs?: number;
  /** Targets that cannot take a request now. */
  readonly away?: readonly string[];
  /** Targets that fail when they are tried. */
  readonly failing?: readonly string[];
  /** True where the client leaves before the answer ends. */
  readonly leaves?: boolean;
}

/** One process with these targets. */
function openNode(targets: readonly Target[], affinity = new SessionAffinity(ROOT)) {
  const model = { ...modelOf(targets), hasAffinity: true };
  const turn = (asked: Turn = {}) => {
    const { account = "acme", nowMs = 0, away = [], failing = [], request = chat(), leaves = false } = asked;
    const session = { attributes: () => asked.session ?? named("s"), affinity: undefined as Affinity | undefined };
    const route = affinity.begin(request, model, { kind: "chat", session, accountId: account });
    if (route === undefined) throw new Error("the request belongs to no session");
    const tried: Target[] = targets.filter(({ served }) => away.includes(served.id));
    const skipped = tried.length;
    for (;;) {
      const picked = pickOfSession(targets, tried, nowMs, account, route);
      if (picked === undefined) throw new Error("no target is left");
      tried.push(picked);
      route.tries(picked, nowMs);
      if (failing.includes(picked.served.id)) continue;
      if (!leaves) route.served(picked, tried.slice(skipped), nowMs);
      return { target: picked.served.id, ...session.affinity };
    }
  };
  return turn;
}

const FOUR = ["a", "b", "c", "d"];
const four = (options: Readonly<Record<string, TargetOptions>> = {}): Target[] =>
  FOUR.map((id) => target(id, options[id]));

describe("the first target of a session", () => {
  test("is the same on every node, and another installation has its own", () => {
    const [one, other] = [openNode(four()), openNode(four().toReversed())];
    const foreign = openNode(four(), new SessionAffinity(Buffer.alloc(32, 2)));
    const sessions = Array.from({ length: 100 }, (_, place) => named(`s${place}`));
    const picks = sessions.map((session) => one({ session }).target);
    expect(sessions.map((session) => other({ session }).target)).toEqual(picks);
    expect(sessions.map((session) => foreign({ session }).target)).not.toEqual(picks);
  });

  test.each([
    { name: "equal", weights: [1, 1, 1, 1] },
    { name: "unequal", weights: [1, 2, 3, 4] },
    { name: "fractions and zero", weights: [0.5, 0, 1, 0.5] },
  ])("follows the weights: $name", ({ weights }) => {
    const targets = FOUR.map((id, place) => target(id, { weight: weights[place] ?? 0 }));
    const turn = openNode(targets);
    const counts = new Map(FOUR.map((id) => [id, 0]));
    const sessions = 10_000;
    for (let place = 0; place < sessions; place += 1) {
      const { target: picked } = turn({ session: named(`session ${place}`) });
      counts.set(picked, (counts.get(picked) ?? 0) + 1);
    }
    const sum = weights.reduce((all, weight) => all + weight, 0);
    for (const [place, weight] of weights.entries()) {
      const wanted = (sessions * weight) / sum;
      expect(Math.abs((counts.get(FOUR[place] ?? "") ?? 0) - wanted)).toBeLessThanOrEqual(0.05 * wanted);
    }
  });

  test("stays for three of four sessions when a fourth target comes, and no other changes", () => {
    const [three, all] = [openNode(four().slice(0, 3)), openNode(four())];
    let moved = 0;
    for (let place = 0; place < 1_000; place += 1) {
      const session = named(`s${place}`);
      const [before, after] = [three({ session }).target, all({ session }).target];
      if (before === after) continue;
      expect(after).toBe("d");
      moved += 1;
    }
    expect(moved).toBeGreaterThan(200);
    expect(moved).toBeLessThan(300);
  });

  test("is of the best priority", () => {
    const turn = openNode([...four(), target("low", { priority: 2, weight: 1_000 })]);
    for (let place = 0; place < 50; place += 1) expect(turn({ session: named(`s${place}`) }).target).not.toBe("low");
    expect(turn({ away: FOUR }).target).toBe("low");
  });
});

describe("a session", () => {
  const others = (id: string): string[] => FOUR.filter((one) => one !== id);

  test("is new, then kept", () => {
    const turn = openNode(four());
    const first = turn();
    expect(first).toEqual({ target: first.target, state: "new", source: "header" });
    for (let place = 0; place < 3; place += 1) expect(turn()).toEqual({ ...first, state: "kept" });
  });

  test("keeps its target where that was skipped once, and moves with the second skip in a row", () => {
    const turn = openNode(four());
    const home = turn().target;
    const away = [home];
    const second = turn({ away });
    expect(second.state).toBe("moved");
    expect(turn()).toMatchObject({ target: home, state: "kept" });
    expect(turn({ away })).toEqual(second);
    expect(turn({ away })).toEqual(second);
    expect(turn()).toMatchObject({ target: second.target, state: "kept" });
  });

  test("moves to the target that served it after a failure", () => {
    const turn = openNode(four());
    const home = turn().target;
    const next = turn({ failing: [home] });
    expect(next.state).toBe("moved");
    expect(turn()).toMatchObject({ target: next.target, state: "kept" });
  });

  test("is not changed by a request that its client cancelled", () => {
    const turn = openNode(four());
    const home = turn().target;
    turn({ failing: [home], leaves: true });
    turn({ away: [home], leaves: true });
    turn({ away: [home], leaves: true });
    expect(turn()).toMatchObject({ target: home, state: "kept" });
    const fresh = openNode(four());
    fresh({ leaves: true });
    expect(fresh().state).toBe("new");
  });

  test("stays at a target that is drained, and no new one goes there", () => {
    const affinity = new SessionAffinity(ROOT);
    const before = openNode(four(), affinity);
    const sessions = Array.from({ length: 200 }, (_, place) => named(`s${place}`));
    const bound = sessions.filter((session) => before({ session }).target === "b");
    expect(bound.length).toBeGreaterThan(20);
    // Also where the others have a worse priority.
    for (const priority of [1, 2]) {
      const rest = Object.fromEntries(others("b").map((id) => [id, { priority }]));
      const after = openNode(four({ ...rest, b: { weight: 0 } }), affinity);
      for (const session of bound) expect(after({ session })).toMatchObject({ target: "b", state: "kept" });
      for (const session of sessions) expect(after({ session, account: `new-${priority}` }).target).not.toBe("b");
    }
    expect(openNode(four({ b: { weight: 0 } }))({ away: others("b") }).target).toBe("b");
  });

  test("is forgotten after 15 idle minutes, and after 65 where something is cached for an hour", () => {
    const marked = { cache_control: { type: "ephemeral", ttl: "1h" } };
    const hour = read(
      "anthropic",
      JSON.stringify({ model: "m", max_tokens: 9, system: [{ type: "text", text: "S", ...marked }], messages: [USER] }),
    );
    const turn = openNode(four());
    turn();
    expect(turn({ nowMs: 15 * MINUTE_MS - 1 }).state).toBe("kept");
    expect(turn({ nowMs: 29 * MINUTE_MS }).state).toBe("kept");
    expect(turn({ nowMs: 44 * MINUTE_MS }).state).toBe("new");
    turn({ nowMs: 45 * MINUTE_MS, request: hour });
    turn({ nowMs: 46 * MINUTE_MS });
    expect(turn({ nowMs: 110 * MINUTE_MS - 1 }).state).toBe("kept");
    expect(turn({ nowMs: 200 * MINUTE_MS }).state).toBe("new");
  });

  test("is of one account and one model", () => {
    const affinity = new SessionAffinity(ROOT);
    const turn = openNode(four(), affinity);
    const home = turn({ away: others("a") }).target;
    expect(home).toBe("a");
    expect(turn({ account: "rival" }).state).toBe("new");
    const targets = four();
    const session = { attributes: () => named("s"), affinity: undefined as Affinity | undefined };
    const route = affinity.begin(
      chat(),
      { id: "other", hasAffinity: true },
      { kind: "chat", session, accountId: "acme" },
    );
    route?.tries(targets[0] as Target, 0);
    expect(session.affinity?.state).toBe("new");
  });
});

test("100,000 requests of many accounts never meet another account's session", () => {
  const turn = openNode(four());
  const seen = new Set<string>();
  let state = 1;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  let wrong = 0;
  for (let place = 0; place < 100_000; place += 1) {
    const [account, id] = [`account-${random(200)}`, `s${random(100)}`];
    const name = `${account} ${id}`;
    // The first request of each account's session is new, whoever else has a session of that name.
    const isNew = turn({ account, session: named(id), request: PLAIN }).state === "new";
    if (isNew === seen.has(name)) wrong += 1;
    seen.add(name);
  }
  expect(seen.size).toBeGreaterThan(19_000);
  expect(wrong).toBe(0);
});

describe("what names a session", () => {
  const none: NamedSession = { session: "", sessionSource: "", promptCacheKey: "" };
  test.each([
    { source: "header", session: { session: "s", sessionSource: "header", promptCacheKey: "k" } },
    { source: "session_id", session: { session: "s", sessionSource: "session_id", promptCacheKey: "k" } },
    { source: "prompt_cache_key", session: { session: "s", sessionSource: "metadata", promptCacheKey: "k" } },
    { source: "metadata", session: { session: "s", sessionSource: "metadata", promptCacheKey: "" } },
    { source: "content", session: none },
  ] as const)("$source", ({ source, session }) => {
    expect(openNode(four())({ session }).source).toBe(source);
  });

  test("a model without affinity, or another kind of request, reads no session", () => {
    const session = {
      attributes: (): NamedSession => {
        throw new Error("it was read");
      },
      affinity: undefined,
    };
    const affinity = new SessionAffinity(ROOT);
    const options = { kind: "chat", session, accountId: "acme" } as const;
    expect(affinity.begin(PLAIN, { id: "m", hasAffinity: false }, options)).toBeUndefined();
    expect(affinity.begin(PLAIN, { id: "m", hasAffinity: true }, { ...options, kind: "embedding" })).toBeUndefined();
  });

  test("of a request in the typed form, only a name", () => {
    const typed: WireRequest = { facts: PLAIN.facts, source: undefined, prompt: () => PLAIN.prompt() };
    const session = { attributes: () => none, affinity: undefined };
    const model = { id: "m", hasAffinity: true };
    expect(new SessionAffinity(ROOT).begin(typed, model, { kind: "chat", session, accountId: "acme" })).toBeUndefined();
  });
});
