/** A session beside a chat goes to who groups by it. Elsewhere it is no loss: the gateway's record has it. */
import { expect, test } from "vitest";
import { ENDPOINTS, goesTo, LEAST, leaving, read } from "./asked.js";

const WIRE = "openai-chat";
/** Who knows the member, and whom nobody knows. */
const TAKE_IT = new Set(["openrouter", "openai-compatible"]);
/** As it came, and where facts of the model have it written anew. */
const BODIES = [{}, { response_format: { type: "json_schema", json_schema: { name: "n", schema: {} } } }];

test.each(
  ENDPOINTS.filter(({ endpoint }) => goesTo(WIRE, endpoint.wire.name)).map(({ family, endpoint }) => ({
    name: family.name,
    to: endpoint.wire.name,
    family,
    endpoint,
  })),
)("$name over $to", ({ name, to, family, endpoint }) => {
  for (const more of BODIES) {
    const request = read(WIRE, JSON.stringify({ ...LEAST[WIRE], ...more, session_id: "s-1" }));
    const isStrict = !("response_format" in more);
    const body: unknown = JSON.parse(leaving(request, family, endpoint, undefined, undefined, [], isStrict).toString());
    const wanted = to === WIRE && TAKE_IT.has(name) ? "s-1" : undefined;
    expect(Reflect.get(Object(body), "session_id"), JSON.stringify(more)).toBe(wanted);
  }
});
