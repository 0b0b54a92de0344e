/** `kubectl rollout`: status, history, undo and restart of Deployments. */
import type { KubeObject } from "../../../api/machinery/object.ts";
import { formatTime } from "../../../api/machinery/time.ts";
import { findKind, pathOf } from "../../../dashboard/data/kinds.ts";
import { within, type Command, type CommandContext } from "../command.ts";
import { NAMESPACE_FLAG, parseArguments, UsageError } from "../flags.ts";
import { getObject, namedTargets, patchObject, shownName, type Target } from "../resources.ts";

/** Real time and virtual time alike: how often the state is read. */
const POLL_MS = 500;

const REVISION = "deployment.kubernetes.io/revision";
const CHANGE_CAUSE = "kubernetes.io/change-cause";

interface Deployment extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly template?: object };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly conditions?: readonly { readonly type: string; readonly reason?: string }[];
  };
}

export interface RolloutStatus {
  readonly text: string;
  readonly isDone: boolean;
}

/** In kubectl's words. Pure. */
export function deploymentStatus({ metadata, spec = {}, status = {} }: Deployment): RolloutStatus {
  const { name, generation = 0 } = metadata as { readonly name: string; readonly generation?: number };
  const { replicas: wanted = 1 } = spec;
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, availableReplicas = 0, conditions = [] } = status;
  const waiting = (what: string) => ({ text: `Waiting for deployment "${name}" rollout to finish: ${what}...`, isDone: false });
  if (generation > observedGeneration) return { text: "Waiting for deployment spec update to be observed...", isDone: false };
  if (conditions.some(({ type, reason }) => type === "Progressing" && reason === "ProgressDeadlineExceeded"))
    throw new UsageError(`deployment "${name}" exceeded its progress deadline`);
  if (updatedReplicas < wanted) return waiting(`${updatedReplicas} out of ${wanted} new replicas have been updated`);
  if (replicas > updatedReplicas) return waiting(`${replicas - updatedReplicas} old replicas are pending termination`);
  if (availableReplicas < updatedReplicas) return waiting(`${availableReplicas} of ${updatedReplicas} updated replicas are available`);
  return { text: `deployment "${name}" successfully rolled out`, isDone: true };
}

async function deploymentsOf(context: CommandContext, words: readonly string[]): Promise<readonly Required<Target>[]> {
  const targets = await namedTargets(context, words);
  const other = targets.find(({ kind }) => kind.plural !== "deployments");
  if (other !== undefined) throw new UsageError(`rollout is supported here for deployments only, not for ${other.kind.plural}`);
  return targets;
}

export const rolloutStatus: Command = {
  name: ["rollout", "status"],
  usage: "deployment NAME",
  summary: "Wait until a rollout is complete",
  async run(words, given) {
    const { positional, flags } = parseArguments(words, { ...NAMESPACE_FLAG, watch: { short: "w" } });
    const context = within(given, flags);
    for (const target of await deploymentsOf(context, positional)) {
      let last = "";
      for (;;) {
        const { text, isDone } = deploymentStatus(await getObject(context, target));
        if (text !== last) context.out(text);
        last = text;
        if (isDone || flags["watch"] === "false") break;
        await context.clock.sleep(POLL_MS, context.signal);
      }
    }
  },
};

interface ReplicaSet extends KubeObject {
  readonly spec?: { readonly template?: { readonly metadata?: { readonly labels?: Record<string, string> } } };
}

/** By revision, oldest first. */
async function revisionsOf(context: CommandContext, target: Required<Target>): Promise<readonly (readonly [number, ReplicaSet])[]> {
  const deployment = await getObject(context, target);
  const kind = findKind(await context.kinds(), "replicasets", "apps");
  if (kind === undefined) return [];
  const { items } = await context.api.get<{ readonly items: readonly ReplicaSet[] }>(
    pathOf(kind, { namespace: context.namespace }),
    context.signal,
  );
  return items
    .filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === deployment.metadata.uid))
    .map((item) => [Number(item.metadata.annotations?.[REVISION] ?? 0), item] as const)
    .sort(([a], [b]) => a - b);
}

export const rolloutHistory: Command = {
  name: ["rollout", "history"],
  usage: "deployment NAME",
  summary: "List the revisions of a Deployment",
  async run(words, given) {
    const { positional, flags } = parseArguments(words, NAMESPACE_FLAG);
    const context = within(given, flags);
    for (const target of await deploymentsOf(context, positional)) {
      const revisions = await revisionsOf(context, target);
      context.out(`${shownName(target)} `);
      context.out("REVISION  CHANGE-CAUSE");
      for (const [revision, { metadata }] of revisions)
        context.out(`${String(revision).padEnd(10)}${metadata.annotations?.[CHANGE_CAUSE] ?? "<none>"}`);
    }
  },
};

export const rolloutUndo: Command = {
  name: ["rollout", "undo"],
  usage: "deployment NAME [--to-revision=N]",
  summary: "Roll back to an earlier revision",
  async run(words, given) {
    const { positional, flags } = parseArguments(words, { ...NAMESPACE_FLAG, "to-revision": {} });
    const context = within(given, flags);
    for (const target of await deploymentsOf(context, positional)) {
      const revisions = await revisionsOf(context, target);
      const wanted = Number(flags["to-revision"] ?? 0);
      const found = wanted === 0 ? revisions.at(-2) : revisions.find(([revision]) => revision === wanted);
      if (found === undefined)
        throw new UsageError(
          wanted === 0
            ? `no rollout history found for deployment "${target.name}"`
            : `unable to find specified revision ${wanted} in history`,
        );
      const template = templateOf(found[1]);
      await patchObject(context, target, [{ op: "replace", path: "/spec/template", value: template }], {
        type: "json",
        manager: "kubectl-rollout",
      });
      context.out(`${shownName(target)} rolled back`);
    }
  },
};

/** That of the Deployment: without the label that the controller adds. */
function templateOf({ spec }: ReplicaSet): object {
  const { "pod-template-hash": _hash, ...labels } = spec?.template?.metadata?.labels ?? {};
  return { ...spec?.template, metadata: { ...spec?.template?.metadata, labels } };
}

export const rolloutRestart: Command = {
  name: ["rollout", "restart"],
  usage: "deployment NAME",
  summary: "Replace all Pods of a Deployment",
  async run(words, given) {
    const { positional, flags } = parseArguments(words, NAMESPACE_FLAG);
    const context = within(given, flags);
    for (const target of await deploymentsOf(context, positional)) {
      const annotations = { "kubectl.kubernetes.io/restartedAt": formatTime(context.clock.now()) };
      await patchObject(context, target, { spec: { template: { metadata: { annotations } } } }, { manager: "kubectl-rollout" });
      context.out(`${shownName(target)} restarted`);
    }
  },
};
