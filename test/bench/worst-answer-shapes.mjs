/** What each upstream's wire says in an answer, in the shapes that its readers like least. */

/** @typedef {string | ((index: number) => string)} Piece */
/** @typedef {[name: string, head: string, piece: Piece, tail: string, between?: string]} Row */

/**
 * What one wire says: how a whole answer stands around its content, and how an event stands around the same in a
 * stream; what a stream begins and ends with, and its smallest events.
 * @typedef {object} Speech
 * @property {string} wire
 * @property {readonly Row[]} rows The content of an answer.
 * @property {[head: string, tail: string]} whole
 * @property {(json: string) => string} [event] The event of a stream that says a content; absent where nothing streams.
 * @property {readonly string[]} [floods] Small events.
 * @property {string} [opening]
 * @property {string} [ending]
 */

/** @type {readonly [name: string, piece: string][]} */
export const TEXTS = [
  ["letters", "a"],
  ["escaped letters", "\\u0061"],
  ["escaped line ends", "\\n"],
  ["signs that grow", "\ufdfa"],
  ["emoji", "\u{1f469}\u200d\u{1f467}"],
  ["words", "lorem 12,5 ipsum; "],
];

/** What no reader asks for, and has to pass. @type {readonly [string, string, Piece, string][]} */
export const STRANGE = [
  ["empty arrays", '"x":[', "[]", "]"],
  ["empty objects", '"x":[', "{}", "]"],
  ["numbers", '"x":[', "1e9", "]"],
  ["deep arrays", '"x":[', `${"[".repeat(40)}${"]".repeat(40)}`, "]"],
  ["members", '"x":{', (index) => `"m${index}":0`, "}"],
];

/**
 * @param {string} head
 * @param {string} tail
 * @returns {Row[]}
 */
export function texts(head, tail) {
  return TEXTS.map(([name, piece]) => [`text of ${name}`, head, piece, tail, ""]);
}

/**
 * @param {string} head
 * @param {string} tail
 * @returns {Row[]}
 */
export function strange(head, tail) {
  return STRANGE.map(([name, open, piece, close]) => [name, `${head}${open}`, piece, `${close}${tail}`]);
}

const CALL = (/** @type {number} */ index) =>
  `{"index":${index},"id":"c${index}","type":"function","function":{"name":"f","arguments":"{}"}}`;
const LOGPROB = '{"token":"a","logprob":-1,"bytes":[97],"top_logprobs":[]}';

/** @type {Speech} */
const CHAT = {
  wire: "openai-chat",
  whole: [
    '{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":',
    ',"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}',
  ],
  event: (json) =>
    `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":${json}}]}\n\n`,
  ending:
    'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}\n\ndata: [DONE]\n\n',
  rows: [
    ...texts('{"role":"assistant","content":"', '"}'),
    ...texts('{"role":"assistant","content":"a","reasoning_content":"', '"}').slice(1, 2),
    ["calls", '{"role":"assistant","tool_calls":[', CALL, "]}"],
    ["calls without anything", '{"role":"assistant","tool_calls":[', "{}", "]}"],
    [
      "one call of long arguments",
      '{"role":"assistant","tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{\\"a\\":[',
      "[0],",
      '0]}"}}]}',
      "",
    ],
    ["parts", '{"role":"assistant","content":[', '{"type":"text","text":"a"}', "]}"],
    [
      "thoughts",
      '{"role":"assistant","content":"a","reasoning_details":[',
      '{"type":"reasoning.text","text":"a"}',
      "]}",
    ],
    [
      "annotations",
      '{"role":"assistant","content":"a","annotations":[',
      '{"type":"url_citation","url_citation":{"url":"u"}}',
      "]}",
    ],
    [
      "pictures",
      '{"role":"assistant","content":"a","images":[',
      '{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}',
      "]}",
    ],
    [
      "one picture",
      '{"role":"assistant","content":"a","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,',
      "iVBORw0K",
      '"}}]}',
      "",
    ],
    ["odds of tokens", '{"role":"assistant","content":"a"},"logprobs":{"content":[', LOGPROB, ']},"x":{"y":0}'],
    [
      "choices",
      '{"role":"assistant","content":"a"}},',
      (index) => `{"index":${index % 200},"message":{"content":"b"},"delta":{"content":"b"}}`,
      ',{"index":0',
    ],
    ...strange('{"role":"assistant","content":"a",', "}"),
  ],
  floods: [
    "data: {}\n\n",
    ":\n\n",
    "data:\n\n",
    'data: {"choices":[{"delta":{"content":"a"}}]}\n\n',
    'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"a"}}]}}]}\n\n',
    "\n",
    "x\n",
  ],
};

/** @type {Speech} */
const RESPONSES = {
  wire: "openai-responses",
  whole: [
    '{"id":"r","object":"response","created_at":1,"status":"completed","model":"m","output":',
    ',"usage":{"input_tokens":9,"output_tokens":9,"total_tokens":18}}',
  ],
  event: (json) =>
    `event: response.completed\ndata: {"type":"response.completed","sequence_number":9,"response":{"id":"r","object":"response","created_at":1,"status":"completed","model":"m","output":${json},"usage":{"input_tokens":9,"output_tokens":9,"total_tokens":18}}}\n\n`,
  opening:
    'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"r","object":"response","created_at":1,"status":"in_progress","model":"m","output":[]}}\n\n',
  rows: [
    ...texts(
      '[{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"output_text","annotations":[],"text":"',
      '"}]}]',
    ),
    ["items", "[", '{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}', "]"],
    ["items without anything", "[", "{}", "]"],
    ["parts", '[{"type":"message","role":"assistant","content":[', '{"type":"output_text","text":"a"}', "]}]"],
    [
      "annotations",
      '[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[',
      '{"type":"url_citation","url":"u","title":"t","start_index":0,"end_index":1}',
      "]}]}]",
    ],
    [
      "calls",
      "[",
      (index) => `{"type":"function_call","id":"f${index}","call_id":"c${index}","name":"f","arguments":"{}"}`,
      "]",
    ],
    ["searches", "[", (index) => `{"type":"web_search_call","id":"w${index}","status":"completed"}`, "]"],
    ["thoughts", "[", '{"type":"reasoning","id":"t","summary":[{"type":"summary_text","text":"a"}]}', "]"],
    [
      "one thought of many parts",
      '[{"type":"reasoning","id":"t","summary":[',
      '{"type":"summary_text","text":"a"}',
      "]}]",
    ],
    ["one picture", '[{"type":"image_generation_call","id":"i","status":"completed","result":"', "iVBORw0K", '"}]', ""],
    ...strange("[{", "}]"),
  ],
  floods: [
    "data: {}\n\n",
    'data: {"type":"response.output_text.delta","output_index":0,"delta":"a"}\n\n',
    'data: {"type":"response.in_progress"}\n\n',
  ],
};

/** @type {Speech} */
const COMPLETIONS = {
  wire: "openai-completions",
  whole: [
    '{"id":"c","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop",',
    '}],"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}',
  ],
  event: (json) =>
    `data: {"id":"c","object":"text_completion","created":1,"model":"m","choices":[{"index":0,${json}}]}\n\n`,
  ending: "data: [DONE]\n\n",
  rows: [
    ...texts('"text":"', '"'),
    ["odds of tokens", '"text":"a","logprobs":{"tokens":[', '"a"', "]}"],
    ...strange('"text":"a",', ""),
  ],
  floods: ['data: {"choices":[{"text":"a"}]}\n\n'],
};

/** @type {Speech} */
const ANTHROPIC = {
  wire: "anthropic",
  whole: [
    '{"id":"m","type":"message","role":"assistant","model":"m","stop_reason":"end_turn","content":',
    ',"usage":{"input_tokens":9,"output_tokens":9}}',
  ],
  event: (json) =>
    `event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":${json.startsWith("[") ? json.slice(1, -1) : json}}\n\n`,
  opening:
    'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}\n\n',
  ending:
    'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n',
  rows: [
    ...texts('[{"type":"text","text":"', '"}]'),
    ...texts('[{"type":"thinking","signature":"s","thinking":"', '"}]').slice(1, 2),
    ["blocks", "[", '{"type":"text","text":"a"}', "]"],
    ["blocks without anything", "[", "{}", "]"],
    ["calls", "[", (index) => `{"type":"tool_use","id":"t${index}","name":"f","input":{}}`, "]"],
    ["one call of a large input", '[{"type":"tool_use","id":"t","name":"f","input":{"a":[', "[0]", "]}}]"],
    [
      "citations",
      '[{"type":"text","text":"a","citations":[',
      '{"type":"char_location","cited_text":"a","start_char_index":0,"end_char_index":1}',
      "]}]",
    ],
    ["searches", "[", (index) => `{"type":"server_tool_use","id":"s${index}","name":"web_search","input":{}}`, "]"],
    [
      "results of a search",
      '[{"type":"web_search_tool_result","tool_use_id":"s","content":[',
      '{"type":"web_search_result","url":"u","title":"t"}',
      "]}]",
    ],
    ...strange('[{"type":"text","text":"a",', "}]"),
  ],
  floods: [
    'data: {"type":"ping"}\n\n',
    'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}\n\n',
    'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
  ],
};

/** @type {Speech} */
const GEMINI = {
  wire: "gemini",
  whole: [
    '{"candidates":[{"index":0,"content":{"role":"model","parts":',
    '},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":9,"totalTokenCount":18},"modelVersion":"m","responseId":"r"}',
  ],
  event: (json) =>
    `data: {"candidates":[{"index":0,"content":{"role":"model","parts":${json}}}],"modelVersion":"m","responseId":"r"}\n\n`,
  ending:
    'data: {"candidates":[{"index":0,"content":{"parts":[]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":9,"totalTokenCount":18}}\n\n',
  rows: [
    ...texts('[{"text":"', '"}]'),
    ["parts", "[", '{"text":"a"}', "]"],
    ["parts without anything", "[", "{}", "]"],
    ["calls", "[", '{"functionCall":{"name":"f","args":{}}}', "]"],
    ["one call of large arguments", '[{"functionCall":{"name":"f","args":{"a":[', "[0]", "]}}}]"],
    ["pictures", "[", '{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}', "]"],
    ["one picture", '[{"inlineData":{"mimeType":"image/png","data":"', "iVBORw0K", '"}}]', ""],
    ...strange('[{"text":"a",', "}]"),
  ],
  floods: [
    'data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}]}\n\n',
    'data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]}}]}\n\n',
  ],
};

/** @type {Speech} */
const EMBEDDINGS = {
  wire: "openai-embeddings",
  whole: ['{"object":"list","model":"m","data":[', '],"usage":{"prompt_tokens":9,"total_tokens":9}}'],
  rows: [
    ["one vector of long numbers", '{"object":"embedding","index":0,"embedding":[', "-0.0123456789012345", "]}"],
    ["one vector of short numbers", '{"object":"embedding","index":0,"embedding":[', "0", "]}"],
    ["one vector in base64", '{"object":"embedding","index":0,"embedding":"', "AACAPwAA", '"}', ""],
    ["vectors", "", (index) => `{"index":${index},"embedding":[0]}`, ""],
    ["vectors without anything", "", "{}", ""],
    ...strange('{"object":"embedding","index":0,"embedding":[0],', "}"),
  ],
};

export const SPEECHES = [CHAT, RESPONSES, COMPLETIONS, ANTHROPIC, GEMINI, EMBEDDINGS];

/**
 * A body of about so many bytes: a head, as many pieces as fit, and a tail.
 * @param {string} before
 * @param {Row} row
 * @param {string} after
 * @param {number} bytes
 */
export function filled(before, [, head, piece, tail, between = ","], after, bytes) {
  const room = bytes - Buffer.byteLength(before + head + tail + after);
  if (typeof piece === "string") {
    const count = Math.max(1, Math.floor(room / Buffer.byteLength(piece + between)));
    const many = Buffer.alloc(count * Buffer.byteLength(piece + between), piece + between);
    return Buffer.concat([Buffer.from(before + head), many, Buffer.from(piece + tail + after)]);
  }
  const pieces = [];
  for (let index = 0, used = 0; used < room; index++) {
    pieces.push(piece(index));
    used += (pieces.at(-1)?.length ?? 0) + between.length;
  }
  return Buffer.from(before + head + pieces.join(between) + tail + after);
}
