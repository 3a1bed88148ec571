/** Every page of the console with what a person sees on it, and an account in which none of them is empty. */
import type { Page } from "playwright-core";
import type { World } from "./world.js";

/** A request of each account that was filled. */
const requests = new Map<string, string>();

export const PAGES: readonly {
  readonly name: string /** Its path in a world that `fillPages` filled. */;
  readonly path: (world: World) => string;
  readonly shows: string;
}[] = [
  { name: "overview", path: () => "/", shows: "Spend by model" },
  { name: "keys", path: () => "/keys", shows: "backend" },
  { name: "make-key", path: () => "/keys?make=key", shows: "What it may do" },
  { name: "key", path: ({ keys }) => `/keys/${keys[1]?.id}`, shows: "Spend by day" },
  { name: "requests", path: () => "/requests", shows: "charged" },
  { name: "request", path: ({ account }) => `/requests/${requests.get(account)}`, shows: "Ledger entries" },
  { name: "usage", path: () => "/usage?by=key&and=model", shows: "Total" },
  { name: "models", path: () => "/models", shows: "sim-small" },
  { name: "playground", path: () => "/playground", shows: "Message" },
  { name: "billing", path: () => "/billing", shows: "Cost by day, model and key" },
  { name: "billing-journal", path: () => "/billing?journal=open", shows: "Opening balance" },
  { name: "requests-filtered", path: () => "/requests?model=sim-1&leastCost=0.000001", shows: "Filters: 2" },
  { name: "members", path: () => "/members", shows: "bob@example.com" },
  { name: "account-settings", path: () => "/account", shows: "Require a second factor" },
  { name: "me", path: () => "/me", shows: "this session" },
  { name: "alerts", path: () => "/alerts", shows: "money ends" },
  { name: "webhooks", path: () => "/alerts?show=webhooks", shows: "the books" },
  { name: "deliveries", path: () => "/alerts?show=deliveries", shows: "Details" },
  { name: "audit", path: () => "/audit", shows: "created the key" },
  { name: "docs", path: () => "/docs", shows: "with the secret of the key" },
  { name: "docs-errors", path: () => "/docs?about=errors", shows: "PARAMETER_INVALID" },
  { name: "docs-keys", path: () => "/docs?about=keys", shows: "Keys that make keys" },
  { name: "docs-api", path: () => "/docs?about=api", shows: "createKey" },
  { name: "health", path: () => "/admin", shows: "No problems" },
  { name: "accounts", path: () => "/admin/accounts", shows: "Acme Robotics" },
  { name: "account", path: ({ account }) => `/admin/accounts/${account}`, shows: "Total credited" },
  { name: "plans", path: () => "/admin/plans", shows: "Add a plan" },
  { name: "make-plan", path: () => "/admin/plans?form=plan", shows: "Limits for some models" },
  { name: "codes", path: () => "/admin/codes", shows: "of looks" },
  { name: "make-codes", path: () => "/admin/codes?add=codes", shows: "Value per code" },
  { name: "upstreams", path: () => "/admin/upstreams", shows: "healthy" },
  { name: "people", path: () => "/admin/people", shows: "Ada Lovelace" },
  { name: "operator-alerts", path: () => "/admin/alerts", shows: "money ends" },
  { name: "operator-audit", path: () => "/admin/audit?method=CreateAccount", shows: "created the account" },
  { name: "prices", path: () => "/admin/models", shows: "set in tollgate.yaml" },
  { name: "settings", path: () => "/admin/settings", shows: "The last accepted change of the file" },
  { name: "ledger", path: () => "/admin/ledger", shows: "Verification reads every entry" },
  { name: "nodes", path: () => "/admin/nodes", shows: "this node" },
  { name: "card-payments", path: () => "/admin/payments", shows: "Card payments are not set up" },
  { name: "unknown", path: () => "/no/such/page", shows: "Page not found" },
];

/** Gives the account of a world one of everything that pages show. */
export async function fillPages({ account, api }: World): Promise<void> {
  const { requests: newest } = await api<{ requests: { id: string }[] }>(
    `/api/v1/requests?account_id=${account}&page_size=1`,
  );
  requests.set(account, newest[0]?.id ?? "");
  const settings = { name: "the books", url: "http://127.0.0.1:9/hook" };
  const { webhook } = await api<{ webhook: { id: string } }>("/api/v1/webhooks", { account_id: account, settings });
  await api(`/api/v1/webhooks/${webhook.id}:test`, {});
  await api("/api/v1/alerts", {
    account_id: account,
    settings: { name: "money ends", kind: "balance_low", amount: "100.00" },
  });
  await api("/api/v1/top-up-codes", { count: 12, amount: "25.00", note: "of looks" });
  await api(`/api/v1/accounts/${account}/invitations`, { role: "admin", email: "bob@example.com" });
}

/** Waits until a person sees a text somewhere on the page. */
export async function sees(page: Page, text: string): Promise<void> {
  await page.getByText(text).filter({ visible: true }).first().waitFor();
}
