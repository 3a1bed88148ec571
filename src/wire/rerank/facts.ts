/** What is fixed of the wire, and how its upstreams differ. */

export const WIRE_NAME = "rerank";

/** How an upstream differs from Jina and vLLM, whose names and forms the wire has. */
export interface RerankDialect {
  /** The member that bounds the results. */
  readonly limit: "top_n" | "top_k";
  /** True where each document is a text, and an object is refused. */
  readonly textsOnly: boolean;
  /** False where the upstream tells no documents in its answer, and refuses who asks for them. */
  readonly tellsDocuments: boolean;
}

export const DIALECT: RerankDialect = { limit: "top_n", textsOnly: false, tellsDocuments: true };
