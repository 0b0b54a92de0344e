/**
 * PreBind: the last preparation of a binding, such as provisioning volumes. Plugins without work for a Pod are skipped; neighbours that
 * allow it run concurrently, as upstream. A failure is reported with upstream's words.
 */
import type { Plugin, PreFlightAnswer } from "../framework/plugin.ts";
import type { PodInfo } from "../framework/pod-info.ts";
import type { Profile } from "./profile.ts";
import type { Refusal } from "./reserve.ts";

/** The plugins with work for a Pod, in call order; those of a group run concurrently. */
export type PreBindGroups = readonly (readonly Plugin[])[];

export function preBindGroups(profile: Pick<Profile, "preBind">, pod: PodInfo, nodeName: string): PreBindGroups {
  const groups: Plugin[][] = [];
  let isOpen = false;
  for (const plugin of profile.preBind) {
    const answer: PreFlightAnswer = plugin.preBindPreFlight?.(pod, nodeName) ?? "alone";
    if (answer === "skip") continue;
    const last = groups.at(-1);
    if (answer === "parallel" && isOpen && last !== undefined) last.push(plugin);
    else groups.push([plugin]);
    isOpen = answer === "parallel";
  }
  return groups;
}

/** Undefined: all have succeeded. When one rejects or throws, the others of its group are aborted, and have ended when this settles. */
export async function runPreBinds(
  groups: PreBindGroups,
  pod: PodInfo,
  nodeName: string,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  for (const group of groups) {
    const refusal = await runGroup(group, pod, nodeName, signal);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

async function runGroup(group: readonly Plugin[], pod: PodInfo, nodeName: string, signal: AbortSignal): Promise<Refusal | undefined> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const ended: { first?: Refusal | Error } = {};
  const end = (as: Refusal | Error): void => {
    ended.first ??= as;
    over.abort();
  };
  await Promise.all(
    group.map(async (plugin) => {
      try {
        const rejection = await plugin.preBind?.(pod, nodeName, either);
        if (rejection !== undefined) end({ plugin: plugin.name, rejection });
      } catch (error) {
        end(failure(plugin, error));
      }
    }),
  );
  if (ended.first instanceof Error) throw ended.first;
  return ended.first;
}

/** Not the cause itself: "not found" is then not about the Pod. */
function failure({ name }: Plugin, error: unknown): Error {
  return new Error(`running PreBind plugin "${name}": ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}
