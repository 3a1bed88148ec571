/** The pages of docs/ as the console has them: every word, no markup of their own, and links that lead somewhere. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { blocksOf } from "../../console/docs-pages.mjs";

const names = readdirSync("docs")
  .filter((name) => name.endsWith(".md"))
  .map((name) => name.slice(0, -3));
const read = (name: string): ReturnType<typeof blocksOf> => blocksOf(readFileSync(`docs/${name}.md`, "utf8"), names);

/** Every text of a block, however deep. */
function textsIn(value: unknown): string {
  if (typeof value === "string") return `${value} `;
  if (Array.isArray(value)) return value.map(textsIn).join("");
  if (typeof value !== "object" || value === null) return "";
  return Object.entries(value)
    .filter(([name]) => !["kind", "id", "href", "page", "anchor", "lang"].includes(name))
    .map(([, each]) => textsIn(each))
    .join("");
}

const wordsIn = (text: string): readonly string[] => text.match(/[\p{L}\p{N}_]{3,}/gu) ?? [];

test.each(names)("%s has every word of its page", (name) => {
  const shown = new Set(wordsIn(textsIn(read(name))));
  const source = readFileSync(`docs/${name}.md`, "utf8")
    .replaceAll(/<!--[^]*?-->/g, "")
    .replaceAll(/\(\[[^\]]*\]\(decisions[^)]*\)[^()]*(?:\[[^\]]*\]\(decisions[^)]*\)[^()]*)*\)/g, "")
    .replaceAll(/\]\([^)]*\)/g, "]")
    .replaceAll(/^(?:# .*|```\w*)$/gm, "");
  expect(wordsIn(source).filter((word) => !shown.has(word))).toEqual([]);
});

test("a link leads to a page of the console or out, and what readers do not have is words alone", () => {
  const ours = "[keys](keys.md#accounts), [why](decisions/0087-x.md)";
  const text = `${ours}, [out](https://example.com), [here](#x), [js](javascript:x)`;
  expect(blocksOf(text, names)).toEqual([
    {
      kind: "text",
      text: [
        { kind: "link", page: "keys", anchor: "accounts", text: ["keys"] },
        ", ",
        "why",
        ", ",
        { kind: "out", href: "https://example.com", text: ["out"] },
        ", ",
        { kind: "link", page: "", anchor: "x", text: ["here"] },
        ", ",
        "js",
      ],
    },
  ]);
});

test("what is said of decisions alone is left out", () => {
  const text = "A limit ([90](decisions/0090-a.md), [95](decisions/0095-b.md)) holds ([decision 1](decisions/1.md)).";
  expect(blocksOf(text, names)).toEqual([{ kind: "text", text: ["A limit holds."] }]);
});

test("markup of a page is its words", () => {
  const text = "One <img src=x onerror=alert(1)> two\n\n<script>bad()</script>\n";
  expect(JSON.stringify(blocksOf(text, names))).not.toMatch(/"kind":"html"/);
});
