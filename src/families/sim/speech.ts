/** The stand-in's voice: a tone that lasts as long as a person would speak the text, as events of OpenAI's speech. */
import { z } from "zod";
import { eventText } from "../../wire/events/writer.js";
import type { BuiltInModel } from "../family.js";
import { pieces } from "./pieces.js";
import { parseBody } from "./refusal.js";

export const SIM_SPEECH_MODEL: BuiltInModel = {
  id: "sim-speech-1",
  contextTokens: 8_000,
  outputTokensMax: 0,
  kind: "speech",
};

const CHARACTERS_MAX = 4_096;
const CHARACTERS_PER_SECOND = 15;
const TOKENS_PER_SECOND = 20;
const SAMPLES_PER_SECOND = 24_000;
const BYTES_PER_SAMPLE = 2;
/** Each event has a tenth of a second. */
const SAMPLES_PER_EVENT = SAMPLES_PER_SECOND / 10;
const TONE_HERTZ = 440;
const LOUDNESS = 8_000;

const bodySchema = z.looseObject({
  model: z.string(),
  input: z.string().min(1).max(CHARACTERS_MAX, `The stand-in speaks at most ${CHARACTERS_MAX} characters.`),
  voice: z.union([z.string(), z.looseObject({ id: z.string() })]),
  response_format: z.enum(["wav", "pcm"], "The stand-in speaks wav and pcm. Set response_format to one of them."),
  speed: z.number().min(0.25).max(4).nullish(),
});

/** The events of an answer, made as they are taken. Throws a SimRefusal that names what is wrong. */
export function speechEvents(bytes: Buffer | undefined): Iterator<string, void> {
  const body = parseBody(bytes, bodySchema, SIM_SPEECH_MODEL.id);
  const seconds = body.input.length / CHARACTERS_PER_SECOND / (body.speed ?? 1);
  const inputTokens = pieces(body.input).length;
  const outputTokens = Math.ceil(seconds * TOKENS_PER_SECOND);
  return events(body.response_format, Math.ceil(seconds * SAMPLES_PER_SECOND), {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  });
}

function* events(format: "wav" | "pcm", samples: number, usage: object): Generator<string, void> {
  if (format === "wav") yield delta(wavHeader(samples * BYTES_PER_SAMPLE));
  for (let from = 0; from < samples; from += SAMPLES_PER_EVENT)
    yield delta(tone(from, Math.min(samples, from + SAMPLES_PER_EVENT)));
  yield eventText("", JSON.stringify({ type: "speech.audio.done", usage }));
}

function delta(audio: Buffer): string {
  return eventText("", JSON.stringify({ type: "speech.audio.delta", audio: audio.toString("base64") }));
}

function tone(from: number, to: number): Buffer {
  const sound = Buffer.alloc((to - from) * BYTES_PER_SAMPLE);
  for (let at = from; at < to; at++) {
    const height = Math.sin((2 * Math.PI * TONE_HERTZ * at) / SAMPLES_PER_SECOND);
    sound.writeInt16LE(Math.round(LOUDNESS * height), (at - from) * BYTES_PER_SAMPLE);
  }
  return sound;
}

/** The 44 bytes before the samples of a wav of one channel. */
function wavHeader(dataBytes: number): Buffer {
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(36 + dataBytes, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(SAMPLES_PER_SECOND, 24);
  header.writeUInt32LE(SAMPLES_PER_SECOND * BYTES_PER_SAMPLE, 28);
  header.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  header.writeUInt16LE(8 * BYTES_PER_SAMPLE, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(dataBytes, 40);
  return header;
}
