/** What is known of a request as it arrives, before its limits are asked and anything of it is read. */
import type { Generation, Source } from "../api/index.js";
import { BODY_BYTES_MAX, bodyTooLarge } from "../api/body-limit.js";
import { isTypedForm, TYPED_FORM } from "../api/typed-form.js";
import type { GatewayCall } from "./gateway.js";

/** Notes what is asked for, since it may be refused before it is read. Throws where its body is too large. */
export function arrive(generation: Generation | undefined, call: GatewayCall): void {
  const source = sourceOf(generation);
  noteArrival(source, generation?.model ?? "", call);
  requireBodySize(source);
}

/** The client's own body; undefined where it came in the typed form. */
export function sourceOf(generation: Generation | undefined): Source | undefined {
  const input = generation?.input;
  return input?.$case === "source" ? input.value : undefined;
}

/** What the record says of a request that may be refused before it is read. */
export function noteArrival(source: Source | undefined, model: string, { record }: GatewayCall): void {
  if (record === undefined) return;
  record.format = source === undefined || isTypedForm(source.wire) ? TYPED_FORM : source.wire;
  record.model = model;
}

/** Throws BODY_TOO_LARGE. */
export function requireBodySize(source: Source | undefined): void {
  if (source !== undefined && source.body.length > BODY_BYTES_MAX) throw bodyTooLarge();
}
