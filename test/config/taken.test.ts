/** What a settings text that is edited over the API may take from the environment and from the file before it. */
import { describe, expect, test } from "vitest";
import { hideSecrets, showSecrets } from "../../src/config/kept-secrets.js";
import { SECRET_FIELDS } from "../../src/config/secret-fields.js";
import { takenRefusal } from "../../src/config/taken.js";
import { families } from "../../src/families/index.js";
import { settingKeys } from "../support/configuration-page.js";

/** What the check says of a text that a person made of the file as it is shown. */
function problemsOf(before: string, edit: (shown: string) => string, sources: readonly string[] = []) {
  const { text: shown, secrets } = hideSecrets(before);
  const { text, kept, unknown } = showSecrets(edit(shown), secrets);
  expect(unknown).toEqual([]);
  const whole = { text: before, kept: new Map(secrets.map((secret) => [secret.start, secret])) };
  return takenRefusal({ text, kept }, whole, { families, sources }, "f")?.problems ?? [];
}

type Parts = readonly string[];
/** A text with a value at a path; `*` is a name of a block, `[]` an entry of a list. */
function textWith(path: Parts, value: unknown): string {
  return JSON.stringify(path.toReversed().reduce((at, part) => (part === "[]" ? [at] : { [part]: at }), value));
}
const KEYS = settingKeys().map(({ path }) => path.replaceAll("[]", ".[]").replaceAll("<name>", "*").split("."));
const pathOf = (pattern: Parts): Parts => (pattern[0] === "keys" ? ["keys", "[]", ...pattern.slice(2)] : pattern);
const isSecret = (path: Parts): boolean => SECRET_FIELDS.some(({ pattern }) => pathOf(pattern).join() === path.join());
const LEAVES = KEYS.filter(
  (key) => !KEYS.some((other) => other.length > key.length && other.join().startsWith(`${key.join()},`)),
);

test("the schema marks its secrets, and every other field is plain", () => {
  expect(SECRET_FIELDS.map(({ pattern }) => pattern.join(".")).toSorted()).toEqual([
    "identity.oidc.*.client_secret",
    "keys.*.secret",
    "payments.stripe.secret_key",
    "payments.stripe.webhook_secret",
    "upstreams.*.api_key",
    "upstreams.*.headers",
  ]);
  expect(LEAVES.filter(isSecret)).toHaveLength(SECRET_FIELDS.length);
  expect(LEAVES.length).toBeGreaterThan(80);
});

describe.each(LEAVES.map((path) => ({ name: path.join("."), path })))("$name", ({ path }) => {
  const text = textWith(path, "a ${DATABASE_PASSWORD}");

  test("takes no variable that nobody allows", () => {
    expect(problemsOf("upstreams: {}", () => text)).not.toEqual([]);
    expect(problemsOf("upstreams: {}", () => textWith(path, "a $${DATABASE_PASSWORD}"))).toEqual([]);
  });

  test("takes an allowed variable where it is a secret", () => {
    expect(problemsOf("upstreams: {}", () => text, ["env:DATABASE_"]).length === 0).toBe(isSecret(path));
  });

  test("keeps what the file takes already", () => {
    expect(problemsOf(text, (shown) => shown)).toEqual([]);
  });
});

const BLOCKS = SECRET_FIELDS.flatMap(({ pattern, mark }) => {
  const path = pathOf(pattern);
  const block = path.slice(0, -1);
  const [name = ""] = path.slice(-1);
  const siblings = KEYS.filter((key) => key.length === path.length && key.slice(0, -1).join() === block.join());
  const unchangedBy = mark.isSent ? mark.unchangedBy : siblings.flatMap((key) => key.slice(-1));
  return siblings.flatMap((key) => {
    const [sibling = ""] = key.slice(-1);
    const decides = !unchangedBy.includes(sibling);
    return isSecret(key) ? [] : [{ where: path.join("."), block, name, sibling, decides }];
  });
});

describe.each(BLOCKS)("the secret $where beside $sibling", ({ block, name, sibling, decides }) => {
  const said = (value: unknown, secret: string) =>
    textWith(block, { [name]: secret, ...(value === undefined ? {} : { [sibling]: value }) });
  test.each([
    { change: "another", before: "https://one.example", after: "https://two.example" },
    { change: "one more", before: undefined, after: "https://two.example" },
    { change: "one less", before: "https://one.example", after: undefined },
  ])("$change decides whether it must be typed anew", ({ before, after }) => {
    for (const secret of ["sk-literal-0123456789", "${VENDOR_KEY}"]) {
      const [kept = secret] = /\(kept secret 1\)/.exec(hideSecrets(said(before, secret)).text) ?? [];
      const problems = problemsOf(said(before, secret), () => said(after, kept));
      expect(problems, secret).toHaveLength(decides ? 1 : 0);
    }
    // Typed anew it is the person's own.
    expect(problemsOf(said(before, "sk-literal-0123456789"), () => said(after, "sk-literal-0123456789"))).toEqual([]);
  });
});

const FILE = `x-shared: &shared literal-of-an-anchor
x-block: &block { family: openai, api_key: literal-of-a-block, base_url: "https://merged.example" }
upstreams:
  one: { family: openai, api_key: literal-one, base_url: "https://one.example" }
  two: { family: openai, api_key: *shared, base_url: "https://two.example" }
  three: { <<: *block }
  four: { family: openai, api_key: "\${OPENAI_API_KEY}" }
  five: { family: vertex, base_url: "https://five.example" }
  six: { family: vertex, api_key: /run/secrets/google.json, base_url: "https://six.example" }
accounts: { acme: { name: "\${ACCOUNT_NAME}" } }
payments: { stripe: { secret_key: sk_literal, webhook_secret: whsec_literal } }
keys:
  - { account: acme, secret: sk-literal-of-a-key-1, name: first }
  - { account: acme, secret: sk-literal-of-a-key-2, name: second }
`;
const VERTEX = 'upstreams:\n  new: { family: vertex, base_url: "https://evil.example"';

test.each([
  { name: "nothing", edit: (text: string) => text },
  { name: "a plain value", edit: (text: string) => text.replace("first", "third") },
  { name: "an upstream's name", edit: (text: string) => text.replace("one:", "renamed:") },
  { name: "the order of keys", edit: (text: string) => text.replace(/( {2}- .*\n)( {2}- .*\n)/, "$2$1") },
  { name: "a secret that is typed anew", edit: (text: string) => text.replace('"(kept secret 3)"', "typed-anew") },
  {
    name: "an address and its secret",
    edit: (text: string) => text.replace('"(kept secret 3)"', "typed").replace("one.example", "new.example"),
  },
  {
    name: "another model with a key in JSON",
    edit: (text: string) => text.replace("upstreams:\n", `${VERTEX}, api_key: '{"type":"service_account"}' }\n`),
  },
])("$name may be changed", ({ edit }) => {
  expect(problemsOf(FILE, edit)).toEqual([]);
});

test.each([
  {
    name: "the address of a secret",
    from: "one.example",
    to: "evil.example",
    says: "4:35 upstreams.one.api_key: is kept",
  },
  { name: "its port", from: "one.example", to: "one.example:8443", says: "upstreams.one.api_key: is kept" },
  {
    name: "its path, which tells tenants of a host apart",
    from: "one.example",
    to: "one.example/evil",
    says: "is kept",
  },
  { name: "the address of an alias", from: "two.example", to: "evil.example", says: "upstreams.two.api_key: is kept" },
  { name: "a merged address", from: "merged.example", to: "evil.example", says: "upstreams.three.api_key: is kept" },
  {
    name: "an address beside a merge",
    from: "<<: *block",
    to: "<<: *block, base_url: https://evil.example",
    says: "three.api_key: is kept",
  },
  {
    name: "an address where there was none",
    from: '}" }',
    to: '}", base_url: "https://evil.example" }',
    says: "takes OPENAI_API_KEY",
  },
  { name: "the family", from: "one: { family: openai", to: "one: { family: groq", says: "one.api_key: is kept" },
  {
    name: "the address of the machine's identity",
    from: "five.example",
    to: "evil.example",
    says: "upstreams.five.api_key: is missing",
  },
  {
    name: "a secret to another block",
    from: '"(kept secret 3)"',
    to: '"(kept secret 5)"',
    says: "upstreams.one.api_key: is kept",
  },
  { name: "the secret of a key to an upstream", from: '"(kept secret 3)"', to: '"(kept secret 7)"', says: "is kept" },
  {
    name: "a secret to a plain field",
    from: '"${ACCOUNT_NAME}"',
    to: '&a x }, b: { secret: &b "(kept secret 3)" }, c: { name: *b',
    says: "accounts.c.name: is kept",
  },
  {
    name: "the alias of a secret to a plain field",
    from: '"${ACCOUNT_NAME}"',
    to: "*shared",
    says: "accounts.acme.name: is kept",
  },
  {
    name: "a variable of a secret to a plain field",
    from: "${ACCOUNT_NAME}",
    to: "${OPENAI_API_KEY}",
    says: "accounts.acme.name: takes",
  },
  {
    name: "a variable to another plain field",
    from: "name: first",
    to: 'name: "${ACCOUNT_NAME}"',
    says: "keys[0].name: takes",
  },
  {
    name: "a variable to a block of the reader's own, whose problem would say whether it is set",
    from: "&shared",
    to: 'a\nx-more: "${PATH}"\nx-moved: &shared',
    says: "x-more: takes",
  },
  {
    name: "an anchor with a variable used",
    from: '"${ACCOUNT_NAME}"',
    to: '"${ACCOUNT_NAME}" }, b: { name: &n "${PATH}"',
    says: "accounts.b.name: takes",
  },
  {
    name: "the gateway's own variable",
    from: '"(kept secret 3)"',
    to: '"${TOLLGATE_SECRET}"',
    says: "must not take TOLLGATE_SECRET",
  },
  { name: "another file as a key", from: '"(kept secret 4)"', to: "/etc/passwd", says: "must be the key itself" },
  { name: "the address of a key's file", from: "six.example", to: "evil.example", says: "six.api_key: is kept" },
  {
    name: "one more machine's identity",
    from: "upstreams:\n",
    to: `${VERTEX} }\n`,
    says: "upstreams.new.api_key: is missing",
  },
])("$name cannot be changed", ({ from, to, says }) => {
  expect(hideSecrets(FILE).text).toContain(from);
  const problems = problemsOf(FILE, (text) => text.replace(from, () => to), ["env:TOLLGATE_"]);
  expect(problems.length).toBeGreaterThan(0);
  expect(problems.join("\n")).toContain(says);
});

test("a kept secret that would be read as another value is refused", () => {
  const before = "upstreams:\n  one:\n    api_key: one, two\n    base_url: https://one.example\n";
  const after = "upstreams: { one: { api_key: (kept secret 1), base_url: https://one.example } }\n";
  expect(problemsOf(before, () => after)).toContain(
    "f:1:1 has a kept secret where none can be read: write the secret itself",
  );
});
