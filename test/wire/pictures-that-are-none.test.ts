/** What is no picture but stands in the place of one is held for as a file, on every client's wire. */
import { describe, expect, test } from "vitest";
import { type Image, type Part, Role } from "../../src/api/index.js";
import { typedRequest } from "../../src/gateway/typed-request.js";
import { clientWires } from "../../src/reading/readers.js";
import { PATH_MODEL_HEADER } from "../../src/wire/gemini/facts.js";
import { promptOf } from "../../src/wire/request/prompt.js";
import type { RequestFacts } from "../../src/wire/wire.js";

const DATA = "AAAAHGZ0eXBtcDQy";
const OTHERS = ["video/mp4", "application/pdf", "text/plain", "audio/wav", "IMAGES/png", ""];

const url = (mediaType: string): string => `data:${mediaType};base64,${DATA}`;
const read = (wire: string, body: object): RequestFacts => readText(wire, JSON.stringify(body));
const readText = (wire: string, body: string, headers = {}): RequestFacts => {
  const reader = clientWires.get(wire);
  if (reader === undefined) throw new Error(`no wire is called ${wire}`);
  return reader.readRequest({ wire, body: Buffer.from(body), headers }).facts;
};
const chat = (content: readonly object[]): object => ({ model: "m", messages: [{ role: "user", content }] });
const anthropicImage = (mediaType: string): object => ({
  type: "image",
  source: { type: "base64", media_type: mediaType, data: DATA },
});
const MARK = "ADDRESS";
const spelledIn = (wire: string, body: object, spelled: string): RequestFacts =>
  readText(
    wire,
    JSON.stringify(body).replace(MARK, () => spelled),
  );
const typed = (mediaType: string, wrap?: (part: Part) => Part): RequestFacts =>
  typedImage({ $case: "inline", value: { mediaType, data: Buffer.from(DATA, "base64") } }, wrap);
const typedAddress = (value: string): RequestFacts => typedImage({ $case: "url", value });
const typedImage = (source: Image["source"], wrap: (part: Part) => Part = (part) => part): RequestFacts => {
  const part = wrap({ kind: { $case: "image", value: { source, detail: undefined } }, cacheMark: undefined });
  const message = { role: Role.ROLE_USER, parts: [part], name: undefined, extraJson: undefined };
  const prompt = promptOf({ messages: [message] }, "openai-chat", undefined);
  const generation = { model: "m", input: { $case: "prompt" as const, value: prompt } };
  return typedRequest({ ...generation, outputTokensMax: undefined, clamp: undefined }, prompt, false, clientWires)
    .facts;
};

const PLACES: Readonly<Record<string, (mediaType: string) => RequestFacts>> = {
  "chat, a picture": (type) => read("openai-chat", chat([{ type: "image_url", image_url: { url: url(type) } }])),
  "chat, a bare address": (type) => read("openai-chat", chat([{ type: "image_url", image_url: url(type) }])),
  "responses, a picture": (type) =>
    read("openai-responses", {
      model: "m",
      input: [{ role: "user", content: [{ type: "input_image", image_url: url(type) }] }],
    }),
  "responses, what a tool returned": (type) =>
    read("openai-responses", {
      model: "m",
      input: [
        { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "c", output: [{ type: "input_image", image_url: url(type) }] },
      ],
    }),
  "compaction, a picture": (type) =>
    read("openai-compaction", {
      model: "m",
      input: [{ role: "user", content: [{ type: "input_image", image_url: url(type) }] }],
    }),
  "messages, a picture": (type) =>
    read("anthropic", { model: "m", max_tokens: 9, messages: [{ role: "user", content: [anthropicImage(type)] }] }),
  "messages, what a tool returned": (type) =>
    read("anthropic", {
      model: "m",
      max_tokens: 9,
      messages: [
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: [anthropicImage(type)] }] },
      ],
    }),
  "the typed form, a picture": (type) => typed(type),
  "the typed form, what a tool returned": (type) =>
    typed(type, (part) => ({
      kind: { $case: "toolResult", value: { callId: "c", parts: [part], isError: false, custom: false } },
      cacheMark: undefined,
    })),
};

/** Addresses as a body spells them: behind each may be a film, or data that no reader here knows. */
const FILMS = [
  `data:video/mp4;base64,${DATA}`,
  `\\u0064ata:video/mp4;base64,${DATA}`,
  `data:video\\/mp4;base64,${DATA}`,
  `DATA:image/png;base64,${DATA}`,
  ` data:video/mp4;base64,${DATA}`,
  `data:IMAGES/png;base64,${DATA}`,
  "https://www.youtube.com/watch?v=1",
  "https:\\/\\/youtu.be\\/1",
  "http://me@m.YouTube.com:443?v=1",
  "https://you\\ttube.com/1",
  "https://youtube.com.#1",
  `https://${"a".repeat(2000)}@youtube.com/1`,
  "https:/youtube.com/1",
  "gs://films/one.mp4",
  "",
];
const PICTURES = [
  `data:image/png;base64,${DATA}`,
  `data:image\\/png;base64,${DATA}`,
  "https://example.com/a.png",
  "https:\\/\\/example.com\\/a.png",
  "http://youtube.com.example/a",
  `https://example.com/${"a".repeat(3000)}`,
];
/** The same places, which a body or a part is made for by what stands between the quotes. */
const ADDRESSED: Readonly<Record<string, (spelled: string) => RequestFacts>> = {
  "chat, a picture": (spelled) =>
    spelledIn("openai-chat", chat([{ type: "image_url", image_url: { url: MARK } }]), spelled),
  "chat, a bare address": (spelled) =>
    spelledIn("openai-chat", chat([{ type: "image_url", image_url: MARK }]), spelled),
  "responses, a picture": (spelled) =>
    spelledIn(
      "openai-responses",
      { model: "m", input: [{ role: "user", content: [{ type: "input_image", image_url: MARK }] }] },
      spelled,
    ),
  "messages, a picture": (spelled) =>
    spelledIn(
      "anthropic",
      {
        model: "m",
        max_tokens: 9,
        messages: [{ role: "user", content: [{ type: "image", source: { type: "url", url: MARK } }] }],
      },
      spelled,
    ),
  "the typed form, a picture": (spelled) => typedAddress(String(JSON.parse(`"${spelled}"`))),
};

describe.each(Object.keys(PLACES))("%s", (place) => {
  test("is a picture where it says so", () => {
    expect(PLACES[place]?.("image/png")).toMatchObject({ imageCount: 1, fileCount: 0 });
  });

  test.each(OTHERS)("is as dear as a file may be where it is '%s'", (mediaType) => {
    expect(PLACES[place]?.(mediaType)).toMatchObject({ imageCount: 0, fileCount: 1 });
  });
});

describe.each(Object.keys(ADDRESSED))("%s by its address", (place) => {
  test.each(PICTURES)("is a picture at '%s'", (spelled) => {
    expect(ADDRESSED[place]?.(spelled)).toMatchObject({ imageCount: 1, fileCount: 0 });
  });

  test.each(FILMS)("is as dear as a file may be at '%s'", (spelled) => {
    expect(ADDRESSED[place]?.(spelled)).toMatchObject({ imageCount: 0, fileCount: 1 });
  });
});

test("a film that says it is a picture is as dear as a file to Google's own clients", () => {
  const fileData = { mimeType: "image/png", fileUri: "https://youtu.be/1" };
  const body = JSON.stringify({ contents: [{ parts: [{ fileData }] }] });
  const facts = readText("gemini", body, { [PATH_MODEL_HEADER]: "m" });
  expect(facts).toMatchObject({ imageCount: 0, fileCount: 1 });
});
