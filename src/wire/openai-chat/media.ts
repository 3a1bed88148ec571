/** How the wire names kinds of sound and times of caching. */

const AUDIO_FORMATS: ReadonlyMap<string, string> = new Map([["mp3", "audio/mpeg"]]);

/** The media type of a format such as wav or mp3. */
export function decodeAudioFormat(format: string): string {
  return AUDIO_FORMATS.get(format) ?? `audio/${format}`;
}

/** The format of a media type. */
export function encodeAudioFormat(mediaType: string): string {
  for (const [format, known] of AUDIO_FORMATS) if (known === mediaType) return format;
  return mediaType.replace(/^audio\/(x-)?/, "");
}

const UNIT_SECONDS: ReadonlyMap<string, number> = new Map([
  ["s", 1],
  ["m", 60],
  ["h", 3600],
]);

/** A time such as 30m, in seconds; undefined where it is none. */
export function decodeTtl(text: string | undefined): number | undefined {
  const match = /^(\d{1,6})([smh])$/.exec(text ?? "");
  const unit = UNIT_SECONDS.get(match?.[2] ?? "");
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}

/** The shorter of the wire's two times that is long enough, else the longer. */
export function encodeTtl(seconds: number | undefined): string | undefined {
  if (seconds === undefined) return undefined;
  return seconds <= 1800 ? "30m" : "12h";
}

export function dataUrl(mediaType: string, data: Buffer): string {
  return `data:${mediaType};base64,${data.toString("base64")}`;
}
