/** Every page with its path and what of it stands in the URL. Each page is loaded when it is opened first. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  retainSearchParams,
} from "@tanstack/react-router";
import type { ReactNode } from "react";
import { words } from "./copy/en.ts";
import { Overview } from "./overview/overview.tsx";
import { Problem } from "./parts/problem.tsx";
import { type AlertSearch, auditSearch, daysIn, type Given, present, requestSearch, textIn, wordIn } from "./search.ts";
import { USAGE_GROUPS } from "./states.ts";
import { Gate } from "./shell/gate.tsx";
import { late } from "./parts/late.ts";
import { NotFound } from "./shell/not-found.tsx";

const root = createRootRoute({
  component: Gate,
  notFoundComponent: NotFound,
  validateSearch: (given: Given) => present({ account: textIn(given, "account") }),
  search: { middlewares: [retainSearchParams(["account"])] },
});

/** A page that its module exports under a name. */
// oxlint-disable-next-line typescript/explicit-function-return-type
function opened<Name extends string>(load: () => Promise<Readonly<Record<Name, () => ReactNode>>>, name: Name) {
  return lazyRouteComponent(late(load), name);
}

/** The forms that a link may open on their page. */
const FORMS = ["account", "alias", "member", "model", "plan", "upstream"] as const;

const overview = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: Overview,
  validateSearch: (given: Given) => present({ days: daysIn(given) }),
});

const welcome = createRoute({
  getParentRoute: () => root,
  path: "/welcome",
  component: opened(() => import("./shell/welcome.tsx"), "Welcome"),
});

const keys = createRoute({
  getParentRoute: () => root,
  path: "/keys",
  component: opened(() => import("./keys/keys.tsx"), "Keys"),
  validateSearch: (given: Given) =>
    present({
      find: textIn(given, "find"),
      show: wordIn(given, "show", ["revoked"]),
      make: wordIn(given, "make", ["key"]),
    }),
});

const key = createRoute({
  getParentRoute: () => root,
  path: "/keys/$id",
  component: opened(() => import("./keys/key.tsx"), "KeyPage"),
});

const requests = createRoute({
  getParentRoute: () => root,
  path: "/requests",
  component: opened(() => import("./requests/requests.tsx"), "Requests"),
  validateSearch: requestSearch,
});

const request = createRoute({
  getParentRoute: () => root,
  path: "/requests/$id",
  component: opened(() => import("./requests/request.tsx"), "RequestPage"),
});

const usage = createRoute({
  getParentRoute: () => root,
  path: "/usage",
  component: opened(() => import("./usage/usage.tsx"), "UsagePage"),
  validateSearch: (given: Given) =>
    present({
      days: daysIn(given),
      by: wordIn(given, "by", USAGE_GROUPS),
      and: wordIn(given, "and", USAGE_GROUPS),
      show: wordIn(given, "show", ["tokens", "requests"]),
    }),
});

const models = createRoute({
  getParentRoute: () => root,
  path: "/models",
  component: opened(() => import("./models/models.tsx"), "Models"),
  validateSearch: (given: Given) => present({ find: textIn(given, "find"), open: textIn(given, "open") }),
});

const playground = createRoute({
  getParentRoute: () => root,
  path: "/playground",
  component: opened(() => import("./playground/playground.tsx"), "Playground"),
  validateSearch: (given: Given) => present({ model: textIn(given, "model"), beside: textIn(given, "beside") }),
});

const billing = createRoute({
  getParentRoute: () => root,
  path: "/billing",
  component: opened(() => import("./billing/billing.tsx"), "Billing"),
  validateSearch: (given: Given) =>
    present({
      month: textIn(given, "month"),
      page: textIn(given, "page"),
      journal: wordIn(given, "journal", ["open"]),
      payments: textIn(given, "payments"),
      payment: textIn(given, "payment"),
      cancelled: wordIn(given, "cancelled", ["yes"]),
    }),
});

const docs = createRoute({
  getParentRoute: () => root,
  path: "/docs",
  component: opened(() => import("./docs/docs.tsx"), "Docs"),
  validateSearch: (given: Given) =>
    present({ about: textIn(given, "about"), model: textIn(given, "model"), key: textIn(given, "key") }),
});

const health = createRoute({
  getParentRoute: () => root,
  path: "/admin",
  component: opened(() => import("./admin/health.tsx"), "Health"),
});

const accounts = createRoute({
  getParentRoute: () => root,
  path: "/admin/accounts",
  component: opened(() => import("./admin/accounts.tsx"), "Accounts"),
  validateSearch: (given: Given) => present({ page: textIn(given, "page"), form: wordIn(given, "form", FORMS) }),
});

const account = createRoute({
  getParentRoute: () => root,
  path: "/admin/accounts/$id",
  component: opened(() => import("./admin/account.tsx"), "AccountPage"),
});

const accountSettings = createRoute({
  getParentRoute: () => root,
  path: "/account",
  component: opened(() => import("./account/account-settings.tsx"), "AccountSettingsPage"),
});

const plans = createRoute({
  getParentRoute: () => root,
  path: "/admin/plans",
  component: opened(() => import("./admin/plans.tsx"), "Plans"),
  validateSearch: (given: Given) => present({ form: wordIn(given, "form", FORMS) }),
});

const upstreams = createRoute({
  getParentRoute: () => root,
  path: "/admin/upstreams",
  component: opened(() => import("./admin/upstreams.tsx"), "Upstreams"),
  validateSearch: (given: Given) => present({ form: wordIn(given, "form", FORMS) }),
});

const ledger = createRoute({
  getParentRoute: () => root,
  path: "/admin/ledger",
  component: opened(() => import("./admin/ledger.tsx"), "Ledger"),
});

const nodes = createRoute({
  getParentRoute: () => root,
  path: "/admin/nodes",
  component: opened(() => import("./admin/nodes.tsx"), "Nodes"),
});

const members = createRoute({
  getParentRoute: () => root,
  path: "/members",
  component: opened(() => import("./members/members.tsx"), "Members"),
  validateSearch: (given: Given) => present({ page: textIn(given, "page"), form: wordIn(given, "form", FORMS) }),
});

const me = createRoute({
  getParentRoute: () => root,
  path: "/me",
  component: opened(() => import("./me/me.tsx"), "Me"),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitation",
  component: opened(() => import("./members/accept.tsx"), "Accept"),
});

const password = createRoute({
  getParentRoute: () => root,
  path: "/password",
  component: opened(() => import("./members/new-password.tsx"), "NewPassword"),
});

const cameBack = createRoute({
  getParentRoute: () => root,
  path: "/sign-in/$name",
  component: opened(() => import("./shell/came-back.tsx"), "CameBack"),
});

const alertSearch = (given: Given): AlertSearch =>
  present({ show: wordIn(given, "show", ["webhooks", "deliveries"]), page: textIn(given, "page") });

const alerts = createRoute({
  getParentRoute: () => root,
  path: "/alerts",
  component: opened(() => import("./alerts/alerts.tsx"), "Alerts"),
  validateSearch: alertSearch,
});

const operatorAlerts = createRoute({
  getParentRoute: () => root,
  path: "/admin/alerts",
  component: opened(() => import("./alerts/alerts.tsx"), "OperatorAlerts"),
  validateSearch: alertSearch,
});

const audit = createRoute({
  getParentRoute: () => root,
  path: "/audit",
  component: opened(() => import("./audit/audit.tsx"), "Audit"),
  validateSearch: auditSearch,
});

const operatorAudit = createRoute({
  getParentRoute: () => root,
  path: "/admin/audit",
  component: opened(() => import("./audit/audit.tsx"), "OperatorAudit"),
  validateSearch: auditSearch,
});

const people = createRoute({
  getParentRoute: () => root,
  path: "/admin/people",
  component: opened(() => import("./members/people.tsx"), "People"),
  validateSearch: (given: Given) => present({ page: textIn(given, "page") }),
});

const prices = createRoute({
  getParentRoute: () => root,
  path: "/admin/models",
  component: opened(() => import("./admin/prices.tsx"), "Prices"),
  validateSearch: (given: Given) => present({ form: wordIn(given, "form", FORMS) }),
});

const codes = createRoute({
  getParentRoute: () => root,
  path: "/admin/codes",
  component: opened(() => import("./codes/codes.tsx"), "Codes"),
  validateSearch: (given: Given) =>
    present({
      batch: textIn(given, "batch"),
      page: textIn(given, "page"),
      add: wordIn(given, "add", ["codes"]),
    }),
});

const cardPayments = createRoute({
  getParentRoute: () => root,
  path: "/admin/payments",
  component: opened(() => import("./admin/payments.tsx"), "CardPayments"),
  validateSearch: (given: Given) => present({ show: wordIn(given, "show", ["all"]), page: textIn(given, "page") }),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: "/admin/settings",
  component: opened(() => import("./admin/settings.tsx"), "SettingsPage"),
});

const tree = root.addChildren([
  overview,
  welcome,
  keys,
  key,
  requests,
  request,
  usage,
  models,
  playground,
  billing,
  docs,
  health,
  accounts,
  account,
  accountSettings,
  plans,
  upstreams,
  ledger,
  nodes,
  members,
  me,
  invitation,
  password,
  cameBack,
  alerts,
  operatorAlerts,
  audit,
  operatorAudit,
  people,
  prices,
  codes,
  cardPayments,
  settings,
]);

export const router = createRouter({
  routeTree: tree,
  basepath: "/console",
  defaultPreload: "intent",
  defaultErrorComponent: ({ error }) => <Problem error={error} what={words.errors.page} />,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
