/** The sound of an answer, put together from its fragments. */
import type { Part } from "../../../api/index.js";
import { type JsonObject, textOf } from "../../json/value.js";
import { partOf } from "../../request/part.js";

const AUDIO_CHARACTERS_MAX = 64 * 1024 * 1024;

export class AnswerAudio {
  private id = "";
  private transcript = "";
  /** Base64: each fragment is a whole piece of it. */
  private readonly pieces: Buffer[] = [];
  private characters = 0;

  /** `isKept` says whether it is told as a part in the end. */
  constructor(private readonly isKept: boolean) {}

  /** Reads one fragment. Returns what is said in it. */
  read(fragment: JsonObject): string {
    this.id ||= textOf(fragment["id"]);
    const data = textOf(fragment["data"]);
    if (!this.isKept) return textOf(fragment["transcript"]);
    if (data !== "" && this.characters + data.length <= AUDIO_CHARACTERS_MAX) {
      this.characters += data.length;
      this.pieces.push(Buffer.from(data, "base64"));
    }
    const said = textOf(fragment["transcript"]);
    this.transcript += said;
    return said;
  }

  /** The whole of it; undefined where nothing came. */
  part(): Part | undefined {
    const transcript = this.transcript === "" ? undefined : this.transcript;
    if (this.pieces.length > 0) {
      // The request chose the format, and the answer does not repeat it.
      const inline = { mediaType: "audio/*", data: Buffer.concat(this.pieces) };
      return partOf({ $case: "audio", value: { source: { $case: "inline", value: inline }, transcript } });
    }
    if (this.id === "" && transcript === undefined) return undefined;
    return partOf({ $case: "audio", value: { source: { $case: "fileId", value: this.id }, transcript } });
  }
}
