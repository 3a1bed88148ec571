/** The pages that navigation and the command palette offer. */
import type { LinkProps } from "@tanstack/react-router";
import { words } from "../copy/en.ts";
import type { IconName } from "./icons.tsx";
import type { SignedIn } from "./session.ts";

export interface PageLink {
  readonly to: NonNullable<LinkProps["to"]>;
  readonly name: string;
  readonly icon: IconName;
  /** Other words by which people look for it. */
  readonly finds?: string;
  /** True where only some see it, and this person is one of them. */
  readonly isFor?: (person: SignedIn) => boolean;
}

const HOLDER_PAGES: readonly PageLink[] = [
  { to: "/", name: words.pages.overview, icon: "overview" },
  { to: "/keys", name: words.pages.keys, icon: "keys" },
  { to: "/requests", name: words.pages.requests, icon: "requests" },
  { to: "/usage", name: words.pages.usage, icon: "usage" },
  { to: "/models", name: words.pages.models, icon: "models" },
  { to: "/playground", name: words.pages.playground, icon: "playground" },
  { to: "/billing", name: words.pages.billing, icon: "billing" },
  { to: "/members", name: words.pages.members, icon: "members", isFor: ({ seesMembers }) => seesMembers },
  { to: "/account", name: words.pages.account, icon: "settings", isFor: ({ seesAudit }) => seesAudit },
  { to: "/alerts", name: words.pages.alerts, icon: "alerts" },
  { to: "/audit", name: words.pages.audit, icon: "audit", isFor: ({ seesAudit }) => seesAudit },
  { to: "/docs", name: words.pages.docs, icon: "docs" },
];

const OPERATOR_PAGES: readonly PageLink[] = [
  { to: "/admin", name: words.pages.health, icon: "health" },
  { to: "/admin/traffic", name: words.pages.traffic, icon: "usage" },
  { to: "/admin/requests", name: words.pages.allRequests, icon: "requests" },
  { to: "/admin/accounts", name: words.pages.accounts, icon: "accounts" },
  { to: "/admin/plans", name: words.pages.plans, icon: "accounts" },
  { to: "/admin/codes", name: words.pages.codes, icon: "codes" },
  { to: "/admin/payments", name: words.pages.cardPayments, icon: "billing" },
  { to: "/admin/upstreams", name: words.pages.upstreams, icon: "upstreams", finds: words.palette.ofUpstreams },
  { to: "/admin/models", name: words.pages.prices, icon: "models", finds: words.palette.ofPrices },
  { to: "/admin/people", name: words.pages.people, icon: "members" },
  { to: "/admin/alerts", name: words.pages.operatorAlerts, icon: "alerts" },
  { to: "/admin/ledger", name: words.pages.ledger, icon: "ledger" },
  { to: "/admin/nodes", name: words.pages.nodes, icon: "nodes" },
  { to: "/admin/settings", name: words.pages.settings, icon: "settings" },
  { to: "/admin/audit", name: words.pages.operatorAudit, icon: "audit" },
];

/** The pages that a person sees in navigation, of the account and of the whole gateway. */
export function pagesFor(person: SignedIn): { readonly own: readonly PageLink[]; readonly all: readonly PageLink[] } {
  const own = HOLDER_PAGES.filter(({ isFor }) => isFor === undefined || isFor(person));
  return { own, all: person.isOverAll ? OPERATOR_PAGES : [] };
}
