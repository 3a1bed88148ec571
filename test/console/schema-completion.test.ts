/** What the editor of the settings file proposes, by the schema that editors get. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { placeAt, proposals, type Schema } from "../../console/admin/schema-completion.js";

const schema: Schema = JSON.parse(readFileSync("schemas/tollgate.schema.json", "utf8"));

/** At the | of a text. */
function proposedIn(text: string): readonly string[] {
  const lines = text.split("\n");
  const row = lines.findIndex((line) => line.includes("|"));
  const place = placeAt(lines, row, lines[row]?.indexOf("|") ?? 0);
  return place === undefined ? [] : proposals(schema, place).map(({ word }) => word);
}

describe("it proposes", () => {
  test.each([
    { what: "the blocks of the file", text: "mo|", has: ["models", "upstreams"], lacks: "targets" },
    {
      what: "the fields of an upstream",
      text: "upstreams:\n  eu:\n    |",
      has: ["family", "api_key"],
      lacks: "models",
    },
    { what: "the families", text: "upstreams:\n  eu:\n    family: open|", has: ["openai", "ollama"], lacks: "family" },
    {
      what: "the fields of a target that begins",
      text: "models:\n  fast:\n    targets:\n      - |",
      has: ["upstream", "weight"],
      lacks: "targets",
    },
    {
      what: "the fields of a target that goes on",
      text: "models:\n  fast:\n    # first\n    targets:\n      - upstream: eu\n        wei|",
      has: ["weight", "cost"],
      lacks: "price",
    },
    {
      what: "the fields of a target as far left as its list",
      text: "models:\n  fast:\n    targets:\n    - upstream: eu\n      |",
      has: ["weight"],
      lacks: "price",
    },
    {
      what: "the fields of a model after its targets",
      text: "models:\n  fast:\n    targets:\n      - upstream: eu\n    pri|",
      has: ["price", "facts"],
      lacks: "weight",
    },
    { what: "the parts of a price", text: 'models:\n  "a/b":\n    price:\n      |', has: ["input"], lacks: "price" },
    { what: "the word of a price", text: "models:\n  fast:\n    price: |", has: ["free"], lacks: "input" },
  ])("$what", ({ text, has, lacks }) => {
    const found = proposedIn(text);
    expect(found).toEqual(expect.arrayContaining([...has]));
    expect(found).not.toContain(lacks);
  });

  test.each(["# mo|", 'upstreams: "o|', "models: { fast: { pri|", "nothing:\n  of:\n    |"])("nothing at %j", (text) =>
    expect(proposedIn(text)).toEqual([]),
  );
});
