/**
 * Logs of a Pod, or of all Pods of a workload or a Service: followed, searched, several containers at once. The log is the program's own
 * text: nothing in it acts on the page (data/logs/ansi.ts).
 */
import { h, type JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { KubeObject } from "../../../../../api/machinery/object.ts";
import { findKind, kindId, pathOf } from "../../../../data/kinds.ts";
import { LogSet, NO_LOGS, sourceName, STREAMS_MAX, type LogState } from "../../../../data/logs/log-set.ts";
import type { LogOptions, LogSource } from "../../../../data/logs/log-stream.ts";
import { containerNames, KINDS_WITH_PODS, podSelector } from "../../../../data/pod-selector.ts";
import { Checkbox, Select } from "../../../parts/form.ts";
import { useObjects } from "../../../parts/live.ts";
import { Empty, ErrorNote, Waiting } from "../../../parts/notes.ts";
import type { Context } from "../../view.ts";
import type { Tab, TabProps } from "../tab.ts";
import { LogViewer } from "./log-viewer.ts";

export const logsTab: Tab = {
  name: "logs",
  title: "Logs",
  isFor: (kind) => kindId(kind) === "pods" || KINDS_WITH_PODS.includes(kindId(kind)),
  component: LogsTab,
};

/** Pods of a workload whose names are offered. */
const PODS_MAX = 500;
const ALL = "";

function LogsTab(props: TabProps): JSX.Element {
  const { context, object, kind } = props;
  if (kindId(kind) === "pods") return h(PodsLogs, { ...props, pods: [object] });
  const selector = podSelector(object);
  if (selector === undefined) return h(Empty, { text: `${object.kind} ${object.metadata.name} selects no Pods.` });
  return h(SelectedPods, { ...props, key: selector, context, selector });
}

function SelectedPods(props: TabProps & { readonly selector: string }): JSX.Element {
  const { context, object, selector } = props;
  const kind = findKind(context.kinds, "pods");
  const { namespace = "" } = object.metadata;
  const state = useObjects(context, kind === undefined ? "" : pathOf(kind, { namespace }), { labelSelector: selector }, PODS_MAX);
  if (state === undefined) return h(Waiting, { what: "Pods" });
  if (state.error !== undefined && state.items.size === 0) return h(ErrorNote, { error: state.error });
  const pods = [...state.items.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  if (pods.length === 0) return h(Empty, { text: `${object.kind} ${object.metadata.name} has no Pods.` });
  return h(PodsLogs, { ...props, pods });
}

function PodsLogs({ context, route, pods }: TabProps & { readonly pods: readonly KubeObject[] }): JSX.Element {
  const { pod = ALL, container = ALL } = route.query;
  const [isFollowed, setFollowed] = useState(true);
  const [isPrevious, setPrevious] = useState(false);
  const [tailLines, setTailLines] = useState(500);
  const wanted = sourcesOf(pods, { pod, container });
  const state = useLogs(context, wanted, { isFollowed, isPrevious, tailLines });
  const podNames = pods.map(({ metadata }) => metadata.name);
  const containers = [...new Set(pods.flatMap(containerNames))];
  const names = (all: string, given: readonly string[]) => [{ value: ALL, title: all }, ...given.map((value) => ({ value, title: value }))];
  return h(
    "div",
    { class: "logs" },
    h(
      "div",
      { class: "controls" },
      podNames.length < 2
        ? null
        : h(Select, {
            label: "Pod",
            value: pod,
            choices: names(`All ${podNames.length} Pods`, podNames),
            choose: (value) => context.setQuery({ pod: value }),
          }),
      h(Select, {
        label: "Container",
        value: container,
        choices: names("All containers", containers),
        choose: (value) => context.setQuery({ container: value }),
      }),
      h(Select, {
        label: "From the last",
        value: String(tailLines),
        choices: [100, 500, 2_000, 10_000].map((count) => ({ value: String(count), title: `${count} lines` })),
        choose: (value) => setTailLines(Number(value)),
      }),
      h(Checkbox, { label: "Follow", isChecked: isFollowed && !isPrevious, change: setFollowed }),
      h(Checkbox, { label: "Previous run", isChecked: isPrevious, change: setPrevious }),
    ),
    wanted.length > STREAMS_MAX
      ? h(Empty, { text: `Only the first ${STREAMS_MAX} of ${wanted.length} containers are shown: choose a Pod or a container.` })
      : null,
    h(Problems, { state }),
    h(LogViewer, { context, state, wanted, isFollowed: isFollowed && !isPrevious }),
  );
}

/** Errors of many Pods are often the same. */
function Problems({ state: { errors } }: { readonly state: LogState }): JSX.Element | null {
  const texts = new Map<string, string[]>();
  for (const [name, { message }] of errors) texts.set(message, [...(texts.get(message) ?? []), name]);
  if (texts.size === 0) return null;
  const lines = [...texts].map(([message, names]) => `${names.slice(0, 3).join(", ")}${names.length > 3 ? " …" : ""}: ${message}`);
  return h("p", { class: "note", role: "status" }, lines.join("\n"));
}

function sourcesOf(pods: readonly KubeObject[], chosen: { readonly pod: string; readonly container: string }): readonly LogSource[] {
  return pods.flatMap((pod) => {
    const { name, namespace = "" } = pod.metadata;
    if (chosen.pod !== ALL && chosen.pod !== name) return [];
    return containerNames(pod)
      .filter((container) => chosen.container === ALL || chosen.container === container)
      .map((container) => ({ namespace, pod: name, container }));
  });
}

function useLogs({ api, browser: { clock } }: Context, wanted: readonly LogSource[], options: LogOptions): LogState {
  const [state, setState] = useState<LogState>(NO_LOGS);
  const { isFollowed, isPrevious, tailLines } = options;
  const names = wanted.map(sourceName).join(" ");
  const set = useMemo(() => new LogSet({ api, clock, ...options, changed: setState }), [api, isFollowed, isPrevious, tailLines]);
  useEffect(() => {
    setState(NO_LOGS);
    return () => set.close();
  }, [set]);
  useEffect(() => set.follow(wanted), [set, names]);
  return state;
}
