/** The list of models as OpenAI and whoever follows it write it. */
import { z } from "zod";
import type { ListedModel } from "./family.js";

const LISTED_MAX = 10_000;
/** The end of the year 9999: what is later has no place in a timestamp, and is no time of a model. */
const SECONDS_MAX = 253_402_300_799;

const modelListSchema = z.object({
  data: z
    .array(
      z.object({
        id: z.string().min(1).max(256),
        owned_by: z.string().nullish().catch(undefined),
        created: z.number().int().nonnegative().max(SECONDS_MAX).nullish().catch(undefined),
        shutdown_date: z.string().nullish().catch(undefined),
      }),
    )
    .max(LISTED_MAX),
});

/** Reads `{"data": [{"id", "owned_by", "created"}]}`. Throws where it is something else. */
export function readModelList(body: Buffer): readonly ListedModel[] {
  return modelListSchema.parse(JSON.parse(body.toString("utf8"))).data.map((model) => ({
    id: model.id,
    owner: model.owned_by ?? undefined,
    createdSeconds: model.created ?? undefined,
    retireTime: timeOf(model.shutdown_date),
  }));
}

/** A time as lists write it; undefined where it is none. */
export function timeOf(text: string | null | undefined): Date | undefined {
  const ms = Date.parse(text ?? "");
  return ms >= 0 && ms <= SECONDS_MAX * 1_000 ? new Date(ms) : undefined;
}
