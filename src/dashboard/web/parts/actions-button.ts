/** A button that offers the actions on an object (data/actions) in a dialog. */
import { h, type JSX } from "preact";
import { useState } from "preact/hooks";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { Action } from "../../data/actions/action.ts";
import { all as actions } from "../../data/actions/all.ts";
import { kindId, type Kind } from "../../data/kinds.ts";
import type { Context } from "../views/view.ts";
import { useAccess } from "./access.ts";
import { Dialog } from "./dialog.ts";
import { Button, TextField } from "./form.ts";
import { ErrorNote } from "./notes.ts";

export interface ActionsButtonProps {
  readonly context: Context;
  readonly kind: Kind;
  readonly object: KubeObject;
}

export function ActionsButton({ context, kind, object }: ActionsButtonProps): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  const [message, setMessage] = useState("");
  const [error, setError] = useState<Error | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const offered = actions.filter((action) => action.kinds.includes(kindId(kind)) && action.isFor?.(object) !== false);
  if (offered.length === 0) return null;
  const run = (action: Action, number: number) => {
    setError(undefined);
    setMessage("");
    setBusy(true);
    const { api, kinds, browser } = context;
    action
      .run({ api, kinds, clock: browser.clock, kind, object, progress: setMessage }, number)
      .then(setMessage, setError)
      .finally(() => setBusy(false));
  };
  const title = `${kind.kind} ${object.metadata.name}`;
  return h(
    "span",
    { class: "actions" },
    h(Button, { text: "Actions", label: `Actions on ${title}`, press: () => setOpen(true) }),
    isOpen
      ? h(
          Dialog,
          { title, close: () => setOpen(false) },
          h(
            "ul",
            { class: "pairs action-list" },
            offered.map((action) => h("li", { key: action.title }, h(OneAction, { context, kind, object, action, isBusy, run }))),
          ),
          h("p", { class: "count", role: "status" }, message),
          error === undefined ? null : h(ErrorNote, { error }),
          h("div", { class: "controls" }, h(Button, { text: "Close", press: () => setOpen(false) })),
        )
      : null,
  );
}

interface OneActionProps extends ActionsButtonProps {
  readonly action: Action;
  readonly isBusy: boolean;
  run(action: Action, number: number): void;
}

function OneAction({ context, kind, object, action, isBusy, run }: OneActionProps): JSX.Element {
  const [number, setNumber] = useState(String(action.number?.initial(object) ?? 0));
  const forbidden = useAccess(context, [action.needs(kind, object)]);
  const isNumber = /^\d{1,7}$/.test(number);
  return h(
    "div",
    { class: "controls" },
    action.number === undefined ? null : h(TextField, { label: action.number.label, type: "number", value: number, changed: setNumber }),
    h(Button, {
      text: action.title,
      isDisabled: isBusy || forbidden !== "" || !isNumber,
      press: () => run(action, Number(number)),
    }),
    forbidden === undefined || forbidden === "" ? null : h("span", { class: "count" }, forbidden),
  );
}
