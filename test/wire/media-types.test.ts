/** Media types by the names that clients give them: each upstream gets the one that it takes. */
import { describe, expect, test } from "vitest";
import { wire as anthropic } from "../../src/wire/anthropic/index.js";
import { createWire as createConverse } from "../../src/wire/bedrock-converse/index.js";
import { wire as gemini } from "../../src/wire/gemini/index.js";
import { openAiChatDialect } from "../../src/wire/openai-chat/facts-dialect.js";
import { wire as chat } from "../../src/wire/openai-chat/index.js";
import { wire as responses } from "../../src/wire/openai-responses/index.js";
import type { Dialect, UpstreamWire, Wire } from "../../src/wire/wire.js";

type Json = Readonly<Record<string, unknown>>;

const DATA = "AAAA";

const PICTURES = [
  ["image/jpg", "image/jpeg"],
  ["image/JPG", "image/jpeg"],
  ["image/pjpeg", "image/jpeg"],
  ["image/jpeg", "image/jpeg"],
  ["image/PNG", "image/png"],
  ["IMAGE/png", "image/png"],
  ["image/x-png", "image/png"],
  ["image/png;charset=utf-8", "image/png"],
  ["image/png ; name=a.png", "image/png"],
  ["image/webp; charset=binary", "image/webp"],
] as const;
const FILES = [
  ["application/pdf", "application/pdf"],
  ["Application/PDF", "application/pdf"],
  ["application/x-pdf", "application/pdf"],
  ["application/pdf;name=a.pdf", "application/pdf"],
] as const;
/** Of text, some wires take the words and no type. */
const TEXTS = ["text/plain", "text/plain;charset=utf-8", "TEXT/Plain; charset=UTF-8", "text/x-markdown"] as const;

/** How a client of each wire gives a picture, and a file, alone and within a tool's result where it can. */
const CLIENTS: readonly {
  readonly wire: Wire;
  picture(mediaType: string): readonly Json[];
  file(mediaType: string): readonly Json[];
  body(parts: readonly Json[]): Json;
}[] = [
  {
    wire: chat,
    picture: (type) => [
      { type: "image_url", image_url: { url: `data:${type};base64,${DATA}` } },
      { type: "image_url", image_url: { url: `data:${type};BASE64,${DATA}` } },
    ],
    file: (type) => [{ type: "file", file: { filename: "a", file_data: `data:${type};base64,${DATA}` } }],
    body: (content) => ({ model: "m", messages: [{ role: "user", content }] }),
  },
  {
    wire: responses,
    picture: (type) => [{ type: "input_image", image_url: `data:${type};base64,${DATA}` }],
    file: (type) => [{ type: "input_file", filename: "a", file_data: `data:${type};base64,${DATA}` }],
    body: (content) => ({ model: "m", input: [{ role: "user", content }] }),
  },
  {
    wire: anthropic,
    picture: (media_type) => {
      const image = { type: "image", source: { type: "base64", media_type, data: DATA } };
      return [image, { type: "tool_result", tool_use_id: "c", content: [image] }];
    },
    file: (media_type) => [{ type: "document", source: { type: "base64", media_type, data: DATA } }],
    body: (content) => ({
      model: "m",
      max_tokens: 9,
      tools: [{ name: "f", input_schema: { type: "object" } }],
      messages: [
        { role: "user", content: "go" },
        { role: "assistant", content: [{ type: "tool_use", id: "c", name: "f", input: {} }] },
        { role: "user", content },
      ],
    }),
  },
  {
    wire: gemini,
    picture: (mimeType) => [{ inlineData: { mimeType, data: DATA } }],
    file: (mimeType) => [{ inlineData: { mimeType, data: DATA } }],
    body: (parts) => ({ contents: [{ role: "user", parts }] }),
  },
];

const formatOf = (type: string): string => `"format":"${type.split("/")[1] ?? ""}"`;

const TARGETS: readonly {
  readonly wire: UpstreamWire;
  readonly dialect: Dialect;
  readonly named: (mediaType: string) => string;
}[] = [
  { wire: anthropic, dialect: {}, named: (type) => `"media_type":"${type}"` },
  { wire: createConverse(() => "id"), dialect: {}, named: formatOf },
  { wire: gemini, dialect: {}, named: (type) => `"mimeType":"${type}"` },
  { wire: responses, dialect: {}, named: (type) => `"data:${type};base64,` },
  { wire: chat, dialect: { ...openAiChatDialect }, named: (type) => `"data:${type};base64,` },
];

const PAIRS = CLIENTS.flatMap((client) =>
  TARGETS.filter(({ wire }) => wire.name !== client.wire.name).map((target) => ({
    client,
    target,
    from: client.wire.name,
    to: target.wire.name,
  })),
);

function sent({ client, target }: (typeof PAIRS)[number], part: Json): string {
  const body = Buffer.from(JSON.stringify(client.body([part])));
  const request = client.wire.readRequest({ wire: client.wire.name, body, headers: { "x-tollgate-path-model": "m" } });
  const owned = { model: "m", facts: {}, outputTokensMax: 9, stream: false, candidateCount: 1 };
  return target.wire.encodeRequest(request, owned, target.dialect, []).toString();
}

describe("a media type has the name that its upstream takes", () => {
  test.each(PAIRS)("pictures: $from to $to", (pair) => {
    for (const [told, want] of PICTURES)
      for (const part of pair.client.picture(told)) {
        const body = sent(pair, part);
        expect(body).toContain(pair.target.named(want));
        expect(body.match(new RegExp(DATA, "g"))).toHaveLength(1);
      }
  });

  test.each(PAIRS)("files: $from to $to", (pair) => {
    for (const [told, want] of FILES)
      for (const part of pair.client.file(told)) expect(sent(pair, part)).toContain(pair.target.named(want));
  });

  test.each(PAIRS)("texts are none that is refused, and bear no charset: $from to $to", (pair) => {
    for (const told of TEXTS)
      for (const part of pair.client.file(told)) expect(sent(pair, part)).not.toMatch(/charset|TEXT\/|x-markdown/);
  });
});
