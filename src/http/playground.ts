/** The playground's route: a person asks a model as OpenAI's clients do, with a session in place of a key. */
import type { FastifyInstance } from "fastify";
import { InferenceServiceService } from "../api/index.js";
import { GatewayError } from "../base/errors.js";
import type { Format } from "../formats/format.js";
import { clientGeneration, type GenerationParts } from "./generation.js";
import { isOfSession, PLAYGROUND_ACCOUNT } from "./session-cookie.js";

const FORMAT = "openai";

export function addPlaygroundRoute(app: FastifyInstance, formats: readonly Format[], parts: GenerationParts): void {
  const format = formats.find(({ name }) => name === FORMAT);
  if (format === undefined) return;
  const permission = { scope: "chat", method: InferenceServiceService.streamGenerate.path };
  app.route({
    method: "POST",
    url: `/api/v1/accounts/:${PLAYGROUND_ACCOUNT}/playground/chat/completions`,
    config: { permission, format },
    handler: async (request, reply) => {
      // A key has routes of its own, where it pays for its own account.
      if (!isOfSession(request)) throw new GatewayError("ERROR_REASON_USER_MISSING");
      return clientGeneration(request, reply, format, parts).run();
    },
  });
}
