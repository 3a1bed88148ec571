/** Every method that HTTP reaches, read off the protocol: its verb, its path, and what it takes and gives. */
import type { ReactNode } from "react";
import * as accounts from "../../../gen/console/account_service.js";
import * as identity from "../../../gen/console/identity_service.js";
import * as inference from "../../../gen/console/inference_service.js";
import * as keys from "../../../gen/console/key_service.js";
import * as models from "../../../gen/console/model_service.js";
import * as nodes from "../../../gen/console/node_service.js";
import * as upstreams from "../../../gen/console/upstream_service.js";
import * as usage from "../../../gen/console/usage_service.js";
import { words } from "../copy/en.ts";
import { docs } from "../copy/en-docs.ts";

interface Described {
  readonly name: string;
  readonly verb: string;
  readonly path: string;
  readonly input: object;
  readonly output: object;
}

const METHODS: readonly Described[] = [keys, accounts, usage, models, inference, identity, upstreams, nodes]
  .flatMap((service) => Object.values(service))
  .filter((one) => isMethod(one));

export function ApiReference(): ReactNode {
  return (
    <>
      <p>{docs.apiAbout}</p>
      {METHODS.map(({ name, verb, path, input, output }) => (
        <details key={name} className="card more">
          <summary>
            <code>
              {verb} {path}
            </code>{" "}
            <span className="soft">{name}</span>
          </summary>
          <Fields title={docs.takes} shape={input} />
          <Fields title={docs.gives} shape={output} />
        </details>
      ))}
    </>
  );
}

function Fields({ title, shape }: { readonly title: string; readonly shape: object }): ReactNode {
  const names = Object.keys(shape);
  return (
    <p>
      {title}:{" "}
      {names.length === 0
        ? words.form.none
        : names.map((name, index) => (
            <span key={name}>
              {index > 0 && ", "}
              <code>{name}</code>
            </span>
          ))}
    </p>
  );
}

function isMethod(value: object): value is Described {
  return "verb" in value && "path" in value && "input" in value;
}
