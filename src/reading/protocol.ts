/** What is said between the event loop and the thread that reads long bodies. */
import type { Member } from "../wire/json/splice.js";
import type { NamedItem } from "../wire/openai-responses/index.js";
import type { AnswerOrder, AnswerReport, BodyOrder, LongText, RequestFacts, SourceBody } from "../wire/wire.js";

/** A body in memory that both sides see; nothing of it is copied. */
export interface SharedSource {
  readonly wire: string;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  readonly purpose: "generate" | "count";
}

export type Task =
  | { readonly kind: "read" }
  | { readonly kind: "write"; readonly order: BodyOrder }
  | { readonly kind: "text" }
  | { readonly kind: "outline" }
  | { readonly kind: "names" }
  | { readonly kind: "answer"; readonly order: AnswerOrder }
  | { readonly kind: "tell"; readonly order: AnswerOrder; readonly to: TellOrder }
  | { readonly kind: "fold"; readonly order: FoldOrder; readonly to: TellOrder };

/** How the steps of a stream that is taken as one answer stand in the body, and what was asked. */
export interface FoldOrder {
  readonly lengths: readonly number[];
  readonly asked: SourceBody;
}

/** How a long answer is written for its client. */
export interface TellOrder {
  readonly wire: string;
  /** The finish, as the protocol writes it. */
  readonly finish: Uint8Array;
  readonly createTime: Date;
}

export interface ReadingRequest {
  readonly source: SharedSource;
  readonly task: Task;
}

/** What is known of a body that was read. */
export interface ReadBody {
  readonly facts: RequestFacts;
  /** The same request without what was said. */
  readonly outline: Uint8Array;
  /** The members of the outline; none if the request came in the typed form. */
  readonly outlineMembers: readonly Member[];
  /** A digest of how the conversation begins; empty if the request came in the typed form. */
  readonly opening: string;
  readonly embedding: { readonly encoding: "float" | "base64"; readonly dimensions: number | undefined } | undefined;
}

export interface WrittenBody {
  readonly body: Uint8Array;
  readonly dropped: readonly string[];
  /** Members that no table knows. */
  readonly unknown: readonly string[];
  /** The ids of the conversation's calls, where the body was written for an upstream of another wire. */
  readonly callIds: readonly string[];
}

/** What is known of an answer that was read. */
export interface AnswerInBytes {
  readonly report: AnswerReport;
  /** Absent where the wire's own bytes are the body as it came. */
  readonly source: Uint8Array | undefined;
  /** Messages of steps, as the protocol writes them. */
  readonly steps: readonly Uint8Array[];
  readonly vectors: readonly Float64Array[] | undefined;
}

/** The text as UTF-16. */
export type TextInBytes = Omit<LongText, "text"> & { readonly bytes: Uint8Array };

export type Answer =
  | { readonly kind: "read"; readonly value: ReadBody }
  | { readonly kind: "written"; readonly value: WrittenBody }
  | { readonly kind: "text"; readonly value: TextInBytes | undefined }
  | { readonly kind: "outline"; readonly value: Uint8Array }
  | { readonly kind: "answer"; readonly value: AnswerInBytes }
  | { readonly kind: "told"; readonly value: Uint8Array }
  | { readonly kind: "names"; readonly value: readonly NamedItem[] }
  | { readonly kind: "refused"; readonly reason: string; readonly metadata: Readonly<Record<string, string>> }
  | { readonly kind: "failed"; readonly message: string };
