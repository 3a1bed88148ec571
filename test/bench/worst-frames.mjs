/** The worst answers of Bedrock's wire, which streams binary messages. */
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { filled, STRANGE, strange, TEXTS, texts } from "./worst-answer-shapes.mjs";

/** @typedef {import("./worst-answer-shapes.mjs").Row} Row */
/** @typedef {import("./worst-answers.mjs").WorstAnswer} WorstAnswer */

const WHOLE_BYTES_MAX = 16 * 1024 * 1024;
const FLOOD_BYTES = 8 * 1024 * 1024;

/** Amazon's event stream: messages that tell their own length. @returns {WorstAnswer[]} */
export function framedAnswers() {
  const codec = new EventStreamCodec(
    (bytes) => Buffer.from(bytes).toString(),
    (text) => Buffer.from(text),
  );
  const message = (/** @type {string} */ type, /** @type {string | Buffer} */ json) => {
    const text = (/** @type {string} */ value) => ({ type: /** @type {const} */ ("string"), value });
    const headers = {
      ":event-type": text(type),
      ":content-type": text("application/json"),
      ":message-type": text("event"),
    };
    return Buffer.from(codec.encode({ headers, body: Buffer.from(json) }));
  };
  const opening = message("messageStart", '{"role":"assistant"}');
  const ending = Buffer.concat([
    message("messageStop", '{"stopReason":"end_turn"}'),
    message("metadata", '{"usage":{"inputTokens":9,"outputTokens":9,"totalTokens":18}}'),
  ]);
  const wire = "bedrock-converse";
  const stream = (/** @type {string} */ name, /** @type {WorstAnswer["body"]} */ body) => ({
    name: `${wire}, ${name}`,
    wire,
    stream: true,
    contentType: "application/vnd.amazon.eventstream",
    body: (/** @type {number | undefined} */ bytes) => Buffer.concat([opening, body(bytes), ending]),
  });
  const DELTA = '{"contentBlockIndex":0,"delta":{"text":"';
  /** @type {Row[]} */
  const rows = [
    ...texts('[{"text":"', '"}]'),
    ["blocks", "[", '{"text":"a"}', "]"],
    ["calls", "[", (index) => `{"toolUse":{"toolUseId":"t${index}","name":"f","input":{}}}`, "]"],
    ["one call of a large input", '[{"toolUse":{"toolUseId":"t","name":"f","input":{"a":[', "[0]", "]}}}]"],
    ...strange('[{"text":"a",', "}]"),
  ];
  const whole = [
    '{"output":{"message":{"role":"assistant","content":',
    '}},"stopReason":"end_turn","usage":{"inputTokens":9,"outputTokens":9,"totalTokens":18}}',
  ];
  return [
    ...rows.map((row) => ({
      name: `${wire}, whole: ${row[0]}`,
      wire,
      stream: false,
      contentType: "application/json",
      body: (bytes = WHOLE_BYTES_MAX) => filled(whole[0] ?? "", row, whole[1] ?? "", bytes),
    })),
    ...TEXTS.map(([name, piece]) =>
      stream(`one message of ${name}`, (bytes = 15 * 1024 * 1024) =>
        message("contentBlockDelta", filled(DELTA, ["", "", piece, "", ""], '"}}', bytes)),
      ),
    ),
    ...STRANGE.map(([name, open, piece, close]) =>
      stream(`one message of ${name}`, (bytes = 15 * 1024 * 1024) =>
        message(
          "contentBlockDelta",
          filled('{"contentBlockIndex":0,"delta":{"text":"a"},', ["", open, piece, close], "}", bytes),
        ),
      ),
    ),
    stream("flood of small messages", (bytes = FLOOD_BYTES) => {
      const one = message("contentBlockDelta", `${DELTA}a"}}`);
      return Buffer.alloc(Math.floor(bytes / one.length) * one.length, one);
    }),
    stream("flood of messages of nobody's", (bytes = FLOOD_BYTES) => {
      const one = message("x", "");
      return Buffer.alloc(Math.floor(bytes / one.length) * one.length, one);
    }),
  ];
}
