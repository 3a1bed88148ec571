/** Makes a batch of top-up codes, and shows them this once. */
import { type FormEvent, type ReactNode, useState } from "react";
import {
  createTopUpCodes,
  type CreateTopUpCodesResponse,
  listTopUpBatches,
} from "../../gen/console/payment_service.js";
import { call } from "../api/client.ts";
import { forget } from "../api/queries.ts";
import { useMaking } from "../api/use-act.ts";
import { codeWords } from "../copy/en-codes.ts";
import { Code } from "../parts/code.tsx";
import { csvOf } from "../parts/csv.ts";
import { Dialog } from "../parts/dialog.tsx";
import { DialogFoot } from "../parts/dialog-foot.tsx";
import { saveText } from "../parts/download.ts";
import { Choice, Field } from "../parts/field.tsx";
import { useLargeAmounts } from "../parts/large-amounts.tsx";
import { Problem } from "../parts/problem.tsx";
import { parseMoney, parseWhole, typedMoney, wrongMoney } from "../typed.ts";

const COUNT_MAX = 1_000n;
const DAY_S = 86_400;
const FRESH = { count: "10", amount: "", note: "", days: "365" };

type Typed = typeof FRESH;

export function MakeCodes({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [typed, setTyped] = useState(FRESH);
  const amountNanos = parseMoney(typed.amount) ?? 0n;
  const count = countOf(typed);
  const isRight = count !== undefined && amountNanos > 0n;
  const large = useLargeAmounts([{ kind: "code", nanos: amountNanos }]);
  const make = useMaking(async () => {
    const ttlSeconds = Number(typed.days) * DAY_S;
    const answer = await call(createTopUpCodes, { count: count ?? 0, amountNanos, note: typed.note, ttlSeconds });
    large.keep();
    void forget(listTopUpBatches);
    return answer;
  }, onClose);
  if (make.data !== undefined)
    return <MadeCodes answer={make.data} amountNanos={amountNanos} note={typed.note} onClose={onClose} />;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isRight && !large.isOpen) make.run();
  };
  return (
    <Dialog title={codeWords.makeTitle} onClose={make.close}>
      <p className="soft">{codeWords.makeWill}</p>
      <form onSubmit={submit}>
        <BatchFields typed={typed} onType={setTyped} />
        {large.question}
        {make.error !== null && <Problem error={make.error} what={codeWords.makeFailed} />}
        <DialogFoot onCancel={make.close} disabled={make.isPending || !isRight || large.isOpen}>
          {codeWords.makeGo}
        </DialogFoot>
      </form>
    </Dialog>
  );
}

interface BatchFieldsParts {
  readonly typed: Typed;
  readonly onType: (typed: Typed) => void;
}

function BatchFields({ typed, onType }: BatchFieldsParts): ReactNode {
  const take = ({ currentTarget: { name, value } }: FormEvent<HTMLInputElement | HTMLSelectElement>): void =>
    onType({ ...typed, [name]: value });
  return (
    <>
      <div className="pairs">
        <Field
          label={codeWords.count}
          hint={codeWords.countRule}
          wrong={countOf(typed) === undefined ? codeWords.wrongCount : undefined}
          name="count"
          inputMode="numeric"
          value={typed.count}
          onChange={take}
          autoFocus
          required
        />
        <Field
          label={codeWords.amount}
          hint={codeWords.amountRule}
          wrong={wrongMoney(typed.amount)}
          name="amount"
          inputMode="decimal"
          value={typed.amount}
          onChange={take}
          required
        />
      </div>
      <Field
        label={codeWords.note}
        hint={codeWords.noteRule}
        name="note"
        maxLength={200}
        value={typed.note}
        onChange={take}
      />
      <Choice label={codeWords.ttl} name="days" value={typed.days} onChange={take}>
        {Object.entries(codeWords.ttls).map(([days, name]) => (
          <option key={days} value={days}>
            {name}
          </option>
        ))}
      </Choice>
    </>
  );
}

/** Undefined where it is no number of codes. */
function countOf({ count }: Typed): number | undefined {
  const number = parseWhole(count) ?? 0n;
  return number >= 1n && number <= COUNT_MAX ? Number(number) : undefined;
}

interface MadeParts {
  readonly answer: CreateTopUpCodesResponse;
  readonly amountNanos: bigint;
  readonly note: string;
  readonly onClose: () => void;
}

function MadeCodes({ answer: { batchId, codes }, amountNanos, note, onClose }: MadeParts): ReactNode {
  const save = (): void => {
    const rows = codes.map((code) => [code, typedMoney(amountNanos), batchId, note]);
    saveText(csvOf(["code", "amount_usd", "batch_id", "note"], rows), `codes-${batchId}.csv`, "text/csv");
  };
  return (
    <Dialog title={codeWords.shownTitle(codes.length)} onClose={onClose} isFirm>
      <p>{codeWords.shownOnce}</p>
      <div className="short">
        <Code text={codes.join("\n")} what={codeWords.codes} />
      </div>
      <div className="foot">
        <button className="button" type="button" onClick={save}>
          {codeWords.csv}
        </button>
        <button className="button main" type="button" onClick={onClose}>
          {codeWords.done}
        </button>
      </div>
    </Dialog>
  );
}
