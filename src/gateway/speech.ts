/** Requests for speech: streamed through the one pipeline, as bytes of sound. */
import type { Sink } from "../api/channel.js";
import type { Source, StreamSpeechRequest, StreamSpeechResponse } from "../api/index.js";
import { noteArrival } from "./arrival.js";
import type { GatewayCall } from "./gateway.js";
import { generate } from "./generate.js";
import type { AnswerBatch } from "./meter-types.js";
import type { Steps } from "./steps.js";
import { readSurface } from "./surface.js";
import { requireSaid, sourceOf } from "./typed-surface.js";

/** Streams the sound. Rejects with a GatewayError; after the first message that means that the answer is incomplete. */
export async function streamSpeech(
  request: StreamSpeechRequest,
  call: GatewayCall,
  sink: Sink<StreamSpeechResponse>,
  steps: Steps,
): Promise<void> {
  const wire = steps.surfaces.speech;
  const source = speechSource(request, wire.name);
  noteArrival(source, "", call);
  const pieces: Sink<AnswerBatch> = {
    head: (metadata) => sink.head(metadata),
    data: ({ events, source: audio }) => {
      const last = events.at(-1)?.kind;
      return sink.data({ audio, finish: last?.$case === "finish" ? last.value : undefined });
    },
    onDrain: (callback) => sink.onDrain(callback),
  };
  await generate(() => readSurface(source, wire, call, steps), call, pieces, steps);
}

/** The client's own body, or one of the wire that says the same. Throws PARAMETER_MISSING. */
export function speechSource(request: StreamSpeechRequest, wire: string): Source {
  const { source, model, text, voice, instructions, format, speed } = request;
  if (source !== undefined) return source;
  requireSaid("text", text.length);
  requireSaid("voice", voice.length);
  return sourceOf(wire, {
    model,
    input: text,
    voice,
    instructions: instructions === "" ? undefined : instructions,
    response_format: format === "" ? undefined : format,
    speed,
  });
}
