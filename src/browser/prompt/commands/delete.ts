/** `kubectl delete` and `drain`. */
import type { KubeObject } from "../../../api/machinery/object.ts";
import { isReason } from "../../../api/machinery/status-error.ts";
import { kindOfReference } from "../../../dashboard/data/kinds.ts";
import { objectsOf } from "../../../embedded/manifests.ts";
import { within, type Command, type CommandContext } from "../command.ts";
import { FILE_FLAG, NAMESPACE_FLAG, parseArguments, SELECTOR_FLAG, UsageError } from "../flags.ts";
import { chosenTargets, getObject, namedTargets, objectPath, patchObject, type Target } from "../resources.ts";
import { manifestText } from "./apply.ts";

const POLL_MS = 500;

const FLAGS = {
  ...NAMESPACE_FLAG,
  ...SELECTOR_FLAG,
  ...FILE_FLAG,
  all: { isSwitch: true },
  force: { isSwitch: true },
  "grace-period": {},
  cascade: {},
  wait: {},
  "ignore-not-found": { isSwitch: true },
} as const;

const POLICIES: Readonly<Record<string, string>> = { background: "Background", foreground: "Foreground", orphan: "Orphan" };

export const deleteObjects: Command = {
  name: ["delete"],
  usage: "TYPE NAME | -l SELECTOR | --all | -f FILE [--force --grace-period=0] [--cascade=orphan]",
  summary: "Delete objects, and wait until they are gone",
  async run(words, given) {
    const { positional, flags } = parseArguments(words, FLAGS);
    const context = within(given, flags);
    const targets =
      flags["filename"] === undefined ? await chosenTargets(context, positional, flags) : await targetsOfFile(context, flags["filename"]);
    if (targets.length === 0) context.warn("No resources found");
    const grace = flags["grace-period"] ?? (flags["force"] === undefined ? undefined : "0");
    const policy = POLICIES[flags["cascade"] ?? "background"];
    if (policy === undefined)
      throw new UsageError(`invalid cascade value (${flags["cascade"]}). Must be "background", "foreground", or "orphan"`);
    const options = {
      kind: "DeleteOptions",
      apiVersion: "v1",
      propagationPolicy: policy,
      ...(grace === undefined ? {} : { gracePeriodSeconds: Number(grace) }),
    };
    for (const target of targets) await deleteOne(context, target, options, flags);
    if (flags["wait"] === "false") return;
    for (const target of targets) await untilGone(context, target);
  },
};

async function targetsOfFile(context: CommandContext, filename: string): Promise<readonly Required<Target>[]> {
  const kinds = await context.kinds();
  return objectsOf(manifestText(context, filename, "delete")).map((object) => {
    const kind = kindOfReference(kinds, object.apiVersion, object.kind);
    if (kind === undefined) throw new Error(`no matches for kind "${object.kind}" in version "${object.apiVersion}"`);
    return { kind, name: object.metadata.name };
  });
}

async function deleteOne(
  context: CommandContext,
  target: Required<Target>,
  options: object,
  flags: Readonly<Record<string, string>>,
): Promise<void> {
  const { kind, name } = target;
  try {
    const body = JSON.stringify(options);
    await context.api.json({
      method: "DELETE",
      path: objectPath(target, context),
      contentType: "application/json",
      body,
      signal: context.signal,
    });
  } catch (error) {
    if (flags["ignore-not-found"] !== undefined && isReason(error, "NotFound")) return;
    throw error;
  }
  const lower = kind.kind.toLowerCase();
  const type = kind.group === "" ? lower : `${lower}.${kind.group}`;
  const verb = flags["force"] === undefined ? "deleted" : "force deleted";
  context.out(`${type} "${name}" ${verb}${kind.isNamespaced ? ` from ${context.namespace} namespace` : ""}`);
}

async function untilGone(context: CommandContext, target: Required<Target>): Promise<void> {
  for (;;) {
    const found = await getObject(context, target).catch((error: unknown) => {
      if (isReason(error, "NotFound")) return undefined;
      throw error;
    });
    if (found === undefined || found.metadata.deletionTimestamp === undefined) return;
    await context.clock.sleep(POLL_MS, context.signal);
  }
}

interface PodObject extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
}

export const drain: Command = {
  name: ["drain"],
  usage: "NODE [--ignore-daemonsets] [--delete-emptydir-data] [--force]",
  summary: "Cordon a node and evict its Pods",
  async run(words, context) {
    const specs = {
      "ignore-daemonsets": { isSwitch: true },
      "delete-emptydir-data": { isSwitch: true },
      force: { isSwitch: true },
    } as const;
    const { positional, flags } = parseArguments(words, specs);
    if (positional.length !== 1) throw new UsageError("USAGE: drain NODE [flags]");
    const [node] = await namedTargets(context, ["node", ...positional]);
    if (node === undefined) return;
    await getObject(context, node);
    await patchObject(context, node, { spec: { unschedulable: true } }, { manager: "kubectl-drain" });
    context.out(`node/${node.name} cordoned`);
    const pods = await podsOf(context, node.name);
    checkDrain(pods, flags, node.name);
    const evicted = pods.filter((pod) => ownerKind(pod) !== "DaemonSet");
    for (const pod of evicted) await evict(context, pod);
    context.out(`node/${node.name} drained`);
  },
};

async function podsOf({ api, signal }: CommandContext, node: string): Promise<readonly PodObject[]> {
  const path = `/api/v1/pods?fieldSelector=${encodeURIComponent(`spec.nodeName=${node}`)}`;
  return (await api.get<{ readonly items: readonly PodObject[] }>(path, signal)).items;
}

function ownerKind({ metadata }: KubeObject): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.kind;
}

/** kubectl refuses what would not come back. */
export function checkDrain(pods: readonly KubeObject[], flags: Readonly<Record<string, string>>, node: string): void {
  const names = (some: readonly KubeObject[]) => some.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).join(", ");
  const daemons = pods.filter((pod) => ownerKind(pod) === "DaemonSet");
  const bare = pods.filter((pod) => ownerKind(pod) === undefined);
  const problems: string[] = [];
  if (daemons.length > 0 && flags["ignore-daemonsets"] === undefined)
    problems.push(`cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): ${names(daemons)}`);
  if (bare.length > 0 && flags["force"] === undefined)
    problems.push(`cannot delete Pods that declare no controller (use --force to override): ${names(bare)}`);
  if (problems.length > 0)
    throw new UsageError(`unable to drain node "${node}" due to error: [${problems.join(", ")}], continuing command...`);
}

/** Repeated while a PodDisruptionBudget refuses it. */
async function evict(context: CommandContext, { metadata }: KubeObject): Promise<void> {
  const { namespace = "", name, uid } = metadata;
  context.out(`evicting pod ${namespace}/${name}`);
  const body = JSON.stringify({ apiVersion: "policy/v1", kind: "Eviction", metadata: { namespace, name } });
  const path = `${podPath(namespace, name)}/eviction`;
  for (;;) {
    try {
      await context.api.json({ method: "POST", path, contentType: "application/json", body, signal: context.signal });
      break;
    } catch (error) {
      if (!isReason(error, "TooManyRequests")) throw error;
      context.warn(`error when evicting pods/"${name}" -n "${namespace}" (will retry after 5s): ${(error as Error).message}`);
      await context.clock.sleep(5_000, context.signal);
    }
  }
  for (;;) {
    const found = await context.api.get<KubeObject>(podPath(namespace, name), context.signal).catch((error: unknown) => {
      if (isReason(error, "NotFound")) return undefined;
      throw error;
    });
    if (found?.metadata.uid !== uid) break;
    await context.clock.sleep(POLL_MS, context.signal);
  }
  context.out(`pod/${name} evicted`);
}

function podPath(namespace: string, name: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
}
