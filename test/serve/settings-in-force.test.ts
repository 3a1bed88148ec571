/** Which nodes serve by other settings than the ones that were accepted last. */
import { expect, test } from "vitest";
import { Node } from "../../src/api/index.js";
import { otherSettings } from "../../src/api/settings-in-force.js";

function node(id: string, settingsVersion: string, acceptMs?: number): Node {
  const settingsAcceptTime = acceptMs === undefined ? undefined : new Date(acceptMs);
  return { ...Node.decode(new Uint8Array()), id, settingsVersion, settingsAcceptTime };
}

test.each([
  { name: "none", nodes: [], newest: undefined, others: [] },
  { name: "one without a file", nodes: [node("a", "")], newest: undefined, others: [] },
  { name: "two of one version", nodes: [node("a", "v1", 1), node("b", "v1", 2)], newest: "b", others: [] },
  { name: "an older one", nodes: [node("a", "v1", 1), node("b", "v2", 2)], newest: "b", others: ["a"] },
  { name: "one without a file beside others", nodes: [node("a", "v1", 1), node("b", "")], newest: "a", others: ["b"] },
  {
    name: "one that went back",
    nodes: [node("a", "v2", 2), node("b", "v1", 3), node("c", "v2", 1)],
    newest: "b",
    others: ["a", "c"],
  },
])("of $name", ({ nodes, newest, others }) => {
  const told = otherSettings(nodes);
  expect(told.newest?.id).toBe(newest);
  expect(told.others.map(({ id }) => id)).toEqual(others);
});
