/** A settings text takes the time of its length, whatever its aliases and merges are. */
import { expect, test } from "vitest";
import { hideSecrets } from "../../src/config/kept-secrets.js";
import { readDocument } from "../../src/config/yaml-document.js";

const CPU_US_MAX = 5_000_000;
const list = (item: string, count: number): string => `[${Array.from({ length: count }, () => item).join(", ")}]`;
const names = Array.from({ length: 5_000 }, (_, place) => `k${place}: x`).join(", ");

test.each([
  { name: "aliases", text: `a: &a sk-0123456789abcdef\nb: ${list("*a", 20_000)}` },
  { name: "secrets that are aliases", text: `a: &a sk-0123456789abcdef\nb: ${list("{ api_key: *a }", 10_000)}` },
  { name: "merges of the same names", text: `a: &a { ${names} }\nb: { <<: ${list("*a", 8_000)} }` },
  { name: "aliases of what merges", text: `a: &a { ${names} }\nc: &c { <<: *a }\nb: ${list("*c", 8_000)}` },
])("$name hold the loop for no longer than their text", ({ text }) => {
  const before = process.cpuUsage();
  readDocument(text, (value) => value);
  hideSecrets(text);
  const { user, system } = process.cpuUsage(before);
  expect(user + system).toBeLessThan(CPU_US_MAX);
});
