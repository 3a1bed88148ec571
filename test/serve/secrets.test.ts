/** Each secret that a settings file holds stays out of all text that leaves, whatever it looks like. */
import { expect, test } from "vitest";
import { withoutSecrets } from "../../src/redaction.js";
import { protectEnvironment, protectSettings } from "../../src/serve/secrets.js";
import { parseSettings } from "../support/parse-settings.js";

const text = `
upstreams:
  open: { family: openai, base_url: "https://a.test", api_key: "plain words of an upstream" }
  parts: { family: openai, base_url: "https://b.test", api_key: "the first part:the second part" }
models:
  m: { targets: [{ upstream: open }], output_tokens_max: 100, price: free }
accounts:
  acme:
keys: [{ name: one, account: acme, secret: "sk-!plain.words.of.a.key.0123456789" }]
`;

const SECRET_NAME = /secret|key$|password|token$/i;

/** Texts in the settings by whose names they are secret. */
function* secretsIn(value: unknown, name = ""): Iterable<string> {
  if (typeof value === "string" && SECRET_NAME.test(name)) yield value;
  else if (Array.isArray(value)) for (const item of value) yield* secretsIn(item, name);
  else if (typeof value === "object" && value !== null)
    for (const [key, inner] of Object.entries(value)) yield* secretsIn(inner, key);
}

test("each secret of a settings file is known", () => {
  const settings = parseSettings(text, {});
  const secrets = [...secretsIn(settings)];
  expect(secrets.length).toBeGreaterThanOrEqual(3);
  protectSettings(settings);
  for (const secret of [...secrets, "the first part", "the second part"])
    expect(withoutSecrets(`it said ${secret} was wrong`)).not.toContain(secret);
});

test.each(["TOLLGATE_SECRET", "OPENAI_API_KEY", "DB_PASSWORD", "SMTP_PASS", "X_TOKEN", "AWS_CREDENTIALS"])(
  "the environment's %s is known",
  (name) => {
    const secret = `plain words of ${name.toLowerCase()}`;
    protectEnvironment({ [name]: secret, OTHER_NAME: "what anybody may read" });
    expect(withoutSecrets(`it said ${secret}, and what anybody may read`)).toBe(
      "it said [redacted], and what anybody may read",
    );
  },
);
