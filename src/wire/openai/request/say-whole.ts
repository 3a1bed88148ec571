/** Some servers stream where nobody says that a whole answer is wanted. */
import { type Member, valueText } from "../../json/splice.js";

/** Says it where the client left it open. */
export function sayWhole(
  body: Buffer,
  members: readonly Member[],
  edits: Map<string, Buffer | string | undefined>,
): void {
  const member = members.find(({ key }) => key === "stream");
  if (member === undefined || valueText(body, member) === "null") edits.set("stream", "false");
}
