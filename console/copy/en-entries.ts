/** What the ledger’s entries are called in English. */
export const entryWords = {
  time: "Time",
  kind: "What",
  amount: "Amount",
  change: "Change",
  balance: "Balance",
  id: "Entry",
  kinds: {
    unspecified: "unknown",
    hold: "set aside",
    settle: "charged",
    void: "freed",
    expire: "freed, request lost",
    overage: "charged above what was set aside",
    credit: "credit",
    refund: "refund",
    debit: "debit",
    receivable: "owed to the operator",
  },
} as const;
