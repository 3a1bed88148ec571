/** Lists in pages: together the whole list, of at most 1,000 rows each, and by their own tokens alone. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Method } from "../../../src/api/channel.js";
import {
  AccountServiceService as accounts,
  KeyServiceService as keys,
  ModelServiceService as models,
  UpstreamServiceService as upstreams,
  UsageServiceService as usage,
} from "../../../src/api/index.js";
import { GatewayError } from "../../../src/base/errors.js";
import { createInProcessChannel } from "../../../src/rpc/transport/in-process-channel.js";
import { listed, withKey } from "../edges.js";
import { openCore, type OpenCore } from "../open-core.js";
import { spend } from "../spending.js";
import { TEST_ACT } from "../../support/acts.js";

const PARAMETER_INVALID = "ERROR_REASON_PARAMETER_INVALID";
const PAGE = { pageSize: 0, pageToken: "" };
const ALL_KEYS = { accountId: "", ids: [], text: "" };

let core: OpenCore;
let operator = "";
let member = "";

beforeAll(async () => {
  core = await openCore();
  await core.parts.ledger.start();
  const root = await core.makeKey("root", { scopes: ["operator"] });
  operator = root.secret;
  const owned = await core.makeKey("acme", { scopes: ["chat", "models", "usage", "keys"] });
  member = owned.secret;
  for (const [accountId, keyId] of [
    ["root", root.id],
    ["acme", owned.id],
  ] as const) {
    await core.parts.ledger.credit({ creditId: `of ${accountId}`, accountId, amountNanos: 1_000n, act: TEST_ACT });
    for (const model of ["alpha", "beta/one", "gamma"]) await spend(core, { accountId, keyId, model });
  }
});
afterAll(async () => {
  await core.parts.ledger.close();
  await core.close();
});

async function call<Request, Response>(
  secret: string,
  method: Method<Request, Response>,
  request: Request,
): Promise<Response> {
  const channel = createInProcessChannel(core.dispatcher, { encode: true });
  return (await channel.unary(method, request, withKey(secret))).message;
}

/** The refusal's reason and its wrong parameter. */
async function refused(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "answered";
  } catch (error) {
    const { reason, metadata } = GatewayError.from(error);
    return `${reason} ${metadata["param"]}`;
  }
}

describe("pages", () => {
  const lists = [
    {
      name: "accounts",
      ask: (page: typeof PAGE) =>
        call(operator, accounts.listAccounts, { state: 0, text: "", order: 0, plan: "", ...page }),
    },
    {
      name: "a member's accounts",
      ask: (page: typeof PAGE) =>
        call(member, accounts.listAccounts, { state: 0, text: "", order: 0, plan: "", ...page }),
    },
    { name: "entries", ask: (page: typeof PAGE) => call(operator, accounts.listEntries, { id: "acme", ...page }) },
    { name: "keys", ask: (page: typeof PAGE) => call(operator, keys.listKeys, { ...page, ...ALL_KEYS }) },
    { name: "requests", ask: (page: typeof PAGE) => call(operator, usage.listRequests, listed("", page)) },
    { name: "models", ask: (page: typeof PAGE) => call(member, models.listModels, page) },
    { name: "upstreams", ask: (page: typeof PAGE) => call(operator, upstreams.listUpstreams, page) },
    {
      name: "usage",
      ask: (page: typeof PAGE) =>
        call(operator, usage.summarizeUsage, { accountId: "", fromDay: "", toDay: "", ...page }),
    },
  ];
  const rowsOf = (answer: object): readonly unknown[] => Object.values(answer).find(Array.isArray) ?? [];

  test.each(lists)("of $name are together the whole list, whatever their size", async ({ ask }) => {
    const whole = await ask({ pageSize: 1_000, pageToken: "" });
    for (const pageSize of [1, 2, 3]) {
      const rows: unknown[] = [];
      let pageToken = "";
      do {
        const page = await ask({ pageSize, pageToken });
        expect(rowsOf(page).length).toBeGreaterThan(0);
        expect(rowsOf(page).length).toBeLessThanOrEqual(pageSize);
        rows.push(...rowsOf(page));
        ({ nextPageToken: pageToken } = page);
      } while (pageToken !== "");
      expect(rows).toEqual(rowsOf(whole));
    }
  });

  test.each(lists)("of $name have at most 1,000 rows, also where more are asked for", async ({ ask }) => {
    expect(await refused(ask({ pageSize: -1, pageToken: "" }))).toBe(`${PARAMETER_INVALID} page_size`);
    for (const pageSize of [0, 1, 1_000, 1_001, 2 ** 31 - 1]) await ask({ pageSize, pageToken: "" });
  });

  const known = lists.filter(({ name }) => !name.startsWith("a member"));
  test.each(known)("of $name know their own tokens", async ({ ask }) => {
    expect(await refused(ask({ pageSize: 1, pageToken: "made-up" }))).toBe(`${PARAMETER_INVALID} page_token`);
  });
});
