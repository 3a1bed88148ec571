/** Every request that the gateway takes, as it describes itself, each with an example of the reader's own. */
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { callHeaders, send } from "../api/client.ts";
import { words } from "../copy/en.ts";
import { docs } from "../copy/en-docs.ts";
import { Code } from "../parts/code.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { type Description, exampleOf, type FieldSaid, fieldsOf, type Operation, operationsOf } from "./openapi.ts";

const ADDRESS = "/openapi.json";

export function ApiReference({ secret }: { readonly secret: string }): ReactNode {
  const described = useQuery({
    queryKey: [ADDRESS],
    queryFn: async ({ signal }): Promise<Description> => {
      const answer = await send(ADDRESS, { headers: callHeaders(""), signal });
      // The edge: the gateway makes it of the protocol, and its own tests hold it to the form.
      return (await answer.json()) as Description;
    },
    staleTime: Infinity,
  });
  return (
    <>
      <p>{docs.apiAbout}</p>
      <Loaded of={described} what={docs.pages.api}>
        {(description) =>
          operationsOf(description).map(({ tag, about, operations }) => (
            <section key={tag} className="stack">
              <h3>{tag}</h3>
              <p>{about}</p>
              {operations.map((operation) => (
                <One
                  key={`${operation.verb} ${operation.path}`}
                  description={description}
                  operation={operation}
                  secret={secret}
                />
              ))}
            </section>
          ))
        }
      </Loaded>
    </>
  );
}

interface OneParts {
  readonly description: Description;
  readonly operation: Operation;
  readonly secret: string;
}

/** Its inside is drawn when it is opened: there are many. */
function One({ description, operation, secret }: OneParts): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { verb, path, said } = operation;
  return (
    <details className="card more" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <code>
          {verb} {path}
        </code>{" "}
        <span className="soft">{said.operationId}</span>
      </summary>
      {isOpen && <Inside description={description} operation={operation} secret={secret} />}
    </details>
  );
}

function Inside({ description, operation, secret }: OneParts): ReactNode {
  const { said, verb, path } = operation;
  const { takes, gives } = fieldsOf(description, said);
  return (
    <div className="stack">
      <p>
        {said.summary}. {said.description}
      </p>
      {said["x-tollgate-permission"] !== undefined && (
        <p className="soft">{docs.needs(said["x-tollgate-permission"])}</p>
      )}
      <Code text={exampleOf(operation, window.location.origin, secret)} what={said.operationId ?? docs.pages.api} />
      <Fields title={docs.takes} of={`${verb} ${path}`} fields={takes} />
      <Fields title={docs.gives} of={`${verb} ${path}`} fields={gives} />
    </div>
  );
}

interface FieldsParts {
  readonly title: string;
  /** The request that has them. */
  readonly of: string;
  readonly fields: readonly FieldSaid[];
}

function Fields({ title, of, fields }: FieldsParts): ReactNode {
  return (
    <>
      <h4>{title}</h4>
      {fields.length === 0 ? (
        <p className="soft">{words.form.none}</p>
      ) : (
        <Table label={`${of} ${title}`} columns={FIELDS} rows={fields} keyOf={({ name }) => name} isWhole />
      )}
    </>
  );
}

const FIELDS: readonly Column<FieldSaid>[] = [
  { name: docs.field, cell: ({ name }) => <code>{name}</code> },
  { name: docs.type, cell: ({ type }) => <code className="id">{type}</code>, isExtra: true },
  { name: docs.meaning, cell: ({ about }) => about },
];
