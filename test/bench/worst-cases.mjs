/** Requests that are as costly to read as their size allows: for each wire the shapes that its readers like least. */

/** Just below the most that a body may be. */
export const WORST_BYTES_MAX = 32 * 1024 * 1024 - 4096;

/**
 * @typedef {object} WorstCase
 * @property {string} name
 * @property {string} wire The wire that reads it.
 * @property {string} path Where it is posted.
 * @property {(model: string, bytes?: number) => Buffer} body
 * @property {Record<string, string>} [headers]
 */

/**
 * A body of about so many bytes: a head, as many pieces as fit, and a tail.
 * @param {string} head
 * @param {string | ((index: number) => string)} piece
 * @param {string} between
 * @param {string} tail
 * @param {number} bytes
 */
export function filled(head, piece, between, tail, bytes) {
  const room = bytes - Buffer.byteLength(head) - Buffer.byteLength(tail);
  if (typeof piece === "string") {
    const one = Buffer.byteLength(piece + between);
    const count = Math.max(1, Math.floor(room / one));
    return Buffer.from(head + (piece + between).repeat(count - 1) + piece + tail);
  }
  const pieces = [];
  let used = 0;
  for (let index = 0; used < room; index++) {
    const next = piece(index);
    used += next.length + between.length;
    pieces.push(next);
  }
  return Buffer.from(head + pieces.slice(0, -1).join(between) + tail);
}

/** One piece for all of the text. */
const TEXTS = /** @type {const} */ ([
  ["one letter", "a"],
  ["blanks", " "],
  ["signs that grow", "\ufdfa"],
  ["escaped signs that grow", "\\ufdfa"],
  ["escaped quotes", '\\"'],
  ["escaped letters", "\\u0061"],
  ["emoji", "\u{1f469}\u200d\u{1f467}"],
  ["escaped halves of pairs", "\\ud83d\\ude00"],
  ["words", "lorem 12,5 ipsum; "],
]);

const TOOL = '{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}';
const PIXEL = "data:image/png;base64,iVBORw0KGgo=";
/** The start of a message of the user, up to its content, and a whole short conversation. */
const MESSAGE = '"messages":[{"role":"user","content":';
const HI = `${MESSAGE}"hi"}]`;
const DEEP = `${"[".repeat(40)}${"]".repeat(40)}`;

/** @typedef {string | ((index: number) => string)} Piece */
/** @typedef {[name: string, head: string, piece: Piece, tail: string, between?: string]} Row */

/** @type {Row[]} */
const CHAT = [
  ...TEXTS.map(([name, piece]) => /** @type {Row} */ ([`text of ${name}`, `${MESSAGE}"`, piece, '"}]}', ""])),
  ["empty messages", '"messages":[', '{"role":"user","content":""}', "]}"],
  ["messages without anything", '"messages":[', "{}", "]}"],
  ["messages that are none", '"messages":[', "0", "]}"],
  ["short messages", '"messages":[', '{"role":"user","content":"hi"},{"role":"assistant","content":"ho"}', "]}"],
  ["parts", `${MESSAGE}[`, '{"type":"text","text":"a"}', "]}]}"],
  ["parts of unknown kinds", `${MESSAGE}[`, '{"type":"x"}', "]}]}"],
  ["small pictures", `${MESSAGE}[`, `{"type":"image_url","image_url":{"url":"${PIXEL}"}}`, "]}]}"],
  [
    "one picture",
    `${`${MESSAGE}[`}{"type":"image_url","image_url":{"url":"data:image/png;base64,`,
    "iVBORw0K",
    '"}}]}]}',
    "",
  ],
  [
    "one sound",
    `${`${MESSAGE}[`}{"type":"input_audio","input_audio":{"format":"wav","data":"`,
    "UklGRgAA",
    '"}}]}]}',
    "",
  ],
  ["tools", `${HI},"tools":[`, TOOL, "]}"],
  ["tools of long names", `${HI},"tools":[`, TOOL.replace('"f"', `"${"f".repeat(64)}"`), "]}"],
  [
    "one tool of a wide schema",
    `${HI},"tools":[{"type":"function","function":{"name":"f","parameters":{"anyOf":[`,
    '{"type":"object"}',
    "]}}}]}",
  ],
  [
    "one tool of many properties",
    `${HI},"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{`,
    (index) => `"p${index}":{"type":"string"}`,
    "}}}}]}",
  ],
  [
    "one tool of a deep schema",
    `${HI},"tools":[{"type":"function","function":{"name":"f","parameters":{"enum":[`,
    DEEP,
    "]}}}]}",
  ],
  [
    "one call of long arguments",
    `"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\\"a\\":[`,
    "[0],",
    '0]}"}}]},{"role":"tool","tool_call_id":"c","content":"ok"}]}',
    "",
  ],
  [
    "many calls",
    '"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[',
    (index) => `{"id":"c${index}","type":"function","function":{"name":"f","arguments":"{}"}}`,
    ']},{"role":"tool","tool_call_id":"c0","content":"ok"}]}',
  ],
  [
    "many results",
    '"messages":[{"role":"user","content":"hi"},',
    (index) =>
      `{"role":"assistant","tool_calls":[{"id":"c${index}","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c${index}","content":"ok"}`,
    "]}",
  ],
  ["members", HI, (index) => `"m${index}":0`, "}"],
  ["equal members", HI, '"m":0', "}"],
  ["members of metadata", `${HI},"metadata":{`, (index) => `"m${index}":"v"`, "}}"],
  ["biases", `${HI},"logit_bias":{`, (index) => `"${index}":1`, "}}"],
  ["stops", `${HI},"stop":[`, '"a"', "]}"],
  [
    "a schema of the answer",
    `${HI},"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"anyOf":[`,
    '{"const":1}',
    "]}}}}",
  ],
  ["one long name", `${HI},"`, "k", '":0}', ""],
  ["one long number", `${HI},"top_k":`, "9", "}", ""],
  ["numbers", `${HI},"x":[`, "1e9", "]}"],
  ["empty arrays", `${HI},"x":[`, "[]", "]}"],
  ["deep arrays", `${HI},"x":[`, DEEP, "]}"],
  ["arrays deeper than allowed", `${HI},"x":`, "[", "}", ""],
  ["space", `${HI}`, " ", "}", ""],
];

/** @type {Row[]} */
const RESPONSES = [
  ...TEXTS.map(([name, piece]) => /** @type {Row} */ ([`text of ${name}`, '"input":"', piece, '"}', ""])),
  ["text that nearly names others", '"input":"', "item_referenc", '"}', ""],
  ["text that nearly says what is stored", '"input":"', '\\"stor', '"}', ""],
  ["items", '"input":[', '{"role":"user","content":"a"}', "]}"],
  ["items of unknown kinds", '"input":[', '{"type":"x"}', "]}"],
  ["items that name others", '"input":[', (index) => `{"type":"item_reference","id":"mm${index}"}`, "]}"],
  ["items behind one that names another", '"input":[{"type":"item_reference","id":"x"},', "{}", "]}"],
  ["parts", '"input":[{"role":"user","content":[', '{"type":"input_text","text":"a"}', "]}]}"],
  [
    "calls",
    '"input":[',
    (index) =>
      `{"type":"function_call","call_id":"c${index}","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c${index}","output":"ok"}`,
    "]}",
  ],
  ["tools", '"input":"hi","tools":[', '{"type":"function","name":"f","parameters":{"type":"object"}}', "]}"],
];

/** @type {Row[]} */
const MESSAGES = [
  ["text of signs that grow", '"max_tokens":9,"messages":[{"role":"user","content":"', "\ufdfa", '"}]}', ""],
  ["empty messages", '"max_tokens":9,"messages":[', '{"role":"user","content":""}', "]}"],
  ["turns", '"max_tokens":9,"messages":[', '{"role":"user","content":"a"},{"role":"assistant","content":"b"}', "]}"],
  ["blocks", '"max_tokens":9,"messages":[{"role":"user","content":[', '{"type":"text","text":"a"}', "]}]}"],
  [
    "system blocks",
    '"max_tokens":9,"messages":[{"role":"user","content":"hi"}],"system":[',
    '{"type":"text","text":"a"}',
    "]}",
  ],
  [
    "tools",
    '"max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[',
    '{"name":"f","input_schema":{"type":"object"}}',
    "]}",
  ],
  [
    "a call of a large input",
    '"max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{"a":[',
    "[0]",
    ']}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"ok"}]}]}',
  ],
];

/** @type {Row[]} */
const GEMINI = [
  ["text of signs that grow", '"contents":[{"role":"user","parts":[{"text":"', "\ufdfa", '"}]}]}', ""],
  ["contents", '"contents":[', '{"role":"user","parts":[{"text":"a"}]}', "]}"],
  ["parts", '"contents":[{"role":"user","parts":[', '{"text":"a"}', "]}]}"],
  [
    "declarations",
    '"contents":[{"role":"user","parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[',
    '{"name":"f"}',
    "]}]}",
  ],
];

/** @type {Row[]} */
const EMBEDDINGS = [
  ["inputs", '"input":[', '"a"', "]}"],
  ["tokens", '"input":[', "1", "]}"],
  ["inputs of tokens", '"input":[', "[1,2,3,4,5,6,7,8]", "]}"],
];

/** @type {Row[]} */
const COMPLETIONS = [
  ["prompts", '"prompt":[', '"a"', "]}"],
  ["tokens", '"prompt":[', "1", "]}"],
];

/** @type {readonly WorstCase[]} */
export const WORST_CASES = [
  ...casesOf("openai-chat", "/v1/chat/completions", CHAT),
  ...casesOf("openai-responses", "/v1/responses", RESPONSES),
  ...casesOf("anthropic", "/v1/messages", MESSAGES),
  ...casesOf("gemini", "/v1beta/models/MODEL:generateContent", GEMINI),
  ...casesOf("openai-embeddings", "/v1/embeddings", EMBEDDINGS),
  ...casesOf("openai-completions", "/v1/completions", COMPLETIONS),
];

/** @param {Record<string, string>} headers @param {string} how */
function textWith(headers, how) {
  const text = WORST_CASES.filter(({ name }) => name === "openai-chat: text of words");
  return text.map(({ name, wire, path, body }) => ({ name: `${name}, ${how}`, wire, path, body, headers }));
}

/** Beside the bodies what else takes a look at them, and bodies where nobody expects long ones. */
/** @type {readonly WorstCase[]} */
export const WORST_REQUESTS = [
  ...WORST_CASES,
  ...textWith({ "idempotency-key": "worst" }, "with an Idempotency-Key"),
  ...textWith({ "idempotency-key": "worst" }, "with that Idempotency-Key again"),
  ...textWith({ "x-stainless-retry-count": "1" }, "as a retry"),
  ...textWith({ "x-tollgate-resumable": "1" }, "to be resumed"),
  ...casesOf("management", "/api/v1/keys", [
    ["globs of a key", '"settings":{"models":[', '"a"', "]}}"],
    ["members of a key", '"settings":{"metadata":{', (index) => `"m${index}":"v"`, "}}}"],
  ]),
  ...casesOf("management", "/api/v1/estimate", [
    ["messages of an estimate", '"generation":{"prompt":{"messages":[', "{}", "]}}}"],
  ]),
];

/**
 * @param {string} wire
 * @param {string} path
 * @param {Row[]} rows
 * @returns {WorstCase[]}
 */
function casesOf(wire, path, rows) {
  return rows.map(([name, head, piece, tail, between = ","]) => ({
    name: `${wire}: ${name}`,
    wire,
    path,
    body: (model, bytes = WORST_BYTES_MAX) => {
      const open = wire === "gemini" || wire === "management" ? "{" : `{"model":"${model}",`;
      return filled(open + head + (head.endsWith("]") && between === "," ? "," : ""), piece, between, tail, bytes);
    },
  }));
}
