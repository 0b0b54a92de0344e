/** Deletes the object after a confirmation that says what happens to its dependents. */
import { h, type JSX } from "preact";
import { useState } from "preact/hooks";
import type { KubeObject } from "../../../../../api/machinery/object.ts";
import { deleteObject, type Propagation } from "../../../../data/editor/write-object.ts";
import type { Kind } from "../../../../data/kinds.ts";
import { useAccess } from "../../../parts/access.ts";
import { Dialog } from "../../../parts/dialog.ts";
import { Button, Select } from "../../../parts/form.ts";
import { ErrorNote } from "../../../parts/notes.ts";
import type { Context } from "../../view.ts";

const PROPAGATIONS: readonly { readonly value: Propagation; readonly title: string }[] = [
  { value: "Background", title: "Delete them after it (Background)" },
  { value: "Foreground", title: "Delete them before it (Foreground)" },
  { value: "Orphan", title: "Keep them (Orphan)" },
];

export interface DeleteButtonProps {
  readonly context: Context;
  readonly kind: Kind;
  readonly object: KubeObject;
}

export function DeleteButton({ context, kind, object }: DeleteButtonProps): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  const [propagationPolicy, setPropagation] = useState<Propagation>("Background");
  const [error, setError] = useState<Error | undefined>(undefined);
  const { name, namespace = "", uid = "" } = object.metadata;
  const { group, plural: resource } = kind;
  const forbidden = useAccess(context, [{ verb: "delete", group, resource, namespace, name }]);
  if (!kind.verbs.includes("delete") || forbidden !== "") return null;
  const run = () => {
    setError(undefined);
    deleteObject(context.api, kind, object, { propagationPolicy, uid }).then(() => setOpen(false), setError);
  };
  const title = `Delete ${kind.kind} ${name}?`;
  return h(
    "div",
    { class: "delete" },
    h(Button, { text: "Delete", look: "danger", press: () => setOpen(true) }),
    isOpen
      ? h(
          Dialog,
          { title, close: () => setOpen(false) },
          h("p", null, namespace === "" ? "This cannot be undone." : `It is in namespace ${namespace}. This cannot be undone.`),
          h(Select, {
            label: "Objects that it owns",
            value: propagationPolicy,
            choices: PROPAGATIONS,
            choose: (value) => setPropagation(value as Propagation),
          }),
          error === undefined ? null : h(ErrorNote, { error }),
          h(
            "div",
            { class: "controls" },
            h(Button, { text: "Delete", label: title.replace("?", ""), look: "danger", press: run }),
            h(Button, { text: "Cancel", press: () => setOpen(false) }),
          ),
        )
      : null,
  );
}
