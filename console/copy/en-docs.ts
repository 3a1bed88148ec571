/** The sentences of the docs pages in English, which only those load. */
export const docs = {
  about: "How to call this gateway. The quick start has its address, your models and your keys.",
  pages: { start: "Quick start", api: "API reference" },
  groups: { start: "Get started", holders: "Use the gateway", operators: "Operate the gateway" },
  allPages: "All pages",
  noPage: "This page does not exist. It may belong to another release.",
  model: "Model",
  key: "Key",
  anyKey: "any",
  secretNote: (place: string) => `Replace ${place} with the secret of the key.`,
  hintNote: "A secret is shown once, when its key is created. The gateway cannot show it again.",
  makeKey: "Create a key",
  needs: (scope: string) => (scope === "public" ? "Needs no authentication." : `Needs: ${scope}.`),
  field: "Field",
  type: "Type",
  meaning: "Meaning",
  takes: "Request",
  gives: "Response",
  apiAbout:
    "The console itself uses only these calls. Fields named *_nanos are nano-USD as strings, so that no program " +
    "rounds them. /openapi.json is the OpenAPI description of all calls.",
} as const;
