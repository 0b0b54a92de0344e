/**
 * Edits an object: the server checks the change without storing it, the user sees the difference, and only then it is written. The write
 * names the version that was read, so a change of another writer is never overwritten unseen.
 */
import { h, type JSX } from "preact";
import { useState } from "preact/hooks";
import { writeVisibleYaml } from "../../../../../api/machinery/codec/yaml/write.ts";
import type { Json, JsonObject, KubeObject } from "../../../../../api/machinery/object.ts";
import { isReason } from "../../../../../api/machinery/status-error.ts";
import { readDocuments } from "../../../../data/editor/documents.ts";
import { fieldChanges, withChanges, withoutBookkeeping } from "../../../../data/editor/field-changes.ts";
import { updateObject } from "../../../../data/editor/write-object.ts";
import { pathOf } from "../../../../data/kinds.ts";
import { DiffView } from "../../../parts/diff-view.ts";
import { Button } from "../../../parts/form.ts";
import { ErrorNote } from "../../../parts/notes.ts";
import { YamlEditor } from "../../../parts/yaml-editor.ts";
import type { TabProps } from "../tab.ts";
import { ConflictNote } from "./conflict-note.ts";

export interface EditYamlProps extends TabProps {
  /** Leaves the editor. */
  done(): void;
}

type Step =
  | { readonly is: "editing" }
  | { readonly is: "reviewed"; readonly value: JsonObject; readonly result: KubeObject }
  | { readonly is: "conflict"; readonly mine: JsonObject; readonly theirs: KubeObject };

export function EditYaml({ context: { api }, context, kind, object, done }: EditYamlProps): JSX.Element {
  /** The object as it was read: what the user's changes are relative to. */
  const [base, setBase] = useState(object);
  const hasStatus = kind.subresources.includes("status");
  const [text, setText] = useState(() => yamlOf(object, hasStatus));
  const [step, setStep] = useState<Step>({ is: "editing" });
  const [error, setError] = useState<Error | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const work = (job: () => Promise<void>) => {
    setError(undefined);
    setBusy(true);
    job()
      .catch((problem: unknown) => setError(problem as Error))
      .finally(() => setBusy(false));
  };
  const write = async (value: JsonObject, isDryRun: boolean) => {
    try {
      const result = await updateObject(api, kind, value, { isDryRun });
      if (isDryRun) setStep({ is: "reviewed", value, result });
      else done();
    } catch (problem) {
      if (!isReason(problem, "Conflict")) throw problem;
      const { namespace = "", name } = base.metadata;
      setStep({ is: "conflict", mine: value, theirs: await api.get<KubeObject>(pathOf(kind, { namespace, name })) });
    }
  };
  const restart = (from: KubeObject, shown: KubeObject) => {
    setBase(from);
    setText(yamlOf(shown, hasStatus));
    setStep({ is: "editing" });
  };
  const keepMine = (mine: JsonObject, theirs: KubeObject) => {
    const changes = fieldChanges(comparable(base), comparable(mine));
    restart(theirs, withChanges(theirs, changes) as KubeObject);
  };
  return h(
    "div",
    { class: "edit" },
    h(YamlEditor, {
      ...{ context, label: `YAML of ${object.metadata.name}`, text },
      changed(fresh) {
        setText(fresh);
        setStep((current) => (current.is === "reviewed" ? { is: "editing" } : current));
      },
    }),
    error === undefined ? null : h(ErrorNote, { error }),
    step.is === "reviewed"
      ? h(DiffView, { before: comparableYaml(base), after: comparableYaml(step.result), label: "What would change" })
      : null,
    step.is === "conflict"
      ? h(ConflictNote, {
          ...{ base, mine: step.mine, theirs: step.theirs },
          takeTheirs: () => restart(step.theirs, step.theirs),
          keepMine: () => keepMine(step.mine, step.theirs),
        })
      : null,
    h(
      "div",
      { class: "controls" },
      h(Button, {
        text: "Review change",
        ...(step.is === "reviewed" ? {} : { look: "primary" as const }),
        isDisabled: isBusy || step.is === "conflict",
        press: () => work(async () => write(editedValue(text), true)),
      }),
      step.is === "reviewed"
        ? h(Button, { text: "Save", look: "primary", isDisabled: isBusy, press: () => work(() => write(step.value, false)) })
        : null,
      h(Button, { text: "Cancel", press: done }),
    ),
  );
}

/** Without a status of its own subresource, which an update of the object does not change. */
function yamlOf(object: KubeObject, hasStatus: boolean): string {
  const { managedFields: _bookkeeping, ...metadata } = object.metadata;
  const { status, ...rest } = { ...object, metadata } as KubeObject & { readonly status?: Json };
  return writeVisibleYaml(hasStatus || status === undefined ? rest : { ...rest, status });
}

function comparable(object: JsonObject | KubeObject): JsonObject {
  return withoutBookkeeping(object as KubeObject);
}

function comparableYaml(object: KubeObject): string {
  return writeVisibleYaml(comparable(object));
}

function editedValue(text: string): JsonObject {
  const { documents, problems } = readDocuments(text);
  const [problem] = problems;
  if (problem !== undefined) throw new Error(`Line ${problem.line}: ${problem.message}`);
  const [document, another] = documents;
  if (document === undefined || another !== undefined) throw new Error("The text must be one document");
  return document.value;
}
