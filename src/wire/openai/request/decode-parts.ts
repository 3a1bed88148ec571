/** The parts of a message that chat completions and responses spell alike. */
import type { Audio, CacheMark, File } from "../../../api/index.js";
import type { ObjectReader } from "../../json/node.js";
import { addressOrData, decodeAudioFormat, decodeTtl } from "./media.js";

/** Of a part, a message, a tool or a request: OpenAI's own word, or Claude's, which most clients use everywhere. */
export function decodeCacheMark(part: ObjectReader): CacheMark | undefined {
  const mark = part.object("prompt_cache_breakpoint") ?? part.object("cache_control");
  return mark === undefined ? undefined : { ttlSeconds: decodeTtl(mark.text("ttl")) };
}

export function decodeAudio(audio: ObjectReader): Audio {
  const data = Buffer.from(audio.requiredText("data"), "base64");
  const mediaType = decodeAudioFormat(audio.text("format") ?? "wav");
  return { source: { $case: "inline", value: { mediaType, data } }, transcript: undefined };
}

/**
 * A document, by its id, its address or its bytes. `addressField` is where its address stands: in chat completions only
 * some dialects have one.
 */
export function decodeFile(file: ObjectReader, addressField = "file_url"): File {
  const filename = file.text("filename");
  const fileId = file.text("file_id");
  if (fileId !== undefined) return { source: { $case: "fileId", value: fileId }, filename };
  const url = file.text(addressField);
  if (url !== undefined) return { source: { $case: "url", value: url }, filename };
  const data = file.requiredText("file_data");
  const source = addressOrData(data, file.pathOf("file_data"));
  // Bare base64 is what some clients send in place of a data URL; the usual document is meant.
  if (source.$case === "url" && !/^https?:/i.test(data)) {
    const value = { mediaType: "application/pdf", data: Buffer.from(data, "base64") };
    return { source: { $case: "inline", value }, filename };
  }
  return { source, filename };
}
