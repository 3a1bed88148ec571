/** What is fixed of the wire. Source: OpenAI's API reference, createSpeech. */

export const WIRE_NAME = "openai-speech";

/** The formats of the sound, and the content type of each. */
export const SOUND_TYPES = {
  mp3: "audio/mpeg",
  opus: "audio/ogg",
  aac: "audio/aac",
  flac: "audio/flac",
  wav: "audio/wav",
  pcm: "audio/pcm",
} as const;
export type SoundFormat = keyof typeof SOUND_TYPES;
export const FORMAT_DEFAULT: SoundFormat = "mp3";

/** More than any upstream speaks in one request. */
export const INPUT_CHARACTERS_MAX = 100_000;
/** A slow voice says 8 characters a second, and a second of sound has about 21 tokens: 2.6 tokens a character. */
const TOKENS_PER_CHARACTER_MAX = 4;
const TOKENS_BESIDE_MAX = 500;
/** A usual voice says 15 characters a second. */
const TOKENS_PER_CHARACTER = 1.4;

/** The most tokens of sound that a text becomes. `speed` is a factor. */
export function soundTokensMax(characters: number, speed: number): number {
  return Math.ceil((characters * TOKENS_PER_CHARACTER_MAX) / Math.min(1, speed)) + TOKENS_BESIDE_MAX;
}

/** The tokens of sound that a text most likely becomes. */
export function soundTokensExpected(characters: number, speed: number): number {
  return Math.ceil((characters * TOKENS_PER_CHARACTER) / speed);
}

/** How upstreams of this wire differ. */
export interface SpeechDialect {
  /** True where models report their usage in a stream of events; those named `tts-1` never do. */
  readonly reportsUsageByEvents: boolean;
}
