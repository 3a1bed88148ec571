/** What is known of a request when it arrives, before its limits are checked and its body is read. */
import type { Generation, Source } from "../api/index.js";
import { BODY_BYTES_MAX, bodyTooLarge } from "../base/bytes/body-limit.js";
import { isTypedForm, TYPED_FORM } from "../api/typed-form.js";
import type { GatewayCall } from "./gateway.js";

/** Records what is asked for, since the request may be refused before it is read. Throws BODY_TOO_LARGE. */
export function arrive(generation: Generation | undefined, call: GatewayCall): void {
  const source = sourceOf(generation);
  noteArrival(source, generation?.model ?? "", call);
  requireBodySize(source);
}

/** The client's own body; undefined if the request came in the typed form. */
export function sourceOf(generation: Generation | undefined): Source | undefined {
  const input = generation?.input;
  return input?.$case === "source" ? input.value : undefined;
}

/** Writes into the record what is known of a request that may be refused before it is read. */
export function noteArrival(source: Source | undefined, model: string, { record }: GatewayCall): void {
  if (record === undefined) return;
  record.format = source === undefined || isTypedForm(source.wire) ? TYPED_FORM : source.wire;
  record.model = model;
}

/** Throws BODY_TOO_LARGE. */
export function requireBodySize(source: Source | undefined): void {
  if (source !== undefined && source.body.length > BODY_BYTES_MAX) throw bodyTooLarge();
}
