/** What of management also comes as CSV: an account's statement, and the audit log. */
import { AccountServiceService, AuditServiceService } from "../api/index.js";
import { auditHead, auditLines } from "../api/audit-csv.js";
import { statementEnd, statementHead, statementLines } from "../api/statement-csv.js";
import { csvAnswer } from "./csv-pages.js";

export const answerStatement = csvAnswer({
  method: AccountServiceService.getStatement,
  name: ({ id }) => `statement-${id}`,
  head: statementHead,
  lines: statementLines,
  // A statement without it is cut.
  end: statementEnd,
});

export const answerAudit = csvAnswer({
  method: AuditServiceService.listAuditEvents,
  name: () => "audit",
  head: auditHead,
  lines: auditLines,
  end: () => "",
});
