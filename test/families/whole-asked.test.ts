/** A whole answer is asked for in words where a server may stream by default, and only there. */
import { expect, test } from "vitest";
import { ENDPOINTS, goesTo, LEAST, leaving, read } from "../routing/asked.js";

const ASKED = ENDPOINTS.filter(({ endpoint: { wire } }) => ["openai-chat", "openai-completions"].includes(wire.name));

test.each(ASKED.map(({ family, endpoint }) => ({ name: family.name, to: endpoint.wire.name, family, endpoint })))(
  "$name, $to",
  ({ name, to, family, endpoint }) => {
    for (const wire of Object.keys(LEAST).filter((from) => goesTo(from, to)))
      for (const said of wire === "gemini" ? [{}] : [{}, { stream: null }, { stream: false }]) {
        const request = read(wire, JSON.stringify({ ...LEAST[wire], ...said }));
        const body: unknown = JSON.parse(leaving(request, family, endpoint).toString());
        const isOwn = wire === to && said.stream === false;
        const wanted = name === "openai-compatible" || isOwn ? false : undefined;
        expect(Reflect.get(Object(body), "stream") ?? undefined, `${wire} ${JSON.stringify(said)}`).toBe(wanted);
      }
  },
);
