/** What asks for something that the gateway would have to have kept, or to keep: it keeps no responses. */
import type { GatewayError } from "../../../base/errors.js";
import type { FieldValue } from "../../json/field.js";
import { wrongValue } from "../../json/node.js";

/** The refusal of a body's fields; undefined where they ask for nothing of the kind. */
export function keptState(values: ReadonlyMap<string, FieldValue>): GatewayError | undefined {
  if (values.get("background") === true)
    return wrongValue("background", "this gateway keeps no responses; an answer comes to whoever waits for it");
  if (values.has("prompt"))
    return wrongValue("prompt", "this gateway keeps no prompts; send its text in 'instructions'");
  return undefined;
}

/** The refusal of an item that only names another. */
export function keptItem(path: string): GatewayError {
  return wrongValue(path, "this gateway keeps no items; send the item itself, as clients do that set 'store' to false");
}
