/** How the stand-in refuses, and how it reads any body. */
import type { z } from "zod";

/** A refusal in OpenAI's envelope. */
export class SimRefusal extends Error {
  readonly status: number;
  readonly param: string | null;
  readonly code: string | null;

  constructor(status: number, message: string, param: string | null, code: string | null) {
    super(message);
    this.status = status;
    this.param = param;
    this.code = code;
  }
}

const TOO_LONG = "The stand-in reads at most 256 KiB. Send less, or ask a real model.";
/** It runs on the event loop of the process, beside everything else there. */
const SIM_BODY_BYTES_MAX = 262_144;

/** Reads a body that asks one of the stand-in's models. Throws a SimRefusal that names what is wrong. */
export function parseBody<Body extends { readonly model: string }>(
  body: Buffer | undefined,
  schema: z.ZodType<Body>,
  model: string,
): Body {
  if (body !== undefined && body.length > SIM_BODY_BYTES_MAX)
    throw new SimRefusal(400, TOO_LONG, "messages", "context_length_exceeded");
  let parsed: unknown;
  try {
    parsed = JSON.parse(body?.toString("utf8") ?? "");
  } catch {
    throw new SimRefusal(400, "We could not parse the JSON body of your request.", null, null);
  }
  const read = schema.safeParse(parsed);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new SimRefusal(400, issue?.message ?? "Invalid body", issue?.path.join(".") ?? null, "invalid_value");
  }
  if (read.data.model !== model)
    throw new SimRefusal(404, `The model \`${read.data.model}\` does not exist.`, null, "model_not_found");
  return read.data;
}
