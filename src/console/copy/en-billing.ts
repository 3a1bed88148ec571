/** The sentences of the billing page in English. */
export const billingWords = {
  about: "What came in, what went out, and what is left.",
  available: "Balance",
  held: "Set aside",
  spent: "Spent in all",
  granted: "Credited in all",
  statement: "Statement",
  month: "Month",
  csv: "Download CSV",
  print: "Print",
  opening: "Balance before",
  closing: "Balance after",
  older: "Next page",
  first: "First page",
  emptyTitle: "Nothing was booked in this month",
  emptyAbout: "Credits, charges and refunds are listed here with the balance after each. An operator adds credit.",
} as const;
