/** One object of any kind: its facts, its YAML and what happened to it, current while the page is open. */
import { h, type JSX } from "preact";
import { useRef } from "preact/hooks";
import type { KubeObject } from "../../../../api/machinery/object.ts";
import { kindOfId, pathOf } from "../../../data/kinds.ts";
import { ActionsButton } from "../../parts/actions-button.ts";
import { listAddress, namespaceOfSegment, objectAddress } from "../../parts/links.ts";
import { useObjects } from "../../parts/live.ts";
import { Empty, ErrorNote, Waiting } from "../../parts/notes.ts";
import type { View, ViewProps } from "../view.ts";
import { DeleteButton } from "./editor/delete-button.ts";
import { tabs } from "./tabs.ts";

export const objectView: View = {
  name: "object",
  titleOf: ({ segments }) => segments[2] ?? "Object",
  component: ObjectView,
};

function ObjectView({ context, route }: ViewProps): JSX.Element {
  const [id = "", namespaceSegment = "", name = ""] = route.segments;
  const kind = kindOfId(context.kinds, id);
  const namespace = namespaceOfSegment(namespaceSegment);
  const state = useObjects(context, kind === undefined ? "" : pathOf(kind, { namespace }), { fieldSelector: `metadata.name=${name}` });
  const object = state?.items.get(`${namespace}/${name}`);
  const last = useLast(`${id} ${namespace}/${name}`, object);
  if (kind === undefined) return h(Empty, { text: `The cluster serves no kind "${id}".` });
  const shown = tabs.filter((tab) => tab.isFor(kind));
  const tab = shown.find((candidate) => candidate.name === (route.query["tab"] ?? "")) ?? shown[0];
  return h(
    "section",
    { class: "object" },
    h(
      "div",
      { class: "bar" },
      h("a", { class: "up", href: `#${listAddress(kind, { ns: namespace })}` }, kind.kind),
      h("h1", null, name),
      namespace === "" ? null : h("span", { class: "count" }, namespace),
      object === undefined
        ? null
        : h(
            "div",
            { class: "object-actions", key: object.metadata.uid },
            h(ActionsButton, { context, kind, object }),
            h(DeleteButton, { context, kind, object }),
          ),
    ),
    h(
      "nav",
      { class: "tabs", "aria-label": `Parts of ${name}` },
      shown.map((candidate) =>
        h(
          "a",
          {
            key: candidate.name,
            href: `#${objectAddress(kind, { namespace, name }, candidate.name)}`,
            "aria-current": candidate === tab ? "page" : undefined,
          },
          candidate.title,
        ),
      ),
    ),
    state?.error === undefined ? null : h(ErrorNote, { error: state.error }),
    state === undefined ? h(Waiting, { what: name }) : null,
    state?.isComplete === true && object === undefined ? h(Empty, { text: `${kind.kind} ${name} does not exist, or was deleted.` }) : null,
    // A log and an edited text stay when the object is deleted.
    last === undefined || tab === undefined ? null : h(tab.component, { key: tab.name, context, route, kind, object: last }),
  );
}

/** The object, or its last state if it was deleted while it was shown. */
function useLast(key: string, object: KubeObject | undefined): KubeObject | undefined {
  const last = useRef({ key, object });
  if (object !== undefined || last.current.key !== key) last.current = { key, object };
  return last.current.object;
}
