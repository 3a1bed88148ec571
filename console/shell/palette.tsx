/** The command palette: pages, keys, models, a request by its id, and for operators accounts, people and upstreams. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import {
  Autocomplete,
  Dialog,
  Input,
  Menu,
  MenuItem,
  Modal,
  ModalOverlay,
  SearchField,
  useFilter,
} from "react-aria-components";
import { listKeys } from "../../gen/console/key_service.js";
import { listModels } from "../../gen/console/model_service.js";
import { ask } from "../api/queries.ts";
import { words } from "../copy/en.ts";
import { keyWords } from "../copy/en-keys.ts";
import { useSettled } from "../parts/settled.ts";
import { useOperatorCommands } from "./operator-commands.ts";
import { pagesFor } from "./pages.ts";
import { useSignedIn } from "./session.ts";

export interface Command {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  /** Other words by which people look for it. */
  readonly finds?: string | undefined;
  readonly go: () => void;
}

/** Of the keys that match. Their page shows the others. */
const KEYS_MAX = 20;
const TYPED_CHARACTERS_MAX = 200;
const REQUEST_ID = /^req_\w+$/;

export function Palette({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [typed, setTyped] = useState("");
  const { contains } = useFilter({ sensitivity: "base" });
  const commands = useCommands(typed.trim());
  const act = (id: string | number): void => {
    onClose();
    commands.find((command) => command.id === id)?.go();
  };
  return (
    <ModalOverlay className="veil" isOpen isDismissable onOpenChange={onClose}>
      <Modal className="dialog palette">
        <Dialog aria-label={words.palette.title}>
          <Autocomplete filter={contains} inputValue={typed} onInputChange={setTyped}>
            <SearchField aria-label={words.palette.title} autoFocus>
              <Input className="input" placeholder={words.palette.hint} maxLength={TYPED_CHARACTERS_MAX} />
            </SearchField>
            <Menu
              className="menu palette-list"
              items={commands}
              onAction={act}
              aria-label={words.palette.found}
              renderEmptyState={() => <p className="soft">{words.palette.nothing}</p>}
            >
              {({ id, name, kind, finds = "" }) => (
                <MenuItem id={id} textValue={`${name} ${kind} ${id} ${finds}`} className="menu-item palette-item">
                  <span>{name}</span>
                  <small className="soft">{kind}</small>
                </MenuItem>
              )}
            </Menu>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function useCommands(typed: string): readonly Command[] {
  const navigate = useNavigate();
  const person = useSignedIn();
  const { account } = person;
  const text = useSettled(REQUEST_ID.test(typed) ? "" : typed);
  const keys = useQuery({
    ...ask(listKeys, { accountId: account, pageSize: KEYS_MAX, text }, account),
    placeholderData: keepPreviousData,
  });
  const models = useQuery(ask(listModels, {}, account));
  const { own, all } = pagesFor(person);
  const found: Command[] = REQUEST_ID.test(typed)
    ? [
        {
          id: typed,
          name: typed,
          kind: words.palette.request,
          go: () => void navigate({ to: "/requests/$id", params: { id: typed } }),
        },
      ]
    : [];
  for (const { to, name, finds } of [...own, ...all])
    found.push({ id: `page ${to}`, name, kind: words.palette.page, finds, go: () => void navigate({ to }) });
  found.push({
    id: "page /me",
    name: words.pages.me,
    kind: words.palette.page,
    go: () => void navigate({ to: "/me" }),
  });
  found.push({
    id: "make key",
    name: keyWords.make,
    kind: words.palette.action,
    go: () => void navigate({ to: "/keys", search: { make: "key" } }),
  });
  for (const { id, settings, hint } of keys.data?.keys ?? [])
    found.push({
      id,
      name: `${settings?.name || id} ${hint}`,
      kind: words.palette.key,
      go: () => void navigate({ to: "/keys/$id", params: { id } }),
    });
  const hasMore = !keys.isPlaceholderData && keys.data !== undefined && keys.data.nextPageToken !== "";
  if (hasMore && typed !== "")
    found.push({
      id: "find key",
      name: words.palette.findKey(typed),
      kind: words.palette.key,
      go: () => void navigate({ to: "/keys", search: { find: typed } }),
    });
  found.push(...useOperatorCommands(text));
  for (const { id } of models.data?.models ?? [])
    found.push({
      id: `model ${id}`,
      name: id,
      kind: words.palette.model,
      go: () => void navigate({ to: "/models", search: { open: id } }),
    });
  return found;
}
