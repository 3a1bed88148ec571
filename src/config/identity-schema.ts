/** What a settings file may say of how people sign in. */
import { z } from "zod";
import type { IdentitySettings, IssuerSettings } from "./settings.js";
import { block, named, oneOf, orEmpty, reading, text } from "./values.js";

export const IDENTITY_IS = "Sign-in through OpenID Connect, in addition to passwords; see docs/sign-in.md";
const ISSUERS_MAX = 20;
const DOMAINS_MAX = 100;
/** On the own machine nobody is in between. */
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const DOMAIN = /^(?=.{1,253}$)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+$/;

const issuerUrl = reading(
  "must be an https:// address without user, query, or fragment, such as https://login.example.com; http:// is for" +
    " localhost alone",
  (value) => {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    if (url === undefined || url.username !== "" || url.password !== "" || /[?#\s\\]/.test(value)) return undefined;
    const isSafe = url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.test(url.hostname));
    return isSafe ? url.href : undefined;
  },
);
const domain = reading("must be a domain such as example.com, in lower case", (value) =>
  DOMAIN.test(value) ? value : undefined,
);
const DOMAINS_RULE = `must be a list of at most ${DOMAINS_MAX} domains, such as [example.com]`;
const accountId = reading("must be an account's id: 1 to 64 of a-z, 0-9, _, . and -", (value) =>
  /^[a-z0-9_.-]{1,64}$/.test(value) ? value : undefined,
);

const newPeople = block({
  account: accountId.describe("The account that they join, which must be in this file"),
  role: oneOf(["admin", "member", "viewer"] as const)
    .prefault("member")
    .describe("Their role in that account"),
});

const issuer = block({
  issuer: issuerUrl.describe("The issuer URL"),
  client_id: text(256).describe("The client id of this gateway at the issuer"),
  client_secret: text(4096, { secret: { isSent: true, unchangedBy: ["title", "email_domains", "new_people"] } })
    .optional()
    .describe("The client secret, best as `${VARIABLE}`; absent: the gateway is a public client"),
  title: text(64).optional().describe("The text of the sign-in button; default: the name"),
  email_domains: z
    .array(domain, DOMAINS_RULE)
    .max(DOMAINS_MAX, DOMAINS_RULE)
    .default([])
    .describe("The e-mail domains that may sign in; empty: all"),
  new_people: newPeople
    .optional()
    .describe(
      "The account for people who sign in without an invitation; absent: only known or invited people can sign in",
    ),
});

const ISSUERS_RULE = `must be at most ${ISSUERS_MAX} issuers`;

/** The block `identity`. */
export const identity = orEmpty(
  block({
    oidc: named(/^[a-z0-9][a-z0-9-]{0,31}$/, "must be named by 1 to 32 of a-z, 0-9 and -", issuer)
      .refine((issuers) => Object.keys(issuers).length <= ISSUERS_MAX, ISSUERS_RULE)
      .describe("OpenID Connect issuers, by names that you choose"),
  }),
).transform(({ oidc }): IdentitySettings => ({
  issuers: Object.entries(oidc).map(([name, said]): IssuerSettings => ({
    name,
    title: said.title ?? name,
    issuer: said.issuer,
    clientId: said.client_id,
    clientSecret: said.client_secret,
    emailDomains: said.email_domains,
    newPeople: said.new_people && { accountId: said.new_people.account, role: said.new_people.role },
  })),
}));
