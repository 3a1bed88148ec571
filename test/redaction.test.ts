/** No credential leaves the process in text: neither in a line of the log nor in what a client reads. */
import { expect, test } from "vitest";
import { protectSecrets, SHAPES, withoutSecrets } from "../src/redaction.js";
import { redacted } from "../src/wire/error/redact.js";

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
  ["a path of a file", 'File "/srv/app/vllm/engine/llm.py", line 3'],
  ["a path of Windows", "C:\\models\\secret\\x.bin is missing"],
  ["a resource of Amazon", "no access to arn:aws:bedrock:eu-west-1:123456789012:model/x"],
])("an upstream's words tell a client no place: %s", (_name, words) => {
  expect(redacted(words)).toContain("[redacted]");
  expect(redacted(words)).not.toMatch(/vllm-0|cluster|10\.0|db8|srv|models\\|123456789012/);
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
