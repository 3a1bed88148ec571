/** Quotas in a settings file: which are read, which are refused, and that an export reads as the same. */
import { expect, test } from "vitest";
import { QuotaPeriod } from "../../src/api/index.js";
import { exportSettings } from "../../src/config/export.js";
import { parseSettings } from "../support/parse-settings.js";

const ACCOUNT = {
  limits: [
    {
      period: QuotaPeriod.QUOTA_PERIOD_FIVE_HOURS,
      model: "",
      requests: 0n,
      tokens: 2_000_000n,
      amountNanos: 0n,
      warnPercent: 80,
    },
    {
      period: QuotaPeriod.QUOTA_PERIOD_MONTH,
      model: "gpt-*",
      requests: 500n,
      tokens: 0n,
      amountNanos: 25_000_000_000n,
      warnPercent: 0,
    },
  ],
  timeZone: "Europe/Berlin",
  dayStartHour: 6,
};
const FILE = `
accounts:
  acme:
    quotas:
      time_zone: Europe/Berlin
      day_start_hour: 6
      limits:
        - { period: five_hours, tokens: 2000000, warn_percent: 80 }
        - { period: month, model: "gpt-*", requests: 500, amount: "25.00" }
keys:
  - { account: acme, secret: sk-0123456789abcdef, quotas: { limits: [{ period: day, requests: 9 }] } }
`;

test("an account and a key say their own, and an export reads as the same", () => {
  const { accounts, keys } = parseSettings(FILE, {});
  expect(accounts[0]?.limits.quotas).toEqual(ACCOUNT);
  expect(keys[0]?.settings.quotas?.limits).toMatchObject([{ period: QuotaPeriod.QUOTA_PERIOD_DAY, requests: 9n }]);
  const exported = exportSettings({ accounts, keys: [], alerts: [] });
  expect(parseSettings(exported, {}).accounts[0]?.limits.quotas).toEqual(ACCOUNT);
});

test.each([
  { name: "a zone that does not exist", said: "time_zone: Mars/Base", rule: "must be an IANA time zone" },
  { name: "a quota of nothing", said: "limits: [{ period: day }]", rule: "must limit requests, tokens or amount" },
  {
    name: "a period that does not exist",
    said: "limits: [{ period: year, tokens: 1 }]",
    rule: "must be one of five_hours",
  },
])("$name is refused", ({ said, rule }) => {
  expect(() => parseSettings(`accounts: { acme: { quotas: { ${said} } } }\n`, {})).toThrow(rule);
});
