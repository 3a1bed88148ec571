/** The name of an object stands for nothing else, whether this node can use the object or not. */
import { expect, test } from "vitest";
import { NO_SETTINGS, type UpstreamSettings } from "../../src/config/settings.js";
import { families } from "../../src/families/index.js";
import { withKeyVariables } from "../../src/routing/load.js";

const ENVIRONMENT = { OPENAI_API_KEY: "sk-of-a-test", MISTRAL_API_KEY: "sk-another-of-a-test" };
const upstream = (id: string, isOfDatabase: boolean): UpstreamSettings => {
  const said = {
    apiKey: "sk-own-of-a-test",
    baseUrl: undefined,
    unknownMembers: "pass",
    promptCache: undefined,
  } as const;
  return { id, family: "openai", ...said, isOfDatabase };
};
const names = (upstreams: readonly UpstreamSettings[], unused: readonly string[] = []): readonly string[] =>
  withKeyVariables(
    { ...NO_SETTINGS, upstreams, unusedNames: new Set(unused) },
    { families, environment: ENVIRONMENT },
  ).map(({ id }) => id);

test.each([
  { what: "nothing", upstreams: [], unused: [], want: ["mistral", "openai"] },
  { what: "one of a file", upstreams: [upstream("own", false)], unused: [], want: ["mistral", "own"] },
  { what: "an object", upstreams: [upstream("own", true)], unused: [], want: ["mistral", "openai", "own"] },
  { what: "a namesake", upstreams: [upstream("openai", true)], unused: [], want: ["mistral", "openai"] },
  { what: "a namesake that is not used", upstreams: [], unused: ["upstream/openai"], want: ["mistral"] },
])("beside $what, the environment's upstreams are $want", ({ upstreams, unused, want }) => {
  expect(names(upstreams, unused).toSorted()).toEqual(want);
});
