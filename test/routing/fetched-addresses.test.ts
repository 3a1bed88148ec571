/** No request makes a server of one's own fetch an address: whatever the wire, shape, spelling and depth. */
import { describe, expect, test } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import { families } from "../../src/families/index.js";
import { openaiCompatible } from "../../src/families/openai-compatible.js";
import { pick, randomOf } from "../support/random.js";
import type { Permits } from "../../src/wire/request/member-gate.js";
import { leaving, read, UNPRICED } from "./asked.js";

const CLOSED: Permits = { ...UNPRICED, refusesAddresses: true };
const DATA = "data:image/png;base64,iVBORw0KGgo=";
const BYTES = Buffer.alloc(96, 7).toString("base64");

const ADDRESSES = [
  "http://169.254.169.254/latest/meta-data/",
  "https://pictures.example.com/cat.png",
  "HTTP://127.1/",
  " http://localhost:6379/",
  "//10.0.0.1/x.png",
  "file:///etc/passwd",
  "/var/lib/pictures/secret.png",
  "gopher://10.0.0.1:25/_x",
  "ftp://10.0.0.1/",
  "s3://bucket/key",
  "x data:image/png;base64,aaaa",
];

/** What would leave for a server of one's own, or the member that is refused. */
function sent(wire: string, body: unknown, permits = CLOSED): string {
  try {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return leaving(read(wire, text), openaiCompatible, openaiCompatible, permits).toString();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return `${error.http} ${error.param}`;
  }
}

const part = (content: unknown) => ({ model: "m", messages: [{ role: "user", content: [content] }] });
const anthropic = (content: unknown) => ({ ...part(content), max_tokens: 5 });

/** By the client's wire: how each names what is to be fetched. */
const SHAPES: readonly [wire: string, of: (address: string) => unknown][] = [
  ["openai-chat", (url) => part({ type: "image_url", image_url: { url } })],
  ["openai-chat", (url) => part({ type: "image_url", image_url: url })],
  ["openai-chat", (url) => part({ type: "video_url", video_url: { url } })],
  ["openai-chat", (url) => part({ type: "audio_url", audio_url: { url } })],
  ["openai-chat", (url) => part({ type: "image", image: url })],
  ["openai-chat", (url) => part({ type: "video", video: [DATA, url] })],
  ["openai-chat", (url) => part({ type: "document_url", document_url: url })],
  ["openai-chat", (url) => ({ model: "m", messages: [{ role: "user", content: "Hi" }], image_data: [url] })],
  ["openai-chat", (url) => ({ model: "m", messages: [{ role: "tool", tool_call_id: "c", content: [{ url }] }] })],
  [
    "openai-responses",
    (url) => ({ model: "m", input: [{ role: "user", content: [{ type: "input_image", image_url: url }] }] }),
  ],
  ["anthropic", (url) => anthropic({ type: "image", source: { type: "url", url } })],
  [
    "gemini",
    (fileUri) => ({ contents: [{ role: "user", parts: [{ fileData: { fileUri, mimeType: "image/png" } }] }] }),
  ],
];

describe("a server of one's own", () => {
  test.each(SHAPES)("is sent no address to fetch that came as %s: %o", (wire, of) => {
    for (const address of ADDRESSES) {
      expect(sent(wire, of(address))).toMatch(/^400 /);
      expect(sent(wire, JSON.stringify(of(address)).replaceAll("//", String.raw`\/\/`))).toMatch(/^400 /);
    }
    const escaped = JSON.stringify(of("file:///etc/passwd")).replace(/url"/g, String.raw`\u0075rl"`);
    expect(sent(wire, escaped)).toMatch(/^400 /);
  });

  test("is sent the content itself, and addresses that are only words", () => {
    const url = "https://example.com/a.png";
    const call = { id: "c", type: "function", function: { name: "fetch", arguments: JSON.stringify({ url }) } };
    const schema = { type: "object", properties: { url: { type: "string", default: url } }, examples: [{ url }] };
    const bodies = [
      part({ type: "image_url", image_url: { url: DATA } }),
      part({ type: "image", image: BYTES }),
      part({ type: "text", text: url }),
      { ...part({ type: "text", text: "Hi" }), metadata: { url }, user: url },
      {
        ...part({ type: "text", text: "Hi" }),
        tools: [{ type: "function", function: { name: "f", parameters: schema } }],
      },
      { model: "m", messages: [{ role: "assistant", content: url, tool_calls: [call], annotations: [{ url }] }] },
      {
        model: "m",
        messages: [
          { role: "system", content: url },
          { role: "user", content: `Look at ${url}` },
        ],
      },
    ];
    for (const body of bodies) expect(JSON.parse(sent("openai-chat", body))).toMatchObject({ messages: body.messages });
    const input = { url };
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: [{ type: "tool_use", id: "c", name: "fetch", input }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: url }] },
    ];
    expect(sent("anthropic", { model: "m", max_tokens: 5, messages })).toContain(String.raw`{\"url\":\"https`);
  });

  test("is sent none of 2,000 addresses at a random depth, under a random name", () => {
    const random = randomOf(7);
    const names = [
      "url",
      "URL",
      "image_url",
      "imageUrl",
      "video_url",
      "audio_url",
      "file_url",
      "uri",
      "fileUri",
      "image",
    ];
    const around = ["content", "source", "x", "file", "parts", "input", "type_of", "image_url"];
    let passed = 0;
    for (let count = 0; count < 2_000; count++) {
      const address = pick(random, ADDRESSES);
      let value: unknown = { [pick(random, names)]: random() < 0.3 ? [address] : address };
      for (let depth = Math.floor(random() * 12); depth > 0; depth--)
        value =
          random() < 0.3
            ? [DATA, value]
            : { type: pick(random, ["text", "image", "x"]), [pick(random, around)]: value };
      const place = random() < 0.5 ? { messages: [{ role: "user", content: [value] }] } : { x_new: value };
      const body = { model: "m", messages: [{ role: "user", content: "Hi" }], ...place };
      if (!sent("openai-chat", body).startsWith("400 ")) passed += 1;
    }
    expect(passed).toBe(0);
  });

  test("is reached by these families, where the settings say nothing else", () => {
    const closed = families.filter(({ isSelfHosted }) => isSelfHosted === true).map(({ name }) => name);
    expect(closed.sort()).toEqual(["llamacpp", "ollama", "openai-compatible", "vllm"]);
    // Where nothing is refused, addresses leave as they came.
    expect(sent("openai-chat", part({ type: "image_url", image_url: { url: ADDRESSES[1] } }), UNPRICED)).toContain(
      ADDRESSES[1],
    );
  });
});
