/** Commands that change one part of an object: scale, set image, label, annotate, patch, taint, cordon. */
import type { KubeObject } from "../../../api/machinery/object.ts";
import { parseJsonOrYaml } from "../manifest-value.ts";
import { within, type Command } from "../command.ts";
import { NAMESPACE_FLAG, parseArguments, SELECTOR_FLAG, UsageError, wholeNumber } from "../flags.ts";
import { chosenTargets, getObject, isPatchName, namedTargets, patchObject, shownName } from "../resources.ts";

export const scale: Command = {
  name: ["scale"],
  usage: "TYPE NAME --replicas=N",
  summary: "Set the number of Pods of a workload",
  async run(words, given) {
    const { positional, flags } = parseArguments(words, { replicas: {}, ...NAMESPACE_FLAG });
    const context = within(given, flags);
    if (flags["replicas"] === undefined) throw new UsageError(`required flag(s) "replicas" not set`);
    const replicas = wholeNumber("replicas", flags["replicas"]);
    for (const target of await namedTargets(context, positional)) {
      if (!target.kind.subresources.includes("scale"))
        throw new UsageError(`cannot scale ${target.kind.plural}: the kind has no scale subresource`);
      await patchObject(context, target, { spec: { replicas } }, { manager: "kubectl" });
      context.out(`${shownName(target)} scaled`);
    }
  },
};

interface Templated {
  readonly spec?: { readonly template?: { readonly spec?: PodSpec } } & PodSpec;
}
interface PodSpec {
  readonly containers?: readonly { readonly name: string }[];
}

export const setImage: Command = {
  name: ["set", "image"],
  usage: "TYPE/NAME CONTAINER=IMAGE …",
  summary: "Change the image of a workload's containers",
  async run(words, given) {
    const { positional, flags } = parseArguments(words, NAMESPACE_FLAG);
    const context = within(given, flags);
    const images = positional.filter((word) => word.includes("="));
    if (images.length === 0) throw new UsageError("at least one image update is required");
    for (const target of await namedTargets(
      context,
      positional.filter((word) => !word.includes("=")),
    )) {
      const { spec } = (await getObject(context, target)) as Templated;
      const names = (spec?.template?.spec?.containers ?? spec?.containers ?? []).map(({ name }) => name);
      const containers = images.flatMap((pair) => changesOf(pair, names));
      const podSpec = { containers };
      const patch = spec?.template === undefined ? { spec: podSpec } : { spec: { template: { spec: podSpec } } };
      await patchObject(context, target, patch, { type: "strategic", manager: "kubectl-set" });
      context.out(`${shownName(target)} image updated`);
    }
  },
};

function changesOf(pair: string, names: readonly string[]): readonly { readonly name: string; readonly image: string }[] {
  const equals = pair.indexOf("=");
  const [container, image] = [pair.slice(0, equals), pair.slice(equals + 1)] as const;
  if (container === "*") return names.map((name) => ({ name, image }));
  if (!names.includes(container)) throw new UsageError(`unable to find container named ${JSON.stringify(container)}`);
  return [{ name: container, image }];
}

/** "app=web" sets, "app-" removes. */
function metadataChange(words: readonly string[]): Readonly<Record<string, string | null>> {
  return Object.fromEntries(
    words.map((word) =>
      word.endsWith("-") ? [word.slice(0, -1), null] : [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)],
    ),
  );
}

function isMetadataChange(word: string): boolean {
  return word.includes("=") || word.endsWith("-");
}

function metadataCommand(name: "label" | "annotate", member: "labels" | "annotations", done: string): Command {
  return {
    name: [name],
    usage: "TYPE NAME KEY=VALUE … KEY- [--overwrite]",
    summary: `Set or remove ${member}`,
    async run(words, given) {
      const { positional, flags } = parseArguments(words, {
        ...NAMESPACE_FLAG,
        ...SELECTOR_FLAG,
        overwrite: { isSwitch: true },
        all: { isSwitch: true },
      });
      const context = within(given, flags);
      const changes = positional.filter(isMetadataChange);
      if (changes.length === 0) throw new UsageError(`at least one ${name === "label" ? "label" : "annotation"} update is required`);
      const change = metadataChange(changes);
      for (const target of await chosenTargets(
        context,
        positional.filter((word) => !isMetadataChange(word)),
        flags,
      )) {
        const before = (await getObject(context, target)).metadata[member] ?? {};
        const taken = Object.entries(change).find(([key, value]) => value !== null && before[key] !== undefined && before[key] !== value);
        if (taken !== undefined && flags["overwrite"] === undefined)
          throw new UsageError(`'${taken[0]}' already has a value (${before[taken[0]]}), and --overwrite is false`);
        await patchObject(context, target, { metadata: { [member]: change } }, { manager: `kubectl-${name}` });
        context.out(
          `${shownName(target)} ${Object.values(change).every((value) => value === null) && name === "label" ? "unlabeled" : done}`,
        );
      }
    },
  };
}

export const label = metadataCommand("label", "labels", "labeled");
export const annotate = metadataCommand("annotate", "annotations", "annotated");

export const patch: Command = {
  name: ["patch"],
  usage: "TYPE NAME -p PATCH [--type=strategic|merge|json]",
  summary: "Change fields of an object",
  async run(words, given) {
    const { positional, flags } = parseArguments(words, { patch: { short: "p" }, type: {}, ...NAMESPACE_FLAG });
    const context = within(given, flags);
    const { patch: text, type = "strategic" } = flags;
    if (text === undefined) throw new UsageError("must specify --patch or --patch-file containing the contents of the patch");
    if (!isPatchName(type)) throw new UsageError(`--type must be one of [json merge strategic], not ${JSON.stringify(type)}`);
    for (const target of await namedTargets(context, positional)) {
      await patchObject(context, target, parseJsonOrYaml(text), { type, manager: "kubectl-patch" });
      context.out(`${shownName(target)} patched`);
    }
  },
};

interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

interface NodeObject extends KubeObject {
  readonly spec?: { readonly taints?: readonly Taint[]; readonly unschedulable?: boolean };
}

const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export const taint: Command = {
  name: ["taint"],
  usage: "node NAME KEY=VALUE:EFFECT … KEY:EFFECT-",
  summary: "Set or remove taints of nodes",
  async run(words, given) {
    const { positional, flags } = parseArguments(words, { overwrite: { isSwitch: true }, all: { isSwitch: true }, ...SELECTOR_FLAG });
    const isTaint = (word: string) => word.includes(":") || word.endsWith("-");
    const changes = positional.filter(isTaint);
    if (changes.length === 0) throw new UsageError("at least one taint update is required");
    for (const target of await chosenTargets(
      given,
      positional.filter((word) => !isTaint(word)),
      flags,
    )) {
      const { spec } = (await getObject(given, target)) as NodeObject;
      const { taints, verb } = changedTaints(spec?.taints ?? [], changes, flags["overwrite"] !== undefined, target.name);
      await patchObject(given, target, { spec: { taints } }, { manager: "kubectl-taint" });
      given.out(`${shownName(target)} ${verb}`);
    }
  },
};

/** Pure. */
export function changedTaints(
  before: readonly Taint[],
  changes: readonly string[],
  overwrites: boolean,
  node: string,
): { readonly taints: readonly Taint[]; readonly verb: string } {
  let taints = before;
  let hasAdded = false;
  for (const change of changes) {
    if (change.endsWith("-")) {
      const [pair = "", effect] = change.slice(0, -1).split(":");
      const [key] = pair.split("=");
      const kept = taints.filter((one) => one.key !== key || (effect !== undefined && one.effect !== effect));
      if (kept.length === taints.length) throw new UsageError(`taint ${JSON.stringify(change.slice(0, -1))} not found`);
      taints = kept;
      continue;
    }
    const [pair = "", effect = ""] = change.split(":");
    const [key = "", value = ""] = pair.split("=");
    if (!EFFECTS.includes(effect)) throw new UsageError(`invalid taint effect: ${effect}, unsupported taint effect`);
    const isSame = (one: Taint) => one.key === key && one.effect === effect;
    if (taints.some(isSame) && !overwrites)
      throw new UsageError(`node ${node} already has ${key} taint(s) with same effect(s) and --overwrite is false`);
    taints = [...taints.filter((one) => !isSame(one)), { key, ...(value === "" ? {} : { value }), effect }];
    hasAdded = true;
  }
  return { taints, verb: hasAdded ? "tainted" : "untainted" };
}

function cordonCommand(name: "cordon" | "uncordon", unschedulable: boolean): Command {
  return {
    name: [name],
    usage: "NODE",
    summary: unschedulable ? "Mark a node as unschedulable" : "Mark a node as schedulable again",
    async run(words, context) {
      const { positional } = parseArguments(words, {});
      if (positional.length === 0) throw new UsageError(`USAGE: ${name} NODE [flags]`);
      for (const target of await namedTargets(context, ["node", ...positional])) {
        const { spec } = (await getObject(context, target)) as NodeObject;
        const isAlready = (spec?.unschedulable ?? false) === unschedulable;
        if (!isAlready) await patchObject(context, target, { spec: { unschedulable } }, { manager: `kubectl-${name}` });
        context.out(`node/${target.name} ${isAlready ? "already " : ""}${name}ed`);
      }
    },
  };
}

export const cordon = cordonCommand("cordon", true);
export const uncordon = cordonCommand("uncordon", false);
