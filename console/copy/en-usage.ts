/** The sentences of the page of usage in English. */
export const usageWords = {
  about: "What was spent, on what. Days are UTC.",
  by: "Group by",
  also: "and by",
  nothing: "nothing more",
  groups: { model: "Model", key: "Key", upstream: "Upstream", user: "End user", tag: "Tags", day: "Day" },
  show: "Chart shows",
  measures: { spend: "Spend", tokens: "Tokens", requests: "Requests" },
  requests: "Requests",
  input: "Tokens in",
  output: "Tokens out",
  cost: "Cost",
  total: "Total",
  csv: "Download CSV",
  emptyTitle: "Nothing was used in these days",
  emptyAbout: "Choose more days, or send a request first.",
  failed: "Failed",
  others: "all others",
  folded: (most: string) =>
    `Each column names the ${most} that cost most. What the others have stands under “all others”, so that the total is of everything.`,
} as const;
