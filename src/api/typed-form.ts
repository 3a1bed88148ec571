/** The typed form of a request as a body of its own: where it is long, it is read where long bodies are. */

/** What stands for a wire there. No client sends it. */
export const TYPED_FORM = "tollgate.v1.Generation";
/** The same of a request for vectors. */
export const TYPED_TEXTS = "tollgate.v1.EmbedRequest";
/** A longer one is not decoded on the event loop: its parts may be as small as four bytes. */
export const TYPED_BYTES_MAX = 64 * 1024;
/** Nor is one of more fields: as with the values of a body, a translation takes some microseconds for each. */
export const TYPED_FIELDS_MAX = 2_048;

/** True of a body that no client wrote. */
export function isTypedForm(wire: string): boolean {
  return wire === TYPED_FORM || wire === TYPED_TEXTS;
}
