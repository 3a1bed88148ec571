/** The form of the filters of requests. They hold from "Show" on, and stand in the URL. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { listKeys } from "../../gen/console/key_service.js";
import { ask } from "../api/queries.ts";
import { requestWords } from "../copy/en-requests.ts";
import { Choice, Field } from "../parts/field.tsx";
import { LateDetails } from "../parts/late-details.tsx";
import { useSettled } from "../parts/settled.ts";
import { REQUEST_BOUNDS, REQUEST_TEXTS, type RequestFilter, requestSearch } from "../search.ts";
import { REQUEST_STATES } from "../states.ts";
import { useSignedIn } from "../shell/session.ts";
import { countOf, wrongIn } from "./request-filters.ts";

/** A list to choose from; where there are more, a text narrows it. */
const KEYS_MAX = 100;
const FIND_CHARACTERS_MAX = 200;
const NAMES: readonly RequestFilter[] = [...REQUEST_TEXTS, ...REQUEST_BOUNDS];
type Typed = Readonly<Record<RequestFilter | "state", string>>;

export function FilterForm(): ReactNode {
  const search = useSearch({ from: "/requests" });
  const count = countOf(search);
  return (
    <LateDetails className="card more" summary={count === 0 ? requestWords.filters : requestWords.filtersOn(count)}>
      {() => <Form key={JSON.stringify(search)} />}
    </LateDetails>
  );
}

function Form(): ReactNode {
  const search = useSearch({ from: "/requests" });
  const navigate = useNavigate({ from: "/requests" });
  const [typed, setTyped] = useState<Typed>({ ...EMPTY, ...search });
  const isRight = NAMES.every((name) => wrongIn(name, typed[name]) === undefined);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const filters = Object.fromEntries(Object.entries(typed).map(([name, text]) => [name, text.trim()]));
    void navigate({ search: ({ account }) => ({ account, ...requestSearch(filters) }) });
  };
  const type = (name: RequestFilter | "state", value: string): void => setTyped({ ...typed, [name]: value });
  return (
    <form className="stack" onSubmit={submit}>
      <div className="filter-grid">
        <KeyChoice value={typed.key} onChoose={(id) => type("key", id)} />
        <Choice
          label={requestWords.state}
          value={typed.state}
          onChange={({ currentTarget: { value } }) => type("state", value)}
        >
          <option value="">{requestWords.any}</option>
          {REQUEST_STATES.map((state) => (
            <option key={state} value={state}>
              {requestWords.states[state]}
            </option>
          ))}
        </Choice>
        {NAMES.filter((name) => name !== "key").map((name) => (
          <Field
            key={name}
            label={requestWords.fields[name]}
            hint={name === "reason" || name === "status" ? requestWords.rules[name] : undefined}
            type={name === "from" || name === "to" ? "datetime-local" : "text"}
            inputMode={name.endsWith("Ms") ? "numeric" : undefined}
            value={typed[name]}
            wrong={wrongIn(name, typed[name])}
            onChange={({ currentTarget: { value } }) => type(name, value)}
          />
        ))}
      </div>
      <div className="row">
        <button className="button main" type="submit" disabled={!isRight}>
          {requestWords.apply}
        </button>
        <button
          className="button"
          type="button"
          onClick={() => void navigate({ search: ({ account }) => ({ account }) })}
        >
          {requestWords.clear}
        </button>
      </div>
    </form>
  );
}

const EMPTY: Typed = {
  key: "",
  model: "",
  upstream: "",
  reason: "",
  user: "",
  tag: "",
  find: "",
  status: "",
  leastCost: "",
  mostCost: "",
  leastMs: "",
  mostMs: "",
  from: "",
  to: "",
  state: "",
};

interface KeyChoiceParts {
  readonly value: string;
  readonly onChoose: (id: string) => void;
}

/** The account's keys by their names, and the one of the URL where it is none of them. */
function KeyChoice({ value, onChoose }: KeyChoiceParts): ReactNode {
  const { account } = useSignedIn();
  const [find, setFind] = useState("");
  const text = useSettled(find.trim());
  const { data } = useQuery({
    ...ask(listKeys, { accountId: account, pageSize: KEYS_MAX, text }, account),
    placeholderData: keepPreviousData,
  });
  const keys = data?.keys ?? [];
  const choice = (
    <Choice label={requestWords.key} value={value} onChange={({ currentTarget: { value: id } }) => onChoose(id)}>
      <option value="">{requestWords.any}</option>
      {value !== "" && keys.every(({ id }) => id !== value) && <option value={value}>{value}</option>}
      {keys.map(({ id, settings, hint }) => (
        <option key={id} value={id}>
          {`${settings?.name || id} ${hint}`}
        </option>
      ))}
    </Choice>
  );
  if (find === "" && (data === undefined || data.nextPageToken === "")) return choice;
  return (
    <>
      <Field
        label={requestWords.findKey}
        type="search"
        maxLength={FIND_CHARACTERS_MAX}
        value={find}
        onChange={({ currentTarget: { value: typed } }) => setFind(typed)}
      />
      {choice}
    </>
  );
}
