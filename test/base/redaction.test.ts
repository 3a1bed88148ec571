/** No credential leaves the process in text: neither in a line of the log nor in what a client reads. */
import { beforeAll, describe, expect, test } from "vitest";
import { protectSecrets, SHAPES, withoutSecrets } from "../../src/base/redaction.js";
import { redacted } from "../../src/wire/error/redact.js";
import { pick, randomOf } from "../support/random.js";

const SECRET_TEXT = "A1b2C3d4E5f6G7h8";

/** A credential of each shape, split so that nobody takes this file for a leak. */
const CREDENTIALS: Readonly<Record<string, readonly string[]>> = {
  "a private key": [`-----BEGIN RSA PRIVATE KEY-----\n${SECRET_TEXT}\n-----END RSA PRIVATE KEY-----`],
  "a key with a prefix": ["sk-", "sk-proj-", "sk-ant-api03-", "sk_live_", "pk-", "rk_live_", "gsk_", "hf_", "r8_"]
    .concat("xai-", "nvapi-", "pplx-", "fw_", "tgp_v1_", "csk-", "whsec_")
    .map((prefix) => prefix + SECRET_TEXT),
  "an access key of Amazon": [`AKIA${SECRET_TEXT.toUpperCase()}`, `ASIA${SECRET_TEXT.toUpperCase()}`],
  "a key of Google": [`AIza${SECRET_TEXT}${SECRET_TEXT}`],
  "a token of Google": [`ya29.${SECRET_TEXT}-x_y.z`],
  "a token of GitHub": [`ghp_${SECRET_TEXT}${SECRET_TEXT}`, `github_pat_${SECRET_TEXT}`],
  "a token of Slack": [`xoxb-${SECRET_TEXT}`],
  "a JSON Web Token": [`eyJhbGciOiJI${SECRET_TEXT}.eyJzdWIi.${SECRET_TEXT}`],
  "a header's credential": [`Bearer ${SECRET_TEXT}`, `basic ${SECRET_TEXT}==`],
  "an address's credential": [`https://user:${SECRET_TEXT}@example.com/x`],
  "a query's credential": [`/x?key=${SECRET_TEXT}`, `/x?a=1&X-Amz-Signature=${SECRET_TEXT}`],
};

const EVERY_CREDENTIAL = Object.entries(CREDENTIALS).flatMap(([name, list]) =>
  list.map((text) => [name, text] as const),
);

test("every shape of a credential is tried", () => {
  expect(Object.keys(CREDENTIALS).toSorted()).toEqual(Object.keys(SHAPES).toSorted());
});

test.each(EVERY_CREDENTIAL)("%s appears neither in the log nor in an error: %s", (_name, credential) => {
  for (const sentence of [`it said ${credential} is wrong`, `{"key":"${credential}"}`, `('${credential}')`]) {
    for (const clean of [withoutSecrets(sentence), withoutSecrets(JSON.stringify(sentence)), redacted(sentence)]) {
      expect(clean.toLowerCase()).not.toContain(SECRET_TEXT.toLowerCase());
      expect(clean).toContain("[redacted]");
    }
  }
});

test.each([
  ["plain", "correct horse battery staple"],
  ["with signs that JSON escapes", 'pass"word\\with\nsigns'],
  ["with signs of an expression", "a+b*c?(d)[e]{f}|g^h$.-/"],
  ["with signs that an address escapes", "päss wörd&more=1"],
])("a configured secret %s leaves in none of its forms", (_name, secret) => {
  protectSecrets([secret]);
  for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]) {
    expect(withoutSecrets(`before ${form} after`)).toBe("before [redacted] after");
    expect(redacted(`before ${form} after`)).toBe("before [redacted] after");
  }
});

/** Secrets as they are made, from a fixed seed: each has signs of its kind alone. */
const ALPHABETS: Readonly<Record<string, { readonly signs: string; readonly length: number }>> = {
  "in letters and digits": { signs: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", length: 40 },
  "of Amazon's": { signs: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/+", length: 40 },
  "in hex": { signs: "0123456789abcdef", length: 32 },
  "with all signs": { signs: Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).join(""), length: 24 },
  "beyond ASCII": { signs: "äöüßéñ€漢字1234aBcD", length: 16 },
};
const escapeAll = (text: string, escape: (code: number) => string): string =>
  Array.from({ length: text.length }, (_, at) => escape(text.charCodeAt(at))).join("");
const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");
const inPercent = (text: string): string => Array.from(Buffer.from(text), (byte) => `%${hex(byte, 2)}`).join("");
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
/** Each hides all of a secret, and is found whole. */
const ENCODINGS: Readonly<Record<string, (secret: string) => string>> = {
  "as it is": (secret) => secret,
  "in capitals": (secret) => secret.replaceAll(/[a-z]/g, (sign) => sign.toUpperCase()),
  "in small letters": (secret) => secret.toLowerCase(),
  "in an address": encodeURIComponent,
  "in percent": inPercent,
  "in capital percent": (secret) => inPercent(secret).toUpperCase(),
  "in an address in an address": (secret) => encodeURIComponent(encodeURIComponent(secret)),
  "in JSON": inJson,
  "in JSON in JSON": (secret) => inJson(inJson(secret)),
  "in JSON in an address": (secret) => encodeURIComponent(inJson(secret)),
  "in JSON with escaped slashes": (secret) => inJson(secret).replaceAll("/", "\\/"),
  "in numbers of JSON": (secret) => escapeAll(secret, (code) => `\\u${hex(code, 4)}`),
  "in hex": (secret) => Buffer.from(secret).toString("hex"),
  "in capital hex": (secret) => Buffer.from(secret).toString("hex").toUpperCase(),
};

describe.each(Object.entries(ALPHABETS))("a configured secret %s", (_kind, { signs, length }) => {
  const random = randomOf(7);
  const secrets = Array.from({ length: 40 }, () =>
    Array.from({ length }, () => pick(random, Array.from(signs))).join(""),
  );
  beforeAll(() => protectSecrets(secrets));

  test.each(Object.entries(ENCODINGS))("does not leave %s", (_name, encode) => {
    for (const secret of secrets)
      for (const clean of [
        withoutSecrets(`before ${encode(secret)} after`),
        redacted(`before ${encode(secret)} after`),
      ])
        expect(clean).toBe("before [redacted] after");
  });

  test.each(["base64", "base64url"] as const)("does not leave in %s, whatever stands before it", (encoding) => {
    for (const secret of secrets)
      for (const before of ["", "u", "u:", "user:"]) {
        const form = Buffer.from(`${before}${secret}`).toString(encoding);
        // What the signs at both ends hold is shared with what stands there.
        for (const clean of [withoutSecrets(form), withoutSecrets(encodeURIComponent(form)), redacted(form)]) {
          const left = Buffer.from(clean.replaceAll("[redacted]", ""), "base64").length - before.length;
          expect(left, clean).toBeLessThanOrEqual(6);
        }
      }
  });

  test("leaves neither its beginning nor its end", () => {
    for (const secret of secrets)
      for (let count = 16; count < secret.length; count += 1)
        for (const part of [secret.slice(0, count), secret.slice(-count)])
          for (const form of [part, part.toUpperCase(), encodeURIComponent(part), inJson(part)])
            expect(withoutSecrets(`it ends in ...${form}`), form).toContain("[redacted]");
  });
});

test("words of a configured secret stay where they stand alone", () => {
  protectSecrets(["the-upstream-password-of-staging-7"]);
  const words = "the upstream password of staging is wrong: upstream-password";
  expect(withoutSecrets(words)).toBe(words);
});

test.each(["sk-tg12...34", "sk-pr...89", "sk-..."])(
  "the hint of a key stays in the log, but tells no client: %s",
  (hint) => {
    for (const line of [`{"key_hint":"${hint}"}`, `key ${hint}, which is unknown`]) {
      expect(withoutSecrets(line)).toBe(line);
      expect(redacted(line)).not.toContain(hint);
    }
    expect(withoutSecrets(`${hint}${SECRET_TEXT}`)).not.toContain(SECRET_TEXT);
  },
);

test.each([
  ["a secret of Amazon's", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"],
  ["a key in hex", "0f1e2d3c4b5a69788796a5b4c3d2e1f0"],
  ["a key in capital hex", "0F1E2D3C4B5A69788796A5B4C3D2E1F00F1E2D3C4B5A69788796A5B4C3D2E1F0"],
])("an upstream's words tell a client nothing of %s", (_name, secret) => {
  for (const words of [`key ${secret} is wrong`, `{"key":"${secret}"}`, `key=${secret}.`])
    expect(redacted(words)).toBe(words.replace(secret, "[redacted]"));
});

/** What may stand right before a secret: a shape begins where a word does. */
const BEFORE = ["a", "7", "_", "\\n", "%20", "%0A", "=", "key", "é"];

test.each(EVERY_CREDENTIAL.map(([name, text]) => [name, text.replaceAll("A1b2", "Z9y8")] as const))(
  "%s that is configured leaves in none of its forms, whatever stands beside it: %s",
  (_name, secret) => {
    protectSecrets([secret]);
    const part = SECRET_TEXT.slice(4).toLowerCase();
    for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
      for (const before of BEFORE) expect(withoutSecrets(`${before}${form} after`).toLowerCase()).not.toContain(part);
  },
);

test("a configured secret that begins another hides the whole of it", () => {
  protectSecrets(["opensesame", "opensesame-and-more"]);
  expect(withoutSecrets("opensesame-and-more")).toBe("[redacted]");
});

test("what is too short to be a secret does not blind the log", () => {
  protectSecrets(["info", "", undefined]);
  expect(withoutSecrets("info about it")).toBe("info about it");
});

test.each([
  ["a host with a port", "connect to vllm-0:8000 failed"],
  ["a name of a cluster", "vllm.models.svc.cluster.local is away"],
  ["an address", "see grpc://10.0.0.8:50051/x and http://[::1]:80/y"],
  ["an IPv6 address", "dial [2001:db8::8a2e:370:7334]:8080"],
  ["an IPv6 address without a port", "dial [2001:db8::8a2e:370:7334], twice"],
  ["a whole IPv6 address", "dial 2001:db8:0:0:8a2e:370:7334:1 failed"],
  ["an IPv6 address with a zone", "dial [fe80::db8%eth0]:8080"],
  ["an IPv6 address of version 4", "dial [::ffff:10.0.0.8]:8080"],
  ["the machine itself in IPv6", "dial [::1]:8080"],
  ["the machine itself in IPv6 alone", "dial ::1 failed"],
  ["a path of a file", 'File "/srv/app/vllm/engine/llm.py", line 3'],
  ["a path of Windows", "C:\\models\\secret\\x.bin is missing"],
  ["a resource of Amazon", "no access to arn:aws:bedrock:eu-west-1:123456789012:model/x"],
])("an upstream's words tell a client no place: %s", (_name, words) => {
  expect(redacted(words)).toContain("[redacted]");
  expect(redacted(words)).not.toMatch(
    /vllm-0|cluster|10\.0|db8|7334|fe80|eth0|ffff|::1|8080|srv|models\\|123456789012/,
  );
});

test.each([
  "messages.0.content: Input should be a valid list",
  "tools[0].function.parameters: type must be object, and/or null",
  "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages).",
  "max_tokens: 100000 > 8192, which is the maximum allowed for claude-sonnet-4-5",
  "temperature must be between 0 and 1 (see line 3: column 5)",
])("what helps a client stays: %s", (words) => {
  expect(redacted(words)).toBe(words);
  expect(withoutSecrets(words)).toBe(words);
});

test("a configured file of a credential hides its values, and leaves the JSON of a line whole", () => {
  const key = "zQ7".repeat(20);
  const file = {
    type: "service_account",
    project_id: "acme",
    account: "x",
    private_key: key,
    token_uri: "https://a.b/c",
  };
  protectSecrets([JSON.stringify(file), JSON.stringify(file, null, 2)]);
  const line = JSON.stringify({
    account: "acme",
    key: "key_1",
    type: "service_account",
    said: key,
    part: key.slice(9, 30),
  });
  const clean = JSON.parse(withoutSecrets(line)) as object;
  const own = { account: "acme", key: "key_1", type: "service_account" };
  expect(clean).toEqual({ ...own, said: "[redacted]", part: "[redacted]" });
});
