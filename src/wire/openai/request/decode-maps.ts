/** The fields of OpenAI's wires whose keys a client chooses. */
import { type ObjectReader, wrongValue } from "../../json/node.js";

export function decodeLogitBias(reader: ObjectReader): Record<string, number> {
  const biases = emptyMap<number>();
  const object = reader.object("logit_bias");
  for (const key of object?.keys() ?? []) {
    const bias = object?.number(key);
    if (bias === undefined) continue;
    if (!Number.isInteger(bias) || Math.abs(bias) > 100)
      throw wrongValue(`logit_bias.${key}`, "it must be an integer from -100 to 100");
    biases[key] = bias;
  }
  return biases;
}

export function decodeMetadata(reader: ObjectReader): Record<string, string> {
  const labels = emptyMap<string>();
  const object = reader.object("metadata");
  for (const key of object?.keys() ?? []) {
    const label = object?.text(key);
    if (label !== undefined) labels[key] = label;
  }
  return labels;
}

/** It inherits nothing that a client's key could reach. */
function emptyMap<Value>(): Record<string, Value> {
  return Object.create(null) as Record<string, Value>;
}
