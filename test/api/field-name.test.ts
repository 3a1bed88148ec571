/** Names of fields are the protocol's, however a program spells them. */
import { expect, test } from "vitest";
import { registry } from "../../src/api/descriptors.js";
import { snakeCase } from "../../src/api/field-name.js";

test("the name of every field of the protocol comes back from its spelling in programs", () => {
  const fields = [...registry().files]
    .filter(({ proto }) => proto.package.startsWith("tollgate."))
    .flatMap(({ messages }) => messages)
    .flatMap((message) => message.fields);
  expect(fields.length).toBeGreaterThan(500);
  expect(fields.filter(({ name, localName }) => snakeCase(localName) !== name).map(({ name }) => name)).toEqual([]);
});
