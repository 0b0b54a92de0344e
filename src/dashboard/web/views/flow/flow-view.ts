/**
 * What happens at an apply, step by step, from the recorded causes: a graph that plays, and the same steps as an ordered list for keyboard
 * and screen reader. Without a chosen request it follows the newest one.
 */
import { h, type JSX } from "preact";
import { useEffect, useMemo, useReducer, useState } from "preact/hooks";
import type { CauseItem } from "../../../../explain/explain-api.ts";
import { FLOW_WRITES_MAX, flowRoots, flowSteps, objectOf, type FlowStep } from "../../../data/flow/flow-graph.ts";
import { flowLayout } from "../../../data/flow/flow-layout.ts";
import { NEW_PLAYER, playerAfter, type Player, type PlayerAction } from "../../../data/flow/flow-player.ts";
import { shownTime } from "../../../data/time/instants.ts";
import { useCauses } from "../../parts/causes.ts";
import { Empty, ErrorNote, Waiting } from "../../parts/notes.ts";
import type { Context, View, ViewProps } from "../view.ts";
import { FlowGraph } from "./flow-graph.ts";
import { PlayerControls } from "./player-controls.ts";
import { StepDetails } from "./step-details.ts";

export const flowView: View = { name: "flow", menuTitle: "Flow", titleOf: () => "Flow", component: FlowView };

/** Requests to choose from. */
const CHOICES_MAX = 100;

function FlowView({ context, route }: ViewProps): JSX.Element {
  const state = useCauses(context);
  const { ns: namespace = "", id = "", all = "" } = route.query;
  const roots = useMemo(
    () => flowRoots(state?.items ?? []).filter((item) => isShown(item, { namespace, isAll: all !== "" })),
    [state, namespace, all],
  );
  const root = id === "" ? roots[0] : state?.items.find((item) => String(item.id) === id);
  return h(
    "section",
    { class: "flow" },
    h("div", { class: "bar" }, h("h1", null, "Flow"), h(RequestChoice, { context, roots, id, root }), h(AllOption, { context, all })),
    state?.error === undefined ? null : h(ErrorNote, { error: state.error }),
    state === undefined ? h(Waiting, { what: "recorded requests" }) : null,
    state !== undefined && root === undefined && state.error === undefined
      ? h(Empty, { text: id === "" ? "No request is recorded: apply something." : "This request is no longer recorded." })
      : null,
    root === undefined ? null : h(Flow, { key: root.id, context, items: state?.items ?? [], root }),
  );
}

function isShown(
  { namespace, user, resource, name }: CauseItem,
  { namespace: wanted, isAll }: { readonly namespace: string; readonly isAll: boolean },
): boolean {
  // A Namespace itself belongs to its namespace.
  if (wanted !== "" && namespace !== wanted && !(resource === "namespaces" && name === wanted)) return false;
  return isAll || !isComponent(user);
}

/** Nodes, controllers and other parts of the cluster itself. */
function isComponent(user: string): boolean {
  return (
    user.startsWith("system:") && (!user.startsWith("system:serviceaccount:") || user.startsWith("system:serviceaccount:kube-system:"))
  );
}

interface ChoiceProps {
  readonly context: Context;
  readonly roots: readonly CauseItem[];
  readonly id: string;
  readonly root: CauseItem | undefined;
}

function RequestChoice({ context, roots, id, root }: ChoiceProps): JSX.Element {
  const choose = ({ currentTarget }: { readonly currentTarget: HTMLSelectElement }) => context.setQuery({ id: currentTarget.value });
  const shown = roots.slice(0, CHOICES_MAX);
  const chosen = id !== "" && root !== undefined && !shown.includes(root) ? [root] : [];
  return h(
    "select",
    { class: "request", "aria-label": "Request", value: id, onChange: choose },
    h("option", { value: "" }, "The newest request, live"),
    [...chosen, ...shown].map((item) => h("option", { key: item.id, value: String(item.id) }, requestText(item))),
  );
}

function requestText(item: CauseItem): string {
  const result = item.refusal === undefined ? "" : ` (refused: ${item.refusal.reason})`;
  return `${shownTime(Date.parse(item.time))} ${item.verb} ${objectOf(item)} by ${item.user}${result}`;
}

function AllOption({ context, all }: { readonly context: Context; readonly all: string }): JSX.Element {
  const change = () => context.setQuery({ all: all === "" ? "1" : "" });
  return h(
    "label",
    { class: "option" },
    h("input", { type: "checkbox", checked: all !== "", onChange: change }),
    " Requests of components, too",
  );
}

interface FlowProps {
  readonly context: Context;
  readonly items: readonly CauseItem[];
  readonly root: CauseItem;
}

function Flow({ context, items, root }: FlowProps): JSX.Element {
  const steps = useMemo(() => flowSteps(items, root), [items, root]);
  const layout = useMemo(() => flowLayout(steps), [steps]);
  const [player, act] = usePlayer(context, steps.length);
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const last = steps[player.shown - 1];
  const current = steps.find(({ id }, index) => id === chosen && index < player.shown) ?? last;
  const choose = (step: FlowStep) => setChosen(step.id);
  return h(
    "div",
    { class: "flow-parts" },
    h(PlayerControls, {
      player,
      count: steps.length,
      act(action: PlayerAction) {
        setChosen(undefined);
        act(action);
      },
    }),
    steps.filter(({ stage }) => stage === "store").length <= FLOW_WRITES_MAX
      ? null
      : h(Empty, { text: `This request caused more than ${FLOW_WRITES_MAX} writes. The first ${FLOW_WRITES_MAX} are shown.` }),
    h(FlowGraph, { layout, shown: player.shown, current: current?.id ?? "", newest: last?.id ?? "", choose }),
    h(
      "div",
      { class: "flow-columns" },
      h(StepList, { steps, shown: player.shown, current: current?.id ?? "", choose }),
      current === undefined ? null : h(StepDetails, { context, step: current }),
    ),
  );
}

function usePlayer({ browser: { clock } }: Context, count: number): readonly [Player, (action: PlayerAction) => void] {
  const [player, act] = useReducer(
    (state: Player, { action, known }: { readonly action: PlayerAction; readonly known: number }) => playerAfter(state, action, known),
    NEW_PLAYER,
  );
  const { isPlaying, intervalMs, shown } = player;
  const isWaiting = isPlaying && shown < count;
  useEffect(() => {
    if (!isWaiting) return undefined;
    const life = new AbortController();
    clock.sleep(shown === 0 ? 0 : intervalMs, life.signal).then(
      () => act({ action: { is: "tick" }, known: count }),
      () => undefined,
    );
    return () => life.abort();
  }, [isWaiting, intervalMs, shown, count]);
  return [player, (action) => act({ action, known: count })];
}

interface StepListProps {
  readonly steps: readonly FlowStep[];
  readonly shown: number;
  readonly current: string;
  choose(step: FlowStep): void;
}

/** Steps of the list: those of a large rollout are thousands. The newest are shown. */
const LISTED_MAX = 200;

function StepList({ steps, shown, current, choose }: StepListProps): JSX.Element {
  const first = Math.max(0, shown - LISTED_MAX);
  return h(
    "div",
    { class: "steps" },
    h("h2", { id: "steps-title" }, "Steps"),
    first === 0 ? null : h(Empty, { text: `The first ${first} steps are not listed.` }),
    h(
      "ol",
      { start: first + 1, "aria-labelledby": "steps-title" },
      steps
        .slice(first, shown)
        .map((step) =>
          h(
            "li",
            { key: step.id, class: step.isRefused ? "refused" : "" },
            h(
              "button",
              { type: "button", class: "step", "aria-current": step.id === current ? "step" : undefined, onClick: () => choose(step) },
              h("span", { class: "time" }, shownTime(Date.parse(step.item.time))),
              ` ${step.sentence}`,
            ),
          ),
        ),
    ),
  );
}
