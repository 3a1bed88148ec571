/** The filters of requests and of the audit log: what they show is what the server finds, and stands in the URL. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { generate, joinWorld, SCRIPT_NAME, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await joinWorld("filters", 9);
  const [key] = world.keys;
  const named = { user: SCRIPT_NAME, metadata: { team: "search" } };
  await (await generate(world.url, key?.secret ?? "", "sim-1", "For somebody.", named)).text();
  await (await generate(world.url, key?.secret ?? "", "no-such-model", "Refused.")).text();
  // Records of refused requests come a moment later.
  await vi.waitFor(async () => expect((await found("query=")).length).toBe(11), { timeout: 60_000, interval: 500 });
});
afterAll(() => world.close());

const FILTERS: readonly {
  readonly name: string;
  readonly fill: (page: Page) => Promise<unknown>;
  readonly query: () => string;
  readonly url: string;
}[] = [
  {
    name: "state",
    fill: (page) => page.getByLabel("State").selectOption("uncharged"),
    query: () => "state=uncharged",
    url: "state=uncharged",
  },
  {
    name: "key",
    fill: (page) => page.getByLabel("Key", { exact: true }).selectOption(world.keys[1]?.id ?? ""),
    query: () => `key_id=${world.keys[1]?.id}`,
    url: "key=key_",
  },
  {
    name: "model",
    fill: (page) => page.getByLabel("Model", { exact: true }).fill("sim-small"),
    query: () => "model=sim-small",
    url: "model=sim-small",
  },
  {
    name: "upstream",
    fill: (page) => page.getByLabel("Upstream").fill("other"),
    query: () => "upstream=other",
    url: "upstream=other",
  },
  {
    name: "reason",
    fill: (page) => page.getByLabel("Error reason").fill("MODEL_UNKNOWN"),
    query: () => "reason=MODEL_UNKNOWN",
    url: "reason=MODEL_UNKNOWN",
  },
  {
    name: "status",
    fill: (page) => page.getByLabel("HTTP status").fill("404"),
    query: () => "http_status=404",
    url: "status=404",
  },
  {
    name: "class of statuses",
    fill: (page) => page.getByLabel("HTTP status").fill("4xx"),
    query: () => "min_http_status=400&max_http_status=499",
    url: "status=4xx",
  },
  {
    name: "cost",
    fill: async (page) => {
      await page.getByLabel("Cost from, USD").fill("0.00001");
      await page.getByLabel("Cost to, USD").fill("0.00005");
    },
    query: () => "min_cost_nanos=10000&max_cost_nanos=50000",
    url: "leastCost=0.00001",
  },
  {
    name: "duration",
    fill: (page) => page.getByLabel("Duration to, ms").fill("100000"),
    query: () => "max_total_ms=100000",
    url: "mostMs=100000",
  },
  {
    name: "end user",
    fill: (page) => page.getByLabel("End user").fill(SCRIPT_NAME),
    query: () => `end_user=${encodeURIComponent(SCRIPT_NAME)}`,
    url: "user=",
  },
  {
    name: "tag",
    fill: (page) => page.getByLabel("Tag").fill("team=search"),
    query: () => "tag=team%3Dsearch",
    url: "tag=team=search",
  },
];

describe("requests by", () => {
  test.each(FILTERS)("$name", async ({ fill, query, url }) => {
    const want = await found(query());
    expect(want.length).toBeGreaterThan(0);
    const page = await world.open("/requests");
    await page.locator("tbody tr").first().waitFor();
    await page.getByText("Filters", { exact: true }).click();
    await fill(page);
    await page.getByRole("button", { name: "Show", exact: true }).click();
    // A text that could be a number stands in quotes there.
    await expect.poll(() => decodeURIComponent(page.url()).replaceAll('"', "")).toContain(url);
    await expect.poll(() => idsIn(page)).toEqual(want);
    // A link that is sent to a colleague shows the same.
    const other = await page.context().newPage();
    await other.goto(page.url());
    await expect.poll(() => idsIn(other)).toEqual(want);
    await page.context().close();
  });

  test("failure with one click, and the request says what happened", async () => {
    const want = await found("failed=true");
    const page = await world.open("/requests");
    await page.locator("tbody tr").first().waitFor();
    await page.getByRole("link", { name: "Failed", exact: true }).click();
    await expect.poll(() => idsIn(page)).toEqual(want);
    await page.getByRole("cell", { name: "404" }).waitFor();
    await page.getByRole("cell", { name: "MODEL_UNKNOWN" }).waitFor();
    await page.getByRole("link", { name: "ci", exact: true }).waitFor();
    await page.locator("tbody a[href*='/requests/']").click();
    await page.getByText("The model 'no-such-model' is not served here.").waitFor();
    await page.getByText("fails again until something is changed").waitFor();
    expect(await page.getByRole("link", { name: "ci", exact: true }).getAttribute("href")).toContain("/keys/key_");
    await world.keepPicture(page, "request-that-failed");
    await page.context().close();
  });

  test("time, where nothing is left, and what is wrong is said at its field", async () => {
    const page = await world.open("/requests");
    await page.locator("tbody tr").first().waitFor();
    await page.getByText("Filters", { exact: true }).click();
    await page.getByLabel("HTTP status").fill("none");
    await page.getByText("Enter a whole number").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Show", exact: true }).isDisabled()).toBe(true);
    await page.getByLabel("HTTP status").fill("");
    await page.getByLabel("To", { exact: true }).fill("2020-01-01T00:00");
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.getByText("No request matches.").waitFor();
    const showAll = page.getByRole("button", { name: "Show all" });
    if (!(await showAll.isVisible())) await page.getByText("Filters: 1").click();
    await showAll.click();
    await page.locator("tbody tr").first().waitFor();
    await page.context().close();
  });

  async function idsIn(page: Page): Promise<readonly string[]> {
    // All at once: a list that changes while it is read link by link would be waited for.
    const paths = await page
      .locator("tbody a[href*='/requests/']")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    return paths.map((path) => path?.split("/").at(-1)?.split("?")[0] ?? "");
  }
});

test("the audit log by method and result, with who, what changed, and as a file", async () => {
  const page = await world.open("/audit");
  await page.getByText("created the key").first().waitFor();
  await page.getByText("Filters", { exact: true }).click();
  await page.getByLabel("Method").fill("CreditAccount");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await expect.poll(() => page.url()).toContain("method=CreditAccount");
  // What was listed before stays in sight until the answer is there.
  await expect.poll(() => page.getByText("created the key").count()).toBe(0);
  await page.getByText("credited the account").waitFor();
  await page.getByText("Details").click();
  await page.getByText("c:inv-1-filters").waitFor();
  const coming = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).click();
  expect((await coming).suggestedFilename()).toBe("audit.csv");
  await page.getByLabel("Result").selectOption("refused");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await page.getByText("No audit events match.").waitFor();
  await page.context().close();
});

/** The ids that the server finds. */
async function found(query: string): Promise<readonly string[]> {
  const { requests } = await world.api<{ requests: { id: string }[] }>(
    `/api/v1/requests?account_id=filters&page_size=200&${query}`,
  );
  return requests.map(({ id }) => id);
}
