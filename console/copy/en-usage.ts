/** The sentences of the page of usage in English. */
export const usageWords = {
  about: "Spend, tokens and requests by group. Days are UTC.",
  by: "Group by",
  also: "and by",
  nothing: "nothing else",
  groups: { model: "Model", key: "Key", upstream: "Upstream", user: "End user", tag: "Tags", day: "Day" },
  show: "Chart shows",
  measures: { spend: "Spend", tokens: "Tokens", requests: "Requests" },
  requests: "Requests",
  input: "Tokens in",
  output: "Tokens out",
  meters: "Other units",
  cost: "Cost",
  total: "Total",
  csv: "Download CSV",
  emptyTitle: "No usage in this period",
  emptyAbout: "Choose more days, or send a request first.",
  failed: "Failed",
  others: "all others",
  folded: (most: string) =>
    `Each column lists the ${most} most expensive values. All other values are summed under “all others”.`,
} as const;
