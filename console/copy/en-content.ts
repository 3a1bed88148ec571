/** The sentences about what requests say, and whether that is kept, in English. */
import { many } from "./en.ts";

export const contentWords = {
  title: "Prompt and answer",
  readAbout:
    "They are stored only if the account’s settings say so. The audit log records your name when you read them.",
  read: "Show content",
  none: "No content is stored for this request: storage was off, the client excluded it, or the content has expired.",
  readFailed: "The content was not loaded.",
  request: "The request",
  answer: "The answer",
  noAnswer: "There is no answer.",
  cut: "Only the beginning is stored: the text was longer than the account’s limit.",
  redacted: "Credentials, and text that matches the account’s rules, are replaced by [redacted].",
  setting: "Prompts and answers",
  off: "Prompts and answers are not stored. The request log shows only who used which model, and the cost.",
  on: "Prompts and answers are stored, encrypted, so that operators can find the cause of bad answers.",
  keptFor: "Stored for",
  keptForDays: "TOLLGATE_CONTENT_DAYS (default: one week)",
  each: "Limit per request or answer",
  all: "Limit per account",
  oldestFirst: (size: string) => `${size}; the oldest is deleted first`,
  rules: "Redaction rules",
  noRules: "none: only credentials are redacted",
  change: "Change",
  changeTitle: "Change content storage",
  changeWill:
    "From the next request on, this machine stores the account’s prompts and answers, encrypted and without " +
    "credentials. Operators can read them; the audit log records each reading. A client excludes a request with the " +
    "header x-tollgate-log: none. Tell the account’s members before you turn this on.",
  kept: "Store prompts and answers",
  rulesHint:
    "Credentials are always redacted. One rule a line; # is a digit, * is a word: ###-##-#### or *@*. At most 50.",
  eachBytes: "Limit per request or answer, KiB",
  eachHint: "Up to 1,024. Empty: 64.",
  allBytes: "Limit per account, MiB",
  allHint: "Up to 16,384. Empty: 256.",
  wrongSize: "Enter at most 999999.",
  failed: "Nothing was changed.",
  erase: "Erase a person",
  eraseTitle: "Erase a person?",
  eraseWill:
    "This deletes the stored content of the person’s requests, and removes the person’s name, tags, sessions and " +
    "addresses from the account’s log. Usage and cost of the requests stay. This cannot be undone.",
  endUser: "End user",
  endUserRule: "The value that requests sent for the person in user or x-tollgate-user.",
  eraseGo: "Erase the person",
  eraseFailed: "The person was not erased.",
  erased: (requests: number, contents: number) =>
    `Removed the person from ${many(requests, "request", "requests")}; deleted the content of ${contents}.`,
  done: "Done",
} as const;
