/** The sentences of the docs pages in English, which only those load. */
export const docs = {
  about: "How to call this gateway, with its own address, models and keys in every example.",
  pages: { start: "Quick start", api: "API reference" },
  groups: { start: "Begin", holders: "Use it", operators: "Run it" },
  allPages: "All pages",
  noPage: "There is no such page of docs. It may be from another release.",
  model: "Model",
  key: "Key",
  anyKey: "any",
  secretNote: (place: string) => `Put the secret of the key in place of ${place}.`,
  hintNote: "Secrets are shown once, when a key is made; the gateway does not have them any more.",
  makeKey: "Make a key",
  needs: (scope: string) => (scope === "public" ? "Nobody needs to be known." : `Needs: ${scope}.`),
  field: "Field",
  type: "Type",
  meaning: "Says",
  takes: "Takes",
  gives: "Gives",
  apiAbout:
    "Everything that this console does is one of these. Fields named *_nanos are nano-USD as text, so that no reader rounds them. /openapi.json describes all of it for programs.",
} as const;
