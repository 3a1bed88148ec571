/** Every method x role x account: what people may do, told once here and once in the table of roles. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type MethodDescription, methods } from "../../../src/api/descriptors.js";
import { requiredMethod } from "../../../src/api/methods.js";
import { ACCOUNT_HEADER, SESSION_HEADER } from "../../../src/api/session-headers.js";
import { openCore, type OpenCore } from "../open-core.js";
import { signIn, type Who } from "../sign-in.js";

const ROLES: readonly Who[] = ["owner", "admin", "member", "viewer", "operator", "auditor", "nobody here"];
/** What each role changes; all but the last see models, usage and keys, and all but it and viewers see members. */
const CHANGES: Readonly<Record<Who, readonly string[]>> = {
  owner: ["chat", "embeddings", "rerank", "moderations", "audio", "keys", "members", "usage", "alerts"],
  admin: ["chat", "embeddings", "rerank", "moderations", "audio", "keys", "members", "usage", "alerts"],
  member: ["chat", "embeddings", "rerank", "moderations", "audio", "keys"],
  viewer: [],
  operator: [
    "chat",
    "embeddings",
    "rerank",
    "moderations",
    "audio",
    "models",
    "usage",
    "keys",
    "members",
    "alerts",
    "operator",
  ],
  auditor: [],
  "nobody here": [],
};
const SEES: Readonly<Record<Who, readonly string[]>> = {
  owner: ["models", "usage", "keys", "members", "audit"],
  admin: ["models", "usage", "keys", "members", "audit"],
  member: ["models", "usage", "keys", "members"],
  viewer: ["models", "usage", "keys"],
  operator: ["audit", ...CHANGES.operator],
  auditor: ["audit", ...CHANGES.operator],
  "nobody here": [],
};
const SIGNAL = new AbortController().signal;
const OWN = "acme";
const FOREIGN = "other";

let core: OpenCore;
const tokens = new Map<Who, string>();

beforeAll(async () => {
  core = await openCore();
  for (const id of [OWN, FOREIGN]) await core.makeKey(id);
  for (const who of ROLES) tokens.set(who, await signIn(core, who, OWN));
});
afterAll(() => core.close());

/** The reason of a refusal; empty where it is answered. */
async function reasonOf(path: string, who: Who, account: string, fields: object = {}): Promise<string> {
  const method = requiredMethod(path);
  const metadata = { [SESSION_HEADER]: tokens.get(who) ?? "", [ACCOUNT_HEADER]: account };
  // A stream that is allowed would not end by itself.
  const timeoutMs = method.responseStream ? 500 : 60_000;
  const call = { metadata, signal: SIGNAL, timeoutMs, peer: "", local: true };
  const request = Object.assign(method.requestDeserialize(Buffer.alloc(0)) as object, fields);
  const sink = { head: () => undefined, data: () => true, onDrain: () => undefined };
  const outcome = method.responseStream
    ? await core.dispatcher.stream(method, request, call, sink)
    : await core.dispatcher.unary(method, request, call);
  return outcome.kind === "refused" ? outcome.error.reason : "";
}

/** Its session would be over, and those after it could not ask. */
const ENDING = /\/(?:SignOut|EndSessions|RemoveUser)$/;
const judged = methods().filter(
  ({ permission, path }) =>
    path.startsWith("/tollgate.v1.") && permission?.open !== true && permission?.front !== true && !ENDING.test(path),
);

/** Its own handler asks for the scope, after what is wrong with the request. */
const ESTIMATE = "/tollgate.v1.InferenceService/EstimateCost";

function scopeOf({ path, permission }: MethodDescription): string {
  if (path === ESTIMATE) return "chat";
  return permission?.operator === true ? "operator" : (permission?.scope ?? "");
}

describe.each(ROLES)("as %s", (who) => {
  test.each(judged)("$path is allowed by the role alone", async (method) => {
    const scope = scopeOf(method);
    const reads = method.http?.verb === "GET" || method.path === ESTIMATE;
    const granted = reads ? [...SEES[who], ...CHANGES[who]] : CHANGES[who];
    const reason = await reasonOf(method.path, who, who === "nobody here" ? "" : OWN);
    if (scope === "" || granted.includes(scope)) expect(reason).not.toBe("ERROR_REASON_ROLE_MISSING");
    else expect(reason).toBe("ERROR_REASON_ROLE_MISSING");
  });

  const isOfAll = who === "operator" || who === "auditor";
  test.each(isOfAll ? [] : judged)("$path does not know another account", async ({ path, desc, http }) => {
    expect(await reasonOf(path, who, FOREIGN)).toBe("ERROR_REASON_RESOURCE_UNKNOWN");
    if (http === undefined || who === "nobody here") return;
    // The own account is acted in, and the message names the other one.
    const named = http.pattern.includes("/accounts/{id}") ? "id" : "accountId";
    if (!desc.input.fields.some(({ localName }) => localName === named)) return;
    const reason = await reasonOf(path, who, OWN, { [named]: FOREIGN, role: 4, userId: "user_x", id: FOREIGN });
    expect(reason).toMatch(/^ERROR_REASON_(?:RESOURCE_UNKNOWN|ROLE_MISSING)$/);
  });
});
