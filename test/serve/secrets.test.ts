/** Each secret that a settings file holds stays out of all text that leaves, whatever it looks like. */
import { expect, test } from "vitest";
import { withoutSecrets } from "../../src/base/redaction.js";
import { protectEnvironment, protectSettings } from "../../src/serve/secrets.js";
import { parseSettings } from "../support/parse-settings.js";

const text = `
upstreams:
  open: { family: openai, base_url: "https://a.test", api_key: "plain words of an upstream" }
  parts: { family: openai, base_url: "https://b.test", api_key: "the first part:the second part" }
  short: { family: openai, base_url: "https://e.test", api_key: "the only long part:little" }
models:
  m: { targets: [{ upstream: open }], output_tokens_max: 100, price: free }
accounts:
  acme:
keys: [{ name: one, account: acme, secret: "sk-!plain.words.of.a.key.0123456789" }]
identity:
  oidc:
    corp:
      issuer: "https://c.test"
      client_id: us
      client_secret: "plain words of a client"
      new_people: { account: acme }
payments:
  stripe:
    secret_key: "sk_plain_words_of_a_seller"
    webhook_secret: "whsec_plain/words+of/a/signature="
    console_url: "https://d.test/console/"
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
  expect(secrets).toHaveLength(7);
  protectSettings(settings);
  // Right behind a letter no shape begins.
  for (const secret of [...secrets, "the first part", "the second part", "the only long part"])
    expect(withoutSecrets(`it said key${secret} was wrong`)).toBe("it said key[redacted] was wrong");
});

test.each(["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"])(
  "what %s sends with traces is known, and its names are none",
  (name) => {
    protectEnvironment({ [name]: `x-team=plain words of ${name},x-key=as%20an%20address%20says%20${name}` });
    expect(withoutSecrets(`x-team: plain words of ${name}; x-key: as an address says ${name}`)).toBe(
      "x-team: [redacted]; x-key: [redacted]",
    );
  },
);

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
