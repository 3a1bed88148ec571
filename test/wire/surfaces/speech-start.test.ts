/** The first bytes of an answer say whether it is sound or events. */
import { expect, test } from "vitest";
import { decodeStream } from "../../../src/wire/openai-speech/events/read.js";

const decoder = () => decodeStream(undefined as never, undefined as never);

test.each([
  ["a quiet sample that begins with a colon", [0x3a, 0x00, 0x12, 0x00, 0x00, 0x00, 0xff, 0xff]],
  ["a header of WAV", [...Buffer.from("RIFF1234WAVE")]],
  ["fewer bytes than events need", [0x3a]],
])("%s is sound, and passes unchanged", (_name, bytes) => {
  const sound = Buffer.from(bytes);
  const stream = decoder();
  const pieces = [...sound].map((byte) => stream.push(Buffer.of(byte)));
  const parts = [...pieces, stream.end()].map(({ source }) => source as Buffer);
  expect(Buffer.concat(parts)).toEqual(sound);
  expect(stream.report.made).toBe("content");
});

test.each(["", ": keep-alive\n\n"])("events after %j are read as events", (before) => {
  const stream = decoder();
  const audio = Buffer.from("sound");
  const delta = JSON.stringify({ type: "speech.audio.delta", audio: audio.toString("base64") });
  const done = JSON.stringify({ type: "speech.audio.done", usage: { input_tokens: 3, output_tokens: 7 } });
  const { source } = stream.push(Buffer.from(`${before}data: ${delta}\n\ndata: ${done}\n\n`));
  expect(source).toEqual(audio);
  expect(stream.report.usage).toMatchObject({ inputTokens: 3n, audioOutputTokens: 7n });
});

test.each([
  ["whose only event is its end", []],
  ["whose sound is empty", [{ type: "speech.audio.delta", audio: "" }]],
  ["whose sound cannot be read", [{ type: "speech.audio.delta", audio: 7 }]],
])("a stream %s is a failure, whatever usage it reports", (_name, before) => {
  const stream = decoder();
  const done = { type: "speech.audio.done", usage: { input_tokens: 3, output_tokens: 7 } };
  const text = [...before, done].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const { source, error } = stream.push(Buffer.from(text));
  expect({ bytes: (source as Buffer).length, reason: error?.reason }).toEqual({
    bytes: 0,
    reason: "ERROR_REASON_UPSTREAM_FAILED",
  });
  expect(stream.report).toMatchObject({ made: "nothing", complete: false });
});
