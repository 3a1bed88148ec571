/** Ids of calls for upstreams that take nine letters and digits: made to fit, always in the same way. */
import { createHash } from "node:crypto";

const CHARACTERS = 9;
const SHORT_ID = /^[A-Za-z0-9]{9}$/;

export function shortCallId(id: string): string {
  return SHORT_ID.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, CHARACTERS);
}
