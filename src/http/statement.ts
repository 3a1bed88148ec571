/** What of management also comes as a file: an account's statement, the sums of usage, and the audit log. */
import { AccountServiceService, AuditServiceService, UsageServiceService } from "../api/index.js";
import type { SummarizeUsageResponse } from "../api/index.js";
import { auditHead, auditLines } from "../api/audit-csv.js";
import { ENTRY_FORMS } from "../api/entry-export.js";
import { statementEnd, statementHead, statementLines } from "../api/statement-csv.js";
import { USAGE_FORMS, type UsageForm } from "../api/usage-export.js";
import { csvAnswer } from "./csv-pages.js";

export const answerStatement = csvAnswer({
  method: AccountServiceService.getStatement,
  name: ({ id }) => `statement-${id}`,
  head: statementHead,
  lines: statementLines,
  // A statement without it is cut.
  end: statementEnd,
  others: {
    jsonl: {
      head: () => "",
      lines: ({ entries }, { id }) => entries.map((entry) => ENTRY_FORMS.jsonl.line(id, entry)).join(""),
      end: () => "",
    },
  },
});

const summed = ({ head, line }: UsageForm) => ({
  head: () => head,
  lines: ({ summaries }: SummarizeUsageResponse) => summaries.map(line).join(""),
  end: () => "",
});

export const answerSummaries = csvAnswer({
  method: UsageServiceService.summarizeUsage,
  name: () => "usage",
  ...summed(USAGE_FORMS.csv),
  others: { jsonl: summed(USAGE_FORMS.jsonl), focus: summed(USAGE_FORMS.focus) },
});

export const answerAudit = csvAnswer({
  method: AuditServiceService.listAuditEvents,
  name: () => "audit",
  head: auditHead,
  lines: auditLines,
  end: () => "",
});
