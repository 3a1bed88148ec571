/** The tables of docs/http-api.md, made from the OpenAPI document. */
import { z } from "zod";
import { markdownTable } from "../reference-page.js";
import type { Schema } from "./message-schemas.js";

export const OPERATION = z
  .object({
    operationId: z.string(),
    tags: z.tuple([z.string()]),
    summary: z.string(),
    description: z.string().optional(),
    "x-tollgate-permission": z.string(),
    parameters: z.array(z.object({ name: z.string(), in: z.string() }).loose()).default([]),
    requestBody: z
      .object({
        content: z.object({
          "application/json": z.object({ schema: z.record(z.string(), z.unknown()), example: z.unknown().optional() }),
        }),
      })
      .loose()
      .optional(),
    responses: z.record(
      z.string(),
      z.object({ content: z.record(z.string(), z.object({ schema: z.unknown() })).optional() }).loose(),
    ),
  })
  .loose();
export const DOCUMENT = z
  .object({
    tags: z.array(z.object({ name: z.string(), description: z.string() })),
    paths: z.record(z.string(), z.record(z.string(), OPERATION)),
    components: z.object({ schemas: z.record(z.string(), z.unknown()) }).loose(),
  })
  .loose();

const TITLES = ["request", "permission", "what it does", "query parameters"];

export function httpApiPage(made: Schema): string {
  const { tags, paths } = DOCUMENT.parse(made);
  return tags
    .map(({ name, description }) => {
      const rows = Object.entries(paths).flatMap(([path, verbs]) =>
        Object.entries(verbs)
          .filter(([, operation]) => operation.tags.includes(name))
          .map(([verb, operation]) => [
            `\`${verb.toUpperCase()} ${path}\``,
            `\`${operation["x-tollgate-permission"]}\``,
            operation.summary,
            operation.parameters
              .filter((one) => one.in === "query")
              .map((one) => `\`${one.name}\``)
              .join(", "),
          ]),
      );
      return `## ${name}\n\n${description}\n\n${markdownTable(TITLES, rows)}`;
    })
    .join("\n");
}
