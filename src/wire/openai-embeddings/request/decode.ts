/** From a client's body to a request for vectors. */
import { readTree } from "../../json/node.js";
import { besideInput, ReadOnlyRequest } from "../../request/read-only.js";
import type { EmbeddingQuestion, SourceBody, WireRequest } from "../../wire.js";
import { OPENAIS, type Scan, scanRequest } from "./scan.js";

/** A request of this wire. */
export class EmbeddingRequest extends ReadOnlyRequest<Scan> implements EmbeddingQuestion {
  private built: readonly (string | readonly number[])[] | undefined;

  get embedding(): EmbeddingQuestion {
    return this;
  }

  get encoding(): "float" | "base64" {
    return this.scan.encoding;
  }

  get dimensions(): number | undefined {
    return this.scan.dimensions;
  }

  inputs(): readonly (string | readonly number[])[] {
    this.built ??= readInputs(this.source.body);
    return this.built;
  }

  beside(): readonly string[] {
    const { body } = this.source;
    return besideInput(body, this.scan.members, OPENAIS).map(({ valueStart, end }) =>
      body.toString("utf8", valueStart, end),
    );
  }
}

/** Reads a client's body in one pass. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function readRequest(source: SourceBody): WireRequest {
  return new EmbeddingRequest(source, scanRequest(source.body));
}

/** The inputs of a body that was scanned: whatever else it holds was refused there. */
function readInputs(body: Buffer): readonly (string | readonly number[])[] {
  const input = readTree(body).members.get("input");
  if (input?.kind === "string") return [input.text];
  const items = input?.items ?? [];
  if (items[0]?.kind === "number") return [items.map((item) => Number(item.raw()))];
  return items.map((item) => (item.kind === "string" ? item.text : item.items.map((token) => Number(token.raw()))));
}
