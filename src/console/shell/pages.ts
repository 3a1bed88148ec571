/** The pages that navigation and the command palette offer. */
import type { LinkProps } from "@tanstack/react-router";
import { words } from "../copy/en.ts";
import type { IconName } from "./icons.tsx";

export interface PageLink {
  readonly to: NonNullable<LinkProps["to"]>;
  readonly name: string;
  readonly icon: IconName;
}

export const HOLDER_PAGES: readonly PageLink[] = [
  { to: "/", name: words.pages.overview, icon: "overview" },
  { to: "/keys", name: words.pages.keys, icon: "keys" },
  { to: "/requests", name: words.pages.requests, icon: "requests" },
  { to: "/usage", name: words.pages.usage, icon: "usage" },
  { to: "/models", name: words.pages.models, icon: "models" },
  { to: "/playground", name: words.pages.playground, icon: "playground" },
  { to: "/billing", name: words.pages.billing, icon: "billing" },
  { to: "/docs", name: words.pages.docs, icon: "docs" },
];

export const OPERATOR_PAGES: readonly PageLink[] = [
  { to: "/admin", name: words.pages.health, icon: "health" },
  { to: "/admin/accounts", name: words.pages.accounts, icon: "accounts" },
  { to: "/admin/upstreams", name: words.pages.upstreams, icon: "upstreams" },
  { to: "/admin/ledger", name: words.pages.ledger, icon: "ledger" },
  { to: "/admin/nodes", name: words.pages.nodes, icon: "nodes" },
];
