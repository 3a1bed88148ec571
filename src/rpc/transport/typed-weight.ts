/**
 * How much of a typed message there is to read, told by its tags alone: each field becomes a value, and a translation
 * makes several of it. Nothing is decoded.
 */
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { TYPED_FIELDS_MAX } from "../../api/typed-form.js";

/** No field is shorter: a tag, and a number or a length. */
const FIELD_BYTES_MIN = 2;

/** The fields of a message that hold messages themselves, by their numbers in the protocol. */
type Shape = Readonly<Record<number, string>>;

/** One that holds none. */
const PLAIN: Shape = {};
const MEDIA: Shape = { 2: "tollgate.v1.InlineData" };
/** What a request can hold in the typed form. Whatever is not named here holds no message. */
export const TYPED_SHAPES: Readonly<Record<string, Shape>> = {
  "tollgate.v1.StreamGenerateRequest": { 1: "tollgate.v1.Generation" },
  "tollgate.v1.GenerateRequest": { 1: "tollgate.v1.Generation" },
  "tollgate.v1.CountTokensRequest": { 1: "tollgate.v1.Generation" },
  "tollgate.v1.EstimateCostRequest": {
    1: "tollgate.v1.Generation",
    2: "tollgate.v1.EmbedRequest",
    3: "tollgate.v1.RerankRequest",
    4: "tollgate.v1.ModerateRequest",
    5: "tollgate.v1.StreamSpeechRequest",
  },
  "tollgate.v1.RerankRequest": { 5: "tollgate.v1.Source" },
  "tollgate.v1.ModerateRequest": { 3: "tollgate.v1.Source" },
  "tollgate.v1.StreamSpeechRequest": { 7: "tollgate.v1.Source" },
  "tollgate.v1.EmbedRequest": { 4: "tollgate.v1.Source" },
  "tollgate.v1.Generation": { 2: "tollgate.v1.Prompt", 3: "tollgate.v1.Source" },
  "tollgate.v1.Source": { 3: "entry" },
  "tollgate.v1.Prompt": {
    1: "tollgate.v1.Message",
    2: "tollgate.v1.Tool",
    3: "tollgate.v1.ToolChoice",
    5: "tollgate.v1.OutputFormat",
    6: "tollgate.v1.Reasoning",
    17: "entry",
    19: "entry",
    23: "tollgate.v1.Opaque",
  },
  "tollgate.v1.Message": { 2: "tollgate.v1.Part" },
  "tollgate.v1.Part": {
    1: "tollgate.v1.Text",
    2: "tollgate.v1.Image",
    3: "tollgate.v1.File",
    4: "tollgate.v1.Audio",
    5: "tollgate.v1.ToolCall",
    6: "tollgate.v1.ToolResult",
    7: "tollgate.v1.Thinking",
    8: "tollgate.v1.RedactedThinking",
    9: "tollgate.v1.Refusal",
    10: "tollgate.v1.Opaque",
    11: "tollgate.v1.CacheMark",
  },
  "tollgate.v1.Image": MEDIA,
  "tollgate.v1.File": MEDIA,
  "tollgate.v1.Audio": { 1: "tollgate.v1.InlineData" },
  "tollgate.v1.ToolResult": { 2: "tollgate.v1.Part" },
  "tollgate.v1.Tool": {
    1: "tollgate.v1.FunctionTool",
    2: "tollgate.v1.CustomTool",
    3: "tollgate.v1.Opaque",
    4: "tollgate.v1.CacheMark",
  },
  "tollgate.v1.OutputFormat": {
    1: "tollgate.v1.TextFormat",
    2: "tollgate.v1.JsonObjectFormat",
    3: "tollgate.v1.JsonSchemaFormat",
  },
};

/**
 * True of a message that has more fields, of its own and within, than are read on the event loop. `type` is its name in
 * the protocol. Throws where it is broken.
 */
export function hasManyFields(bytes: Uint8Array, type: string): boolean {
  if (bytes.length < FIELD_BYTES_MIN * TYPED_FIELDS_MAX) return false;
  const reader = new BinaryReader(bytes);
  return fieldsIn(reader, reader.len, TYPED_SHAPES[type] ?? PLAIN, 0) > TYPED_FIELDS_MAX;
}

/** Those before it, and its own up to `end`; more than the most where there are more, whose number nobody needs. */
function fieldsIn(reader: BinaryReader, end: number, shape: Shape, before: number): number {
  let count = before;
  while (reader.pos < end && count <= TYPED_FIELDS_MAX) {
    const [field, type] = reader.tag();
    count += 1;
    const inner = shape[field];
    // Groups hold fields too, and no message of the protocol has one.
    if (type === WireType.StartGroup) return Infinity;
    if (type === WireType.LengthDelimited && inner !== undefined) {
      const length = reader.uint32();
      count = fieldsIn(reader, reader.pos + length, TYPED_SHAPES[inner] ?? PLAIN, count);
    } else reader.skip(type, field);
  }
  return count;
}
