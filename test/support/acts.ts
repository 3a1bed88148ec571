/** Who changes something in tests that ask for nothing of it. */
import { type Act, type AuditEvent, eventOf, gatewayAct } from "../../src/audit/act.js";

export const TEST_ACT: Act = gatewayAct("test", 0);
export const TEST_EVENT: AuditEvent = eventOf(TEST_ACT, { resource: "test/1", accountId: "" });
