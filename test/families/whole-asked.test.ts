/** A whole answer is asked for in words where a server may stream by default, and only there. */
import { expect, test } from "vitest";
import { ENDPOINTS, goesTo, LEAST, leaving, read } from "../routing/asked.js";

const CHATS = ENDPOINTS.filter(({ endpoint }) => endpoint.wire.name === "openai-chat");

test.each(CHATS.map(({ family, endpoint }) => ({ name: family.name, family, endpoint })))(
  "$name",
  ({ name, family, endpoint }) => {
    for (const wire of Object.keys(LEAST).filter((from) => goesTo(from, "openai-chat")))
      for (const said of wire === "gemini" ? [{}] : [{}, { stream: null }, { stream: false }]) {
        const request = read(wire, JSON.stringify({ ...LEAST[wire], ...said }));
        const body: unknown = JSON.parse(leaving(request, family, endpoint).toString());
        const isOwn = wire === "openai-chat" && said.stream === false;
        const wanted = name === "openai-compatible" || isOwn ? false : undefined;
        expect(Reflect.get(Object(body), "stream") ?? undefined, `${wire} ${JSON.stringify(said)}`).toBe(wanted);
      }
  },
);
