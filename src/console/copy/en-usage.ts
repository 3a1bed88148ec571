/** The sentences of the page of usage in English. */
export const usageWords = {
  about: "What was spent, on what. Days are UTC.",
  by: "Group by",
  also: "and by",
  nothing: "nothing more",
  groups: { model: "Model", key: "Key", day: "Day", account: "Account" },
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
  cut: "These days have more than a thousand groups; the rest is in the total only. Choose fewer days.",
} as const;
