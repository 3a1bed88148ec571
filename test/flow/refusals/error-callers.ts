/** The callers of the error table: each has a key, by its name, that is refused for a reason of its own. */
import { expect } from "vitest";
import { script } from "../../support/fake-upstream.js";
import { says, type World } from "../../support/world.js";

/** Makes them, and writes their secrets into `keys`. */
export async function openCallers(world: World, keys: Record<string, string>): Promise<void> {
  const { management } = world;
  const key = async (name: string, settings: object, account = "acme"): Promise<string> => {
    const made = await management.makeKey(account, { name, ...settings });
    keys[name] = made.secret;
    return made.id;
  };
  await management.account("poorhouse", 1n);
  await key("poor", {}, "poorhouse");
  await key("expired", { expire_time: "2020-01-01T00:00:00Z" });
  await management.call("DELETE", `/keys/${await key("revoked", {})}`);
  await key("budgeted", { budget_day_nanos: "1" });
  for (const [id, name] of [
    ["frugal", "budget_day_nanos"],
    ["careful", "request_cost_max_nanos"],
  ] as const) {
    await management.account(id, 10_000_000_000n);
    await management.call("PATCH", `/accounts/${id}`, { settings: { [name]: "1" } });
    await key(id, {}, id);
  }
  await management.account("icehouse", 10_000_000_000n);
  await key("frozen", {}, "icehouse");
  await management.call("POST", "/accounts/icehouse:freeze", { reason: "a test" });
  await key("thrifty", { request_cost_max_nanos: "1" });
  await key("scopeless", { scopes: ["models"] });
  await key("elsewhere", { addresses: ["203.0.113.0/24"] });
  await key("narrow", { models: ["other-*"] });
}

/** Of keys whose limit of a minute is used up by one good call. */
const LIMITED: Readonly<Record<string, object>> = {
  hasty: { requests_per_minute: "1" },
  wordy: { tokens_per_minute: "1000" },
};

/** Makes such a key where the caller has that name, and uses it up: right before the test that needs it. */
export async function useUp(world: World, keys: Record<string, string>, name = ""): Promise<void> {
  const settings = LIMITED[name];
  if (settings === undefined) return;
  const { secret } = await world.management.makeKey("acme", { name, ...settings });
  keys[name] = secret;
  const used = await world.client({ apiKey: secret }).chat.completions.create({
    model: "fake-1",
    messages: says(name === "wordy" ? script({ usageIs: { prompt_tokens: 100, completion_tokens: 900 } }) : "x"),
  });
  expect(used.choices).toHaveLength(1);
}

/** Nothing that an earlier row ejected is left so. */
export async function resetUpstreams({ management }: World): Promise<void> {
  await Promise.all(["fake", "gone"].map((id) => management.call("POST", `/upstreams/${id}:reset`, {})));
}
