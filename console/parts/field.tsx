/** Fields of forms, each with its label, its hint and what is wrong with what was typed. */
import { type ComponentProps, type ReactNode, useId } from "react";

interface FieldParts {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly wrong?: string | undefined;
}

export function Field({ label, hint, wrong, ...rest }: FieldParts & ComponentProps<"input">): ReactNode {
  const id = useId();
  return (
    <Labelled id={id} label={label} hint={hint} wrong={wrong}>
      <input className="input" {...rest} {...described(id, hint, wrong)} />
    </Labelled>
  );
}

export function TextField({ label, hint, wrong, ...rest }: FieldParts & ComponentProps<"textarea">): ReactNode {
  const id = useId();
  return (
    <Labelled id={id} label={label} hint={hint} wrong={wrong}>
      <textarea className="input" {...rest} {...described(id, hint, wrong)} />
    </Labelled>
  );
}

export function Choice({ label, hint, wrong, children, ...rest }: FieldParts & ComponentProps<"select">): ReactNode {
  const id = useId();
  return (
    <Labelled id={id} label={label} hint={hint} wrong={wrong}>
      <select className="input" {...rest} {...described(id, hint, wrong)}>
        {children}
      </select>
    </Labelled>
  );
}

export function Check({ label, hint, ...rest }: FieldParts & ComponentProps<"input">): ReactNode {
  const id = useId();
  return (
    <div className="check">
      <input type="checkbox" {...rest} {...described(id, hint, undefined)} />
      <label htmlFor={id}>
        {label}
        {hint !== undefined && (
          <small className="soft" id={`${id}-hint`}>
            <br />
            {hint}
          </small>
        )}
      </label>
    </div>
  );
}

function described(id: string, hint: ReactNode, wrong: string | undefined): object {
  const parts = [hint === undefined ? "" : `${id}-hint`, wrong === undefined ? "" : `${id}-wrong`].filter(Boolean);
  return {
    id,
    ...(parts.length > 0 ? { "aria-describedby": parts.join(" ") } : {}),
    ...(wrong === undefined ? {} : { "aria-invalid": true }),
  };
}

interface LabelledParts extends FieldParts {
  readonly id: string;
  readonly children: ReactNode;
}

function Labelled({ id, label, hint, wrong, children }: LabelledParts): ReactNode {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children}
      {wrong !== undefined && (
        <span className="wrong" id={`${id}-wrong`}>
          {wrong}
        </span>
      )}
      {hint !== undefined && <small id={`${id}-hint`}>{hint}</small>}
    </div>
  );
}
