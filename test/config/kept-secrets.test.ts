/** What people see of a settings file holds none of its secrets, and what they save has them again. */
import { fc } from "../support/seeds.js";
import { describe, expect, test } from "vitest";
import { hideSecrets, showSecrets } from "../../src/config/kept-secrets.js";

const FILE = `# Of a test.
x-credentials: &shared literal-of-an-anchor
upstreams:
  one: { family: openai, api_key: literal-in-a-row, base_url: "https://example.com" }
  two:
    family: openai
    api_key: "\${OPENAI_API_KEY}"
  three:
    family: openai
    api_key: *shared
  four:
    family: openai
    api_key: |-
      literal-of-a-block
    unknown_members: pass
keys:
  - { account: acme, secret: 'sk-literal-in-quotes' }
identity: { oidc: { corp: { client_secret: literal-of-a-client } } }
`;

test("each secret has words in its place, and variables stand as they are written", () => {
  const { text, secrets } = hideSecrets(FILE);
  expect(text).not.toContain("literal");
  expect(text).toContain('api_key: "${OPENAI_API_KEY}"');
  expect(text).toContain("api_key: *shared");
  expect(text).toContain('{ family: openai, api_key: "(kept secret 2)", base_url: "https://example.com" }');
  expect(secrets).toHaveLength(5);
  expect(text.replaceAll(/"\(kept secret \d\)"/g, "")).not.toContain("kept");
});

test("what is saved as it was shown is the file, to the byte", () => {
  const { text, secrets } = hideSecrets(FILE);
  expect(showSecrets(text, secrets)).toMatchObject({ text: FILE, unknown: [] });
});

test("a secret goes with its words, wherever they are moved, and words of no secret are told", () => {
  const { secrets } = hideSecrets(FILE);
  const moved = 'keys:\n  - { secret: "(kept secret 4)" }\n  - { secret: (kept secret 9) }\n';
  const { text, unknown } = showSecrets(moved, secrets);
  expect(text).toContain("- { secret: 'sk-literal-in-quotes' }");
  expect(unknown).toEqual([{ offset: moved.indexOf("(kept secret 9)"), words: "(kept secret 9)" }]);
});

test("a place of the whole text is found in the one that people have", () => {
  const { text, secrets } = hideSecrets(FILE);
  const { hiddenOffset } = showSecrets(text, secrets);
  for (const words of ["base_url", "unknown_members", "keys:", "account: acme"])
    expect(hiddenOffset(FILE.indexOf(words)), words).toBe(text.indexOf(words));
  // Within a secret it is where its words begin.
  expect(hiddenOffset(FILE.indexOf("in-a-row"))).toBe(text.indexOf('"(kept secret 2)"'));
});

describe("whatever a file says,", () => {
  const secret = fc.stringMatching(/^[a-z0-9]{8,20}Z$/);
  const value = fc.tuple(secret, fc.constantFrom("plain", "double", "single", "block")).map(([text, how]) => {
    const written = { plain: text, double: `"${text}"`, single: `'${text}'`, block: `|\n      ${text}` }[how];
    return { text, written };
  });
  const file = fc
    .array(fc.tuple(fc.constantFrom("api_key", "secret"), value), { minLength: 1, maxLength: 6 })
    .map((places) => ({
      text: places.map(([name, { written }], at) => `  u${at}:\n    ${name}: ${written}\n    family: sim\n`).join(""),
      secrets: places.map(([, { text }]) => text),
    }));

  test("it comes back as it was, and shows none of them", () => {
    fc.assert(
      fc.property(file, ({ text, secrets }) => {
        const whole = `upstreams:\n${text}`;
        const hidden = hideSecrets(whole);
        for (const one of secrets) expect(hidden.text).not.toContain(one);
        expect(showSecrets(hidden.text, hidden.secrets).text).toBe(whole);
      }),
      { numRuns: 300 },
    );
  });

  test("a text that is no YAML is taken as far as it can be read, and never fails", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const { text: hidden, secrets } = hideSecrets(text);
        showSecrets(hidden, secrets);
      }),
      { numRuns: 500 },
    );
  });
});
