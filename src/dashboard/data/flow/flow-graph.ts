/**
 * What one request set in motion, as a graph of steps: the stages of the request itself, then for each write the components that it woke
 * and the writes that they made. Only what the API server recorded: a write follows from another one if its cause names the other's
 * revision. Every step has one parent, so the graph is a tree. Pure. Not here: coordinates (flow-layout.ts), playback (flow-player.ts).
 */
import type { CauseItem } from "../../../explain/explain-api.ts";
import { traceTree } from "../../../explain/trace.ts";

export type FlowStage = "request" | "authentication" | "authorization" | "admission" | "store" | "controller";

export interface FlowStep {
  /** Unique in the graph, and the same when more steps are recorded. */
  readonly id: string;
  /** Absent: the start. */
  readonly parent?: string;
  readonly stage: FlowStage;
  /** The request or write that the step belongs to; of a controller: its first write. */
  readonly item: CauseItem;
  /** Short, for a box of the graph. */
  readonly title: string;
  readonly subtitle: string;
  /** One sentence with everything that is known, for the list of steps. */
  readonly sentence: string;
  /** The request ended here. */
  readonly isRefused: boolean;
}

/** Requests that a user or a client decided by itself, newest first: what a flow can start with. */
export function flowRoots(items: readonly CauseItem[]): readonly CauseItem[] {
  return items.filter(({ cause }) => cause === undefined).reverse();
}

/** Writes of one flow: those of a rollout of hundreds of Pods. Making sentences of all that the server keeps would hold the page. */
export const FLOW_WRITES_MAX = 2_000;

/** In the order in which they happened; a parent is always before its children. The first FLOW_WRITES_MAX writes. */
export function flowSteps(items: readonly CauseItem[], root: CauseItem): readonly FlowStep[] {
  const steps = new Map(requestSteps(root).map((step) => [step.id, step]));
  const { followers } = ordered(items, root);
  for (const item of followers.slice(0, FLOW_WRITES_MAX)) {
    const woken = controllerStep(item);
    if (!steps.has(woken.id)) steps.set(woken.id, woken);
    const write = writeStep(item, woken.id);
    steps.set(write.id, write);
  }
  return [...steps.values()];
}

/** By recording, but a write that was recorded before its cause comes after it. */
function ordered(items: readonly CauseItem[], root: CauseItem): { readonly followers: readonly CauseItem[] } {
  const positions = new Map<string, number>([[root.resourceVersion ?? "", root.id]]);
  const placed = traceTree(items, root)
    .slice(1)
    .map(({ item, depth }) => {
      const position = Math.max(item.id, positions.get(item.cause?.revision ?? "") ?? 0);
      positions.set(item.resourceVersion ?? "", position);
      return { item, depth, position };
    });
  placed.sort((a, b) => a.position - b.position || a.depth - b.depth);
  return { followers: placed.map(({ item }) => item) };
}

const STAGES = ["authentication", "authorization", "admission", "store"] as const;

/** The stages of the request up to the one that refused it. */
function requestSteps(root: CauseItem): readonly FlowStep[] {
  const refusedAt = root.refusal === undefined ? undefined : root.refusal.stage === "write" ? "store" : root.refusal.stage;
  const reached = refusedAt === undefined ? STAGES : STAGES.slice(0, STAGES.indexOf(refusedAt) + 1);
  const first: FlowStep = {
    ...{ id: `request:${root.id}`, stage: "request", item: root, title: `${root.verb} ${resourceOf(root)}`, subtitle: shortName(root) },
    sentence: `${root.user} requested ${root.verb} ${objectOf(root)} with ${root.userAgent === "" ? "an unnamed client" : root.userAgent}`,
    isRefused: false,
  };
  const steps = [first];
  for (const stage of reached) {
    const isRefused = stage === refusedAt;
    const id = stage === "store" && !isRefused ? writeId(root) : `${stage}:${root.id}`;
    const texts = isRefused ? refusedTexts(stage, root) : PASSED[stage](root);
    steps.push({ id, parent: steps.at(-1)?.id ?? first.id, stage, item: root, isRefused, ...texts });
  }
  return steps;
}

type Texts = Pick<FlowStep, "title" | "subtitle" | "sentence">;

const PASSED: Readonly<Record<(typeof STAGES)[number], (item: CauseItem) => Texts>> = {
  authentication: ({ user, stages }) => {
    const { by, impersonator, microseconds } = stages?.authentication ?? {};
    const as = impersonator === undefined ? user : `${impersonator}, who impersonates ${user}`;
    return {
      title: titled("authentication", microseconds),
      subtitle: user,
      sentence: `The request was authenticated${by === undefined ? "" : ` by ${by}`} as ${as}${after(microseconds)}`,
    };
  },
  authorization: ({ user, verb, resource, stages }) => {
    const { by, reason = "", microseconds } = stages?.authorization ?? {};
    const why = reason === "" ? "" : ` (${reason})`;
    return {
      title: titled("authorization", microseconds),
      subtitle: by === undefined ? "allowed" : `allowed by ${by}`,
      sentence: `${user} was allowed to ${verb} ${resource}${by === undefined ? "" : ` by ${by}`}${why}${after(microseconds)}`,
    };
  },
  admission: (item) => ({
    title: titled("admission", item.stages?.admission?.microseconds),
    subtitle: pluginsOf(item) || "unchanged",
    sentence: `${admissionSentence(item)}${after(item.stages?.admission?.microseconds)}`,
  }),
  store: (item) => ({
    title: titled(item.deleted === true ? "removed" : "stored", item.stages?.store?.microseconds),
    subtitle: `revision ${item.resourceVersion ?? ""}`,
    sentence: `The store ${item.deleted === true ? "removed" : "committed"} ${objectOf(item)} at revision ${item.resourceVersion ?? ""}${after(item.stages?.store?.microseconds)}`,
  }),
};

function titled(stage: string, microseconds: number | undefined): string {
  return microseconds === undefined ? stage : `${stage} ${shownDuration(microseconds)}`;
}

function after(microseconds: number | undefined): string {
  return microseconds === undefined ? "" : `, in ${shownDuration(microseconds)}`;
}

/** "authentication 120 µs, authorization 15 µs, admission 1.2 ms, store 4.0 ms". "" if nothing is known. */
export function stageTimes({ stages = {} }: CauseItem): string {
  const times = STAGES.flatMap((stage) => (stages[stage] === undefined ? [] : [`${stage} ${shownDuration(stages[stage].microseconds)}`]));
  return times.join(", ");
}

/** "12 µs", "3.4 ms", "1.2 s". */
function shownDuration(microseconds: number): string {
  if (microseconds < 1_000) return `${microseconds} µs`;
  return microseconds < 1_000_000 ? `${(microseconds / 1_000).toFixed(1)} ms` : `${(microseconds / 1_000_000).toFixed(1)} s`;
}

function refusedTexts(stage: string, { refusal }: CauseItem): Texts {
  const { code = 0, reason = "", message = "", plugin } = refusal ?? {};
  const by = plugin === undefined ? stage : `${stage} (${plugin})`;
  return { title: `${stage} refused`, subtitle: plugin ?? reason, sentence: `Refused by ${by} with ${code} ${reason}: ${message}` };
}

/** One pass of a component: all writes that it made for the same object, woken by the same change. */
function controllerStep(item: CauseItem): FlowStep {
  const { controller = "", key = "", reason, revision = "", object } = item.cause ?? {};
  const woken = object === undefined ? `revision ${revision}` : `${object} at revision ${revision}`;
  return {
    ...{ id: `controller:${controller}:${key}:${reason ?? ""}:${revision}`, parent: `store:${revision}`, stage: "controller", item },
    ...{ title: controller, subtitle: reason === undefined ? key : `${reason}: ${lastName(key)}`, isRefused: false },
    sentence: `A watch delivered ${woken} to ${controller}, which reconciled ${key}${reason === undefined ? "" : ` (${reason})`}`,
  };
}

function writeStep(item: CauseItem, parent: string): FlowStep {
  const verb = item.deleted === true ? "removed" : item.verb;
  const admission = pluginsOf(item) === "" ? "" : `; admission changed it: ${pluginsOf(item)}`;
  return {
    ...{ id: writeId(item), parent, stage: "store", item, title: `${verb} ${resourceOf(item)}`, subtitle: shortName(item) },
    sentence: `${item.cause?.controller ?? item.user} wrote (${verb}) ${objectOf(item)} at revision ${item.resourceVersion ?? ""}${admission}`,
    isRefused: false,
  };
}

function writeId({ resourceVersion = "" }: CauseItem): string {
  return `store:${resourceVersion}`;
}

function pluginsOf({ admission = [] }: CauseItem): string {
  return admission.map(({ plugin }) => plugin).join(", ");
}

function admissionSentence({ admission = [] }: CauseItem): string {
  if (admission.length === 0) return "No admission plugin changed the object";
  return `Admission changed the object: ${admission.map(({ plugin, changed }) => `${plugin} (${changed.join(", ")})`).join("; ")}`;
}

/** "pods/status": without the group, which the details show. */
function resourceOf({ resource, subresource }: CauseItem): string {
  const [plural = ""] = resource.split(".");
  return subresource === undefined ? plural : `${plural}/${subresource}`;
}

/** "deployments.apps shop/web". */
export function objectOf({ resource, subresource, namespace, name = "" }: CauseItem): string {
  const kind = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${kind} ${namespace === undefined || namespace === "" ? name : `${namespace}/${name}`}`;
}

function shortName({ name = "" }: CauseItem): string {
  return name;
}

function lastName(key: string): string {
  return key.slice(key.lastIndexOf("/") + 1);
}
