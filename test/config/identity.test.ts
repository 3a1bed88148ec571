/** The settings of how people sign in, and the line and column of each thing that is wrong there. */
import { describe, expect, test } from "vitest";
import { ConfigError } from "../../src/config/config-error.js";
import { parseSettings } from "../support/parse-settings.js";
import { hideSecrets } from "../../src/config/kept-secrets.js";

const ENV = { CORP_SECRET: "a secret of a client" };
const WHOLE = `accounts: { acme: {} }
identity:
  oidc:
    corp:
      issuer: https://login.example.com/realms/corp
      client_id: tollgate
      client_secret: "\${CORP_SECRET}"
      title: Corp
      email_domains: [example.com, example.org]
      new_people: { account: acme }
    local: { issuer: "http://localhost:4000", client_id: t }
`;

test("the issuers of a file, in their order", () => {
  expect(parseSettings(WHOLE, ENV).identity.issuers).toEqual([
    {
      name: "corp",
      title: "Corp",
      issuer: "https://login.example.com/realms/corp",
      clientId: "tollgate",
      clientSecret: ENV.CORP_SECRET,
      emailDomains: ["example.com", "example.org"],
      newPeople: { accountId: "acme", role: "member" },
    },
    {
      name: "local",
      title: "local",
      issuer: "http://localhost:4000/",
      clientId: "t",
      clientSecret: undefined,
      emailDomains: [],
      newPeople: undefined,
    },
  ]);
});

test("the secret of a client is not shown to who edits the file", () => {
  expect(hideSecrets("identity: { oidc: { a: { client_secret: literal } } }").text).not.toContain("literal");
});

/** The problems of a file with one issuer. */
function problemsOf(issuer: string): readonly string[] {
  try {
    parseSettings(`accounts: { acme: {} }\nidentity:\n  oidc:\n    corp: ${issuer}\n`, {}, { fileName: "f" });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
  }
  return [];
}

const ADDRESS = "must be an https:// address without user, query, or fragment";
const AT = "f:4:21 identity.oidc.corp.issuer: ";

describe("what is refused", () => {
  test.each([
    ["http://login.example.com", "plain HTTP over the network"],
    ["http://localhost.evil.example", "a name that only begins like the own machine"],
    ["http://127.0.0.1.evil.example", "an address that only begins so"],
    ["http://10.0.0.1", "a private network"],
    ["https://user:word@login.example.com", "a user"],
    ["https://login.example.com/?tenant=x", "a query"],
    ["https://login.example.com/#x", "a fragment"],
    ["javascript:alert(1)", "a script"],
    ["login.example.com", "no scheme"],
  ])("%s: %s", (address) => {
    expect(problemsOf(`{ issuer: "${address}", client_id: t }`)).toEqual([expect.stringContaining(AT + ADDRESS)]);
  });

  test.each(["http://localhost:1", "http://127.0.0.2", "http://[::1]:4000/x"])("%s is taken", (address) => {
    expect(problemsOf(`{ issuer: "${address}", client_id: t }`)).toEqual([]);
  });

  const issuer = 'issuer: "https://a.example", client_id: t';
  test.each([
    { text: "{ client_id: t }", want: "f:4:5 identity.oidc.corp.issuer: is missing" },
    { text: '{ issuer: "https://a.example" }', want: "f:4:5 identity.oidc.corp.client_id: is missing" },
    { text: `{ ${issuer}, email_domains: [Example.com] }`, want: "email_domains[0]: must be a domain" },
    { text: `{ ${issuer}, email_domains: ["*"] }`, want: "email_domains[0]: must be a domain" },
    { text: `{ ${issuer}, new_people: { account: acne } }`, want: 'did you mean "acme"?' },
    { text: `{ ${issuer}, new_people: { account: acme, role: owner } }`, want: "role: must be one of admin" },
    { text: `{ ${issuer}, secret: x }`, want: "secret: is not known here" },
    { text: `{ ${issuer} }\n    other: { ${issuer} }`, want: "must differ from the issuer of identity.oidc.corp" },
    { text: `{ ${issuer} }\n    Other: { ${issuer} }`, want: "must be named by 1 to 32" },
  ])("$text", ({ text, want }) => {
    expect(problemsOf(text).join("\n")).toContain(want);
  });
});
