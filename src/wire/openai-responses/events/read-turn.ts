/** What a connection over a WebSocket keeps of its last response, to go on from it. */
import { type JsonObject, listOf, objectOf, parsed, textOf } from "../../json/value.js";
import { type Turn, joined } from "../request/decode-socket.js";

const ENDS: ReadonlySet<string> = new Set(["response.completed", "response.incomplete"]);
const ITEM_DONE = '"response.output_item.done"';

/** Follows the answer to a body. */
export class TurnReader {
  private readonly done: JsonObject[] = [];
  private response: JsonObject | undefined;

  /** The data of one event. */
  see(data: Buffer): void {
    if (data.includes(ITEM_DONE)) {
      const event = objectOf(parsed(data.toString()));
      const item = event?.["type"] === "response.output_item.done" ? objectOf(event["item"]) : undefined;
      if (item !== undefined) this.done.push(item);
      return;
    }
    const event = data.includes('"response"') ? objectOf(parsed(data.toString())) : undefined;
    if (ENDS.has(textOf(event?.["type"]))) this.response = objectOf(event?.["response"]) ?? this.response;
  }

  /** What may be gone on from, after all that was said; undefined where the answer did not end well. */
  turn(said: Buffer): Turn | undefined {
    const id = textOf(this.response?.["id"]);
    if (this.response === undefined || id === "") return undefined;
    const output = listOf(this.response["output"])
      .map(objectOf)
      .filter((item) => item !== undefined);
    const isStored = this.response["store"] === true;
    // Some upstreams tell the items one by one alone.
    const items = (output.length > 0 ? output : this.done).filter((item) => isStored || isWhole(item));
    return { id, items: joined([said, ...items.map((item) => Buffer.from(JSON.stringify(item)))]) };
  }
}

/** False of a thought that only its id tells, which nobody knows where nothing is stored. */
function isWhole(item: JsonObject): boolean {
  return item["type"] !== "reasoning" || textOf(item["encrypted_content"]) !== "";
}
