/** From a client's body to a request to rank documents. */
import { listOf, objectOf, parsed, textOf } from "../../json/value.js";
import { ReadOnlyRequest } from "../../request/read-only.js";
import type { SourceBody, SurfaceText } from "../../wire.js";
import { type Scan, scanRequest } from "./scan.js";

/** A request of this wire. */
export class RerankRequest extends ReadOnlyRequest<Scan> {
  private read: Said | undefined;

  /** Built at most once, and only where something needs it. */
  get said(): Said {
    this.read ??= saidIn(this.source.body);
    return this.read;
  }

  readText(): SurfaceText {
    const { query, documents } = this.said;
    const texts = documents.map((one) => documentText(one) ?? JSON.stringify(one));
    const beside = this.scan.beside.map(({ valueStart, end }) => this.source.body.toString("utf8", valueStart, end));
    return { texts: [query, ...texts, ...beside], repeatedTokens: this.scan.queryTokens * (texts.length - 1) };
  }
}

/** Reads a client's body in one pass. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function readRequest(source: SourceBody): RerankRequest {
  return new RerankRequest(source, scanRequest(source.body));
}

/** The text of a document: itself, or its member `text`; undefined where it has none. */
export function documentText(document: unknown): string | undefined {
  const text = typeof document === "string" ? document : objectOf(document)?.["text"];
  return typeof text === "string" ? text : undefined;
}

/** What a body asks that was scanned. */
export interface Said {
  readonly query: string;
  readonly documents: readonly unknown[];
  /** The most results; undefined where the client sets no bound. */
  readonly resultsMax: number | undefined;
  readonly returnsDocuments: boolean;
  /** True where the client speaks as Voyage's do, which call the bound and the list otherwise. */
  readonly isVoyage: boolean;
}

export function saidIn(body: Buffer): Said {
  const said = objectOf(parsed(body.toString("utf8"))) ?? {};
  const most = said["top_n"] ?? said["top_k"];
  return {
    query: textOf(said["query"]),
    documents: listOf(said["documents"]),
    resultsMax: typeof most === "number" ? most : undefined,
    returnsDocuments: said["return_documents"] === true,
    isVoyage: "top_k" in said,
  };
}
