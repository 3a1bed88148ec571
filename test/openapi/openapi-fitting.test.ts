/** What OpenAI's own document declares is what answers are held to where it is there: `npm run openapi`. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { OpenapiFitting } from "../support/openapi-fitting.js";

const TEXT = { type: "string" };
const MESSAGE = { type: "object", required: ["role", "content"], properties: { role: { const: "a" }, content: TEXT } };
const CALL = {
  type: "object",
  required: ["role", "call"],
  properties: { role: { const: "b" }, call: { type: "object", required: ["id"], properties: { id: TEXT } } },
};
const SCHEMAS = {
  CreateChatCompletionResponse: {
    type: "object",
    required: ["id"],
    properties: {
      id: { ...TEXT, nullable: true },
      said: { anyOf: [MESSAGE, CALL], discriminator: { propertyName: "role" } },
    },
  },
};

const folder = mkdtempSync(join(tmpdir(), "tollgate-openapi-"));
const file = join(folder, "openapi.json");
writeFileSync(file, JSON.stringify({ components: { schemas: SCHEMAS } }));
const fitting = new OpenapiFitting(file);
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  { name: "null where the document says nullable", value: { id: null }, says: undefined },
  { name: "the second alternative", value: { id: "a", said: { role: "b", call: { id: "c" } } }, says: undefined },
  {
    name: "a member too few",
    value: {},
    says: 'the whole must have required property \'id\' {"missingProperty":"id"}',
  },
  {
    name: "a member too few, deep in an alternative",
    value: { id: "a", said: { role: "b", call: {} } },
    says: ".said.call must have required property 'id'",
  },
])("$name", ({ value, says }) => {
  const found = fitting.misfit("chat", value);
  if (says === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(says);
});

test("what is not OpenAI's fits", () => {
  expect(fitting.misfit("message", {})).toBeUndefined();
});
