/** The sentences of the docs pages in English, which only those load. */
export const docs = {
  about: "How to call this gateway, with its own address and models in every example.",
  pages: { start: "Quick start", errors: "Errors", limits: "Limits and headers", grpc: "gRPC", api: "API reference" },
  model: "Model",
  key: "Key",
  anyKey: "any",
  secretNote: (place: string) => `Put the secret of the key in place of ${place}.`,
  hintNote: "Secrets are shown once, when a key is made; the gateway does not have them any more.",
  makeKey: "Make a key",
  status: "Status",
  when: "When",
  todo: "What to do",
  header: "Header",
  meaning: "Says",
  takes: "Takes",
  gives: "Gives",
  errorsAbout:
    "Every refusal says what happened and what to do. Its header x-tollgate-reason names the reason, x-request-id the request, and x-should-retry whether a retry can help.",
  errorRows: [
    [
      "400",
      "The body or a parameter is wrong, or the input is too long for the model",
      "Change the request; the error names the parameter",
    ],
    ["401", "There is no key, or it is unknown, revoked or past its end", "Send a key that works"],
    ["402", "The balance or a budget cannot cover the request", "Add credit, raise the budget, or ask for less output"],
    ["403", "The key may not use the model, the method or the address", "Use another key, or have this one changed"],
    ["404", "There is no such model or path", "Look at the list of models; the error says what is near"],
    ["413", "The body is too large", "Send less"],
    ["429", "A limit is reached: requests, tokens, or requests at once", "Wait as long as retry-after says"],
    ["500", "The gateway failed", "Try again; tell an operator the request id"],
    ["502", "The upstream failed", "Try again"],
    ["503", "No upstream is free, or the gateway stops", "Try again after a moment"],
    ["504", "The upstream took too long", "Try again, or ask for less"],
  ],
  limitsAbout:
    "Limits are of a key, of its account, and of the account’s use of a model. Any 60 seconds hold at most the limit.",
  headerRows: [
    ["x-request-id", "the request, as it stands in the log of requests"],
    ["x-ratelimit-limit-requests, -tokens", "the limit that is nearest"],
    ["x-ratelimit-remaining-requests, -tokens", "what is left of it"],
    ["x-ratelimit-reset-requests, -tokens", "when it is whole again"],
    ["retry-after, retry-after-ms", "how long to wait before a retry"],
    ["x-tollgate-upstream", "which upstream answered"],
    ["x-tollgate-attempts", "how many upstreams were asked"],
    ["x-tollgate-cost-nanos", "what the request cost, in nano-USD, where that is known before the answer"],
    ["x-tollgate-clamped", "that the most output was lowered to what the balance covers"],
  ],
  grpcAbout:
    "The same gateway, typed: the same keys, limits, money and errors. Stubs come from the proto files of the package or from reflection.",
  apiAbout:
    "Everything that this console does is one of these. Fields named *_nanos are nano-USD as text, so that no reader rounds them.",
} as const;
