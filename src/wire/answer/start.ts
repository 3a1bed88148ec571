/** The step that begins an answer which comes whole, in the names that OpenAI's wires and those like them have. */
import type { Event } from "../../api/index.js";
import { type JsonObject, textOf } from "../json/value.js";

export function startOf(answer: JsonObject): Event {
  const value = {
    id: textOf(answer["id"]),
    model: textOf(answer["model"]),
    createTime: undefined,
    inputTokens: undefined,
  };
  return { kind: { $case: "start", value } };
}
