/** Messages over a WebSocket that ask for what is not served: each is refused by an event of its own. */
import { scanBody } from "../../json/body.js";
import { parsed } from "../../json/value.js";

/** The refusal of one kind of message: what it gives back of the message, in a member of its own or at its top. */
interface UnservedEvent {
  readonly error: { readonly type?: string; readonly code: string; readonly message: string };
  readonly givesBack: readonly string[];
  readonly within?: string;
}

/** Every event that the official clients' types name beside `response.create`. */
const UNSERVED: Readonly<Record<string, UnservedEvent>> = {
  "response.steer": {
    error: {
      type: "invalid_request_error",
      code: "steering_not_supported",
      message: "A response cannot be steered here. Send the input with the next 'response.create'.",
    },
    givesBack: ["input", "previous_response_id"],
    within: "steer",
  },
  "response.inject": {
    error: {
      code: "response_not_found",
      message: "Nothing can be added to a response here. Send the input with the next 'response.create'.",
    },
    givesBack: ["input", "response_id"],
  },
};
const MARKS = Object.keys(UNSERVED).map((type) => Buffer.from(`"${type}"`));

/** The event that refuses the message; undefined where its answer says what is wrong with it. Throws BODY_INVALID. */
export function refuseUnserved(message: Buffer): Buffer | undefined {
  // Hardly any message holds the words.
  if (!MARKS.some((mark) => message.includes(mark))) return undefined;
  let type: unknown;
  const { members } = scanBody(message, (json, key) => {
    if (key === "type" && json.kind() === "string") type = json.readString();
    else json.skip();
    return undefined;
  });
  const unserved = typeof type === "string" && Object.hasOwn(UNSERVED, type) ? UNSERVED[type] : undefined;
  if (unserved === undefined) return undefined;
  const { error, givesBack, within } = unserved;
  const given = Object.fromEntries(
    givesBack.map((name) => {
      const member = members.find(({ key }) => key === name);
      return [name, member === undefined ? "" : parsed(message.toString("utf8", member.valueStart, member.end))];
    }),
  );
  const back = within === undefined ? given : { [within]: given };
  return Buffer.from(JSON.stringify({ type: `${String(type)}.failed`, sequence_number: 0, error, ...back }));
}
