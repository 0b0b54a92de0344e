/** Deployments, StatefulSets, DaemonSets, Jobs and CronJobs in one list with the state of their rollouts, live, with actions. */
import { h, type JSX } from "preact";
import { humanDuration } from "../../../../api/machinery/duration.ts";
import type { KubeObject } from "../../../../api/machinery/object.ts";
import { objectsAt, textAt } from "../../../data/fields.ts";
import { kindOfId, type Kind } from "../../../data/kinds.ts";
import { rolloutState } from "../../../data/workloads/rollout-state.ts";
import { ActionsButton } from "../../parts/actions-button.ts";
import { objectAddress } from "../../parts/links.ts";
import { useAllowedObjects, useNow } from "../../parts/live.ts";
import { Empty, ErrorNote, Waiting } from "../../parts/notes.ts";
import { SmallTable } from "../../parts/small-table.ts";
import { statusClass } from "../../parts/status-class.ts";
import type { Context, View, ViewProps } from "../view.ts";

export const workloadsView: View = {
  name: "workloads",
  menuTitle: "Workloads",
  titleOf: () => "Workloads",
  component: WorkloadsView,
};

/** Of each kind: more are found in its list. */
const SHOWN_MAX = 300;

function WorkloadsView({ context, route }: ViewProps): JSX.Element {
  const { ns: namespace = "", q: filter = "" } = route.query;
  const now = useNow(context);
  const deployments = useKind(context, "deployments.apps", namespace);
  const statefulSets = useKind(context, "statefulsets.apps", namespace);
  const daemonSets = useKind(context, "daemonsets.apps", namespace);
  const jobs = useKind(context, "jobs.batch", namespace);
  const cronJobs = useKind(context, "cronjobs.batch", namespace);
  const all = [deployments, statefulSets, daemonSets, jobs, cronJobs];
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = all.flatMap(({ kind, state }) =>
    kind === undefined
      ? []
      : [...(state?.items.values() ?? [])]
          .filter(({ metadata }) =>
            words.every((word) => `${kind.kind} ${metadata.namespace} ${metadata.name}`.toLowerCase().includes(word)),
          )
          .slice(0, SHOWN_MAX)
          .map((object) => rowOf(context, { kind, object, now, hasNamespace: namespace === "" })),
  );
  const isWaiting = all.some(({ state, forbidden }) => state === undefined && forbidden === "");
  const truncated = all.filter(({ state }) => (state?.items.size ?? 0) > SHOWN_MAX || state?.isTruncated === true);
  const errors = [
    ...new Map(all.flatMap(({ state }) => (state?.error === undefined ? [] : [[state.error.message, state.error]]))).values(),
  ];
  const forbidden = all.flatMap((one) => (one.forbidden === "" ? [] : [one.forbidden]));
  return h(
    "section",
    { class: "workloads" },
    h(
      "div",
      { class: "bar" },
      h("h1", null, "Workloads"),
      h("span", { class: "count", role: "status" }, `${rows.length}`),
      h("input", {
        type: "search",
        placeholder: "Filter by name or kind",
        "aria-label": "Filter workloads",
        value: filter,
        onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => context.setQuery({ q: currentTarget.value }),
      }),
    ),
    errors.map((error) => h(ErrorNote, { error })),
    forbidden.length === 0 ? null : h(Empty, { text: forbidden.join("\n") }),
    truncated.length === 0
      ? null
      : h(Empty, {
          text: `Only the first ${SHOWN_MAX} are shown of: ${truncated.map(({ kind }) => kind?.plural ?? "").join(", ")}. Use the filter, or the list of the kind.`,
        }),
    isWaiting ? h(Waiting, { what: "workloads" }) : null,
    rows.length === 0
      ? isWaiting
        ? null
        : h(Empty, { text: forbidden.length === 0 ? "There are no workloads." : "There are no other workloads." })
      : h(SmallTable, {
          title: "Workloads with the state of their rollouts",
          heads: ["Kind", ...(namespace === "" ? ["Namespace"] : []), "Name", "Ready", "State", "Images", "Age", "Actions"],
          rows,
        }),
  );
}

function useKind(context: Context, id: string, namespace: string) {
  const kind = kindOfId(context.kinds, id);
  return { kind, ...useAllowedObjects(context, kind, namespace, SHOWN_MAX) };
}

interface WorkloadRow {
  readonly kind: Kind;
  readonly object: KubeObject;
  readonly now: number;
  readonly hasNamespace: boolean;
}

function rowOf(context: Context, { kind, object, now, hasNamespace }: WorkloadRow): readonly (JSX.Element | string)[] {
  const { state, detail, ready } = rolloutState(object);
  const { name, namespace = "", creationTimestamp, uid } = object.metadata;
  return [
    kind.kind,
    ...(hasNamespace ? [namespace] : []),
    h("a", { href: `#${objectAddress(kind, { namespace, name })}` }, name),
    ready,
    h("span", null, h("span", { class: statusClass(state) }, state), detail === "" ? null : h("span", { class: "count" }, ` ${detail}`)),
    imagesOf(object).join(", "),
    creationTimestamp === undefined ? "" : humanDuration(now - Date.parse(creationTimestamp)),
    h(ActionsButton, { key: uid ?? name, context, kind, object }),
  ];
}

function imagesOf(object: KubeObject): readonly string[] {
  const template = object.kind === "CronJob" ? ["spec", "jobTemplate", "spec", "template"] : ["spec", "template"];
  return objectsAt(object, ...template, "spec", "containers").map((container) => textAt(container, "image"));
}
