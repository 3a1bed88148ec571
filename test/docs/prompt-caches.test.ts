/** The page on security says of every family what the families say of their caches. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { families } from "../../src/families/index.js";
import { PROMPT_CACHE_SETTINGS } from "../../src/wire/request/prompt-cache.js";

const PAGE = readFileSync(new URL("../../docs/security-model.md", import.meta.url), "utf8");
/** A row: families, what is so by itself, and what settings may say. */
const ROW = /^\| (`[^|]*) \| ([^|]*) \| ([^|]*) ?\|$/gm;

function namesIn(cell = ""): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
}

test("docs/security-model.md tells which caches are kept apart, and what settings may say of each", () => {
  const [, section = ""] = PAGE.split("## Caches of upstreams");
  const [table = ""] = section.split("## ");
  const told = new Map<string, { readonly itself: string; readonly settings: readonly string[] }>();
  for (const [, names, itself = "", said] of table.matchAll(ROW)) {
    const settings = namesIn(said).filter((name) => PROMPT_CACHE_SETTINGS.some((setting) => setting === name));
    for (const name of namesIn(names)) told.set(name, { itself, settings });
  }
  const remote = families.filter(({ connect }) => connect === undefined);
  expect([...told.keys()].sort()).toEqual(remote.map(({ name }) => name).sort());
  for (const { name, cacheMember, promptCaches = [] } of remote) {
    const { itself = "", settings } = told.get(name) ?? {};
    expect(settings, name).toEqual(promptCaches);
    expect(namesIn(itself), name).toEqual(expect.arrayContaining(cacheMember === undefined ? [] : [cacheMember]));
    if (cacheMember === undefined && name !== "mistral") expect(itself, name).toContain("**shared**");
  }
});
